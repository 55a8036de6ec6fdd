// Every system call that Python and its numerical libraries need: name, number on x86_64, on aarch64, for all engines.
// All others fail. Omitted, besides what needs privileges: ptrace and process_vm_* (other processes), keyctl, bpf,
// io_uring, userfaultfd, perf (kernel attack surface), unshare and setns (namespaces), memfd_create and System V shared
// memory (outside every limit, noexec), execveat, inotify (unread events are kernel memory). Pure.

const TABLE = `
  read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 pwrite64:18:68 preadv:295:69 pwritev:296:70
  preadv2:327:286 pwritev2:328:287 open:2:- openat:257:56 openat2:437:437 creat:85:- close:3:57 close_range:436:436
  stat:4:- fstat:5:80 lstat:6:- newfstatat:262:79 statx:332:291 access:21:- faccessat:269:48 faccessat2:439:439
  lseek:8:62 sendfile:40:71 copy_file_range:326:285 fsync:74:82 fdatasync:75:83 sync_file_range:277:84 truncate:76:45
  ftruncate:77:46 fallocate:285:47 fadvise64:221:223 readahead:187:213 dup:32:23 dup2:33:-
  dup3:292:24 pipe:22:- pipe2:293:59 getdents:78:- getdents64:217:61 getcwd:79:17 chdir:80:49 fchdir:81:50 rename:82:-
  renameat:264:38 renameat2:316:276 mkdir:83:- mkdirat:258:34 rmdir:84:- link:86:- linkat:265:37 symlink:88:-
  symlinkat:266:36 unlink:87:- unlinkat:263:35 readlink:89:- readlinkat:267:78 chmod:90:- fchmod:91:52 fchmodat:268:53 fchmodat2:452:452
  chown:92:- fchown:93:55 lchown:94:- fchownat:260:54 umask:95:166 utime:132:- utimes:235:- utimensat:280:88
  futimesat:261:- statfs:137:43 fstatfs:138:44 getxattr:191:8 lgetxattr:192:9 fgetxattr:193:10 listxattr:194:11
  llistxattr:195:12 flistxattr:196:13 munmap:11:215 mprotect:10:226 mremap:25:216 madvise:28:233 mlock:149:228 munlock:150:229 brk:12:214 msync:26:227
  mincore:27:232 membarrier:324:283 fork:57:- vfork:58:- execve:59:221 exit:60:93 exit_group:231:94 wait4:61:260
  waitid:247:95 kill:62:129 tkill:200:130 tgkill:234:131 getpid:39:172 getppid:110:173 gettid:186:178 getuid:102:174
  geteuid:107:175 getgid:104:176 getegid:108:177 getresuid:118:148 getresgid:120:150 getgroups:115:158 setpgid:109:154
  getpgid:121:155 getpgrp:111:- setsid:112:157 getsid:124:156 set_tid_address:218:96 set_robust_list:273:99
  get_robust_list:274:100 rseq:334:293 futex:202:98 arch_prctl:158:- getrlimit:97:163 setrlimit:160:164
  getrusage:98:165 times:100:153 sched_yield:24:124 sched_getaffinity:204:123
  sched_getparam:143:121 sched_getscheduler:145:120 sched_get_priority_max:146:125
  sched_get_priority_min:147:126 getpriority:140:141 getcpu:309:168 uname:63:160 sysinfo:99:179
  getrandom:318:278 capget:125:90 rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigsuspend:130:133
  rt_sigpending:127:136 rt_sigtimedwait:128:137 rt_sigqueueinfo:129:138 rt_tgsigqueueinfo:297:240 sigaltstack:131:132
  pause:34:- alarm:37:- setitimer:38:103 getitimer:36:102 timer_create:222:107 timer_settime:223:110
  timer_gettime:224:108 timer_getoverrun:225:109 timer_delete:226:111 timerfd_create:283:85 timerfd_settime:286:86
  timerfd_gettime:287:87 signalfd:282:- signalfd4:289:74 restart_syscall:219:128 nanosleep:35:101
  clock_nanosleep:230:115 clock_gettime:228:113 clock_getres:229:114 gettimeofday:96:169 time:201:- poll:7:-
  ppoll:271:73 select:23:- pselect6:270:72 epoll_create:213:- epoll_create1:291:20 epoll_ctl:233:21 epoll_wait:232:-
  epoll_pwait:281:22 epoll_pwait2:441:441 eventfd:284:- eventfd2:290:19 connect:42:203 accept:43:202 accept4:288:242
  bind:49:200 listen:50:201 getsockname:51:204 getpeername:52:205 sendto:44:206 recvfrom:45:207 sendmsg:46:211
  recvmsg:47:212 sendmmsg:307:269 recvmmsg:299:243 shutdown:48:210
`

export interface Syscall {
  name: string
  x64: number | undefined
  arm64: number | undefined
}

/** Allowed with any arguments. */
export const ALLOWED_SYSCALLS: readonly Syscall[] = parseSyscalls(TABLE)

