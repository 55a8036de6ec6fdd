// System calls to leave a jail by, and that no server needs: name, number on x86_64, on aarch64.
import { parseSyscalls, type RuledSyscall, type Syscall } from '@sandbridge/native/seccomp/python-syscalls.ts'

/**
 * Namespaces and mounts, modules, keyrings that all jails of a user share, and kernel interfaces with a history of
 * vulnerabilities.
 */
export const REFUSED_SYSCALLS: readonly Syscall[] = parseSyscalls(`
  mount:165:40 umount2:166:39 pivot_root:155:41 chroot:161:51 unshare:272:97 setns:308:268 open_tree:428:428
  move_mount:429:429 fsopen:430:430 fsconfig:431:431 fsmount:432:432 fspick:433:433 mount_setattr:442:442
  open_by_handle_at:304:265 init_module:175:105 finit_module:313:273 delete_module:176:106 kexec_load:246:104
  kexec_file_load:320:294 reboot:169:142 swapon:167:224 swapoff:168:225 acct:163:89 quotactl:179:60 syslog:103:116
  add_key:248:217 request_key:249:218 keyctl:250:219 bpf:321:280 perf_event_open:298:241 userfaultfd:323:282
  io_uring_setup:425:425 io_uring_enter:426:426 io_uring_register:427:427 vhangup:153:58
`)

/** AF_ALG, AF_VSOCK and other families that a network namespace does not isolate, or that reach drivers. */
const REFUSED_FAMILIES = [4, 5, 9, 17, 23, 26, 29, 31, 35, 37, 38, 39, 40, 42, 43, 44]

export const RULED_SERVER_SYSCALLS: readonly RuledSyscall[] = [
  // No CLONE_NEW* flag: a process that creates namespaces is root inside them.
  { name: 'clone', x64: 56, arm64: 220, allowedWhen: [{ argument: 0, hasNoneOf: 0x7e_02_00_00 }] },
  { name: 'socket', x64: 41, arm64: 198, allowedWhen: [{ argument: 0, isNoneOf: REFUSED_FAMILIES }] },
  // TIOCSTI and TIOCLINUX, which insert input into a terminal.
  { name: 'ioctl', x64: 16, arm64: 29, allowedWhen: [{ argument: 1, isNoneOf: [0x54_12, 0x54_1c] }] },
]