/**
 * Locks a whole file, for which it need not be writable. A container has an inode of its own for each file of its
 * image; in bubblewrap the lock of a system file is seen by other sandboxes, and holds up programs of the host that
 * lock the same file. So it is allowed in containers only. Returns ENOSYS elsewhere: libraries then say so instead of
 * trying for ever. SQLite, dbm and mailbox use the locks of fcntl.
 */
export const FLOCK: Syscall = { name: 'flock', x64: 73, arm64: 32 }

/** Parses a table of `name:x86_64:aarch64`, with `-` where a call does not exist. */
export function parseSyscalls(table: string): Syscall[] {
  return table
    .trim()
    .split(/\s+/)
    .map((entry) => {
      const [name = '', x64, arm64] = entry.split(':')
      return { name, x64: number(x64), arm64: number(arm64) }
    })
}

/** A test of one argument. Only the lower half is compared: for these arguments, the kernel reads no more. */
export type ArgumentTest = { argument: number } & (
  | { isOneOf: readonly number[] }
  | { isNoneOf: readonly number[] }
  | { hasNoneOf: number }
  | { hasNotAllOf: number }
)

/** A call that is allowed if all tests of its arguments pass. */
export interface RuledSyscall extends Syscall {
  allowedWhen: readonly ArgumentTest[]
  /** Apply the tests only if the host does not count a sandbox's memory; otherwise the call is always allowed. */
  uncountedMemoryOnly?: true
}

/** The first process, which watches the others: cells must not change its limits. */
const FIRST_PROCESS = 1

/**
 * The prctl options that glibc, Python, V8 and numerical libraries use: signals at a parent's end, names, no new
 * privileges, timer slack, large pages; on aarch64 vector length, pointer keys and tagged addresses; and PR_SET_VMA,
 * which names memory areas. Omitted: memory merging, tracers, speculation control, filters.
 */
const PRCTL_OPTIONS = [
  1, 2, 3, 4, 15, 16, 21, 23, 27, 29, 30, 36, 37, 38, 39, 40, 41, 42, 47, 50, 51, 52, 54, 55, 56, 60, 61, 63, 64,
  0x53_56_4d_41,
]

export const RULED_SYSCALLS: readonly RuledSyscall[] = [
  // Refuses every CLONE_NEW* flag; without them, clone is an ordinary fork or thread.
  { name: 'clone', x64: 56, arm64: 220, allowedWhen: [{ argument: 0, hasNoneOf: 0x7e_02_00_00 }] },
  // AF_UNIX only, for pipes within a process. Others fail at once, so that no program hangs.
  { name: 'socket', x64: 41, arm64: 198, allowedWhen: [{ argument: 0, isOneOf: [1] }] },
  { name: 'socketpair', x64: 53, arm64: 199, allowedWhen: [{ argument: 0, isOneOf: [1] }] },
  // Without F_SETLEASE and F_NOTIFY, which show when files are used, also by the host.
  { name: 'fcntl', x64: 72, arm64: 25, allowedWhen: [{ argument: 1, isNoneOf: [1024, 1026] }] },
  // TIOCSTI injects input into a terminal.
  { name: 'ioctl', x64: 16, arm64: 29, allowedWhen: [{ argument: 1, isNoneOf: [0x54_12] }] },
  // SO_SNDBUF would let a socket hold as much as the host allows: that memory belongs to no process.
  // SO_PASSPIDFD and SO_PEERPIDFD hand out the process at the other end: the bridge's.
  { name: 'setsockopt', x64: 54, arm64: 208, allowedWhen: [{ argument: 2, isNoneOf: [7, 76] }] },
  { name: 'getsockopt', x64: 55, arm64: 209, allowedWhen: [{ argument: 2, isNoneOf: [77] }] },
  { name: 'prctl', x64: 157, arm64: 167, allowedWhen: [{ argument: 0, isOneOf: PRCTL_OPTIONS }] },
  { name: 'prlimit64', x64: 302, arm64: 261, allowedWhen: [{ argument: 0, isNoneOf: [FIRST_PROCESS] }] },
  { name: 'sched_setaffinity', x64: 203, arm64: 122, allowedWhen: [{ argument: 0, isNoneOf: [FIRST_PROCESS] }] },
  // Only one's own priority: process groups and users would include the first process.
  {
    name: 'setpriority',
    x64: 141,
    arm64: 140,
    allowedWhen: [
      { argument: 0, isOneOf: [0] },
      { argument: 1, isOneOf: [0] },
    ],
  },
  // MAP_SHARED | MAP_ANONYMOUS: memory that remains after it is unmapped everywhere. Files in /dev/shm are counted.
  {
    name: 'mmap',
    x64: 9,
    arm64: 222,
    allowedWhen: [{ argument: 3, hasNotAllOf: 0x21 }],
    uncountedMemoryOnly: true,
  },
]

/** Filters cannot read its flags. Returns ENOSYS, and libc falls back to clone. */
export const MISSING_SYSCALL: Syscall = { name: 'clone3', x64: 435, arm64: 435 }

export const EPERM = 1
export const ENOSYS = 38

function number(text: string | undefined): number | undefined {
  return text === undefined || text === '-' ? undefined : Number(text)
}
