// Attacks on the kernel: system calls that a Python program never needs, and privileges it never has.
import type { Attack } from '../attack.ts'
import { AS_ROOT, inChild, NATIVE, systemCall } from './linux.ts'

const kind = 'kernel'

const CLONE_NEWUSER = 0x10_00_00_00
const SIGCHLD = 17

/** A call whose arguments the kernel checks without any privilege, so that the control works for every user. */
const call = (name: string, x64: number, arm64: number, ...args: (number | string)[]): Attack => ({
  name,
  kind,
  ...NATIVE,
  code: systemCall({ x64, arm64 }, ...args),
})

/** A call that the kernel refuses to ordinary users before it checks the arguments. */
const rootCall = (name: string, x64: number, arm64: number, ...args: (number | string)[]): Attack => ({
  ...call(name, x64, arm64, ...args),
  ...AS_ROOT,
})

export const linuxKernelAttacks: Attack[] = [
  // --- namespaces
  // -----------------------------------------------------------------------------------------------------------
  {
    name: 'a user namespace with unshare',
    kind,
    ...NATIVE,
    code: inChild(`if libc.unshare(${CLONE_NEWUSER}) == 0: escaped()`),
  },
  { name: 'a mount namespace', kind, ...AS_ROOT, code: inChild('if libc.unshare(0x20000) == 0: escaped()') },
  { name: 'a network namespace', kind, ...AS_ROOT, code: inChild('if libc.unshare(0x40000000) == 0: escaped()') },
  {
    name: 'a user namespace with clone',
    kind,
    ...NATIVE,
    code: `
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
number = {'x86_64': 56, 'aarch64': 220}[platform.machine()]
child = libc.syscall(number, ${CLONE_NEWUSER + SIGCHLD}, 0, 0, 0, 0)
if child == 0: os._exit(0)
if child > 0:
    os.waitpid(child, 0)
    print('ESCAPED')`,
  },
  {
    name: 'a user namespace with clone3',
    kind,
    ...NATIVE,
    code: `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
arguments = (ctypes.c_uint64 * 11)(${CLONE_NEWUSER}, 0, 0, 0, ${SIGCHLD})
child = libc.syscall(435, arguments, ctypes.sizeof(arguments))
if child == 0: os._exit(0)
if child > 0:
    os.waitpid(child, 0)
    print('ESCAPED')`,
  },
  {
    name: 'into the namespace of another process',
    kind,
    ...AS_ROOT,
    code: inChild(`if libc.setns(os.open(f'/proc/{os.getppid()}/ns/uts', os.O_RDONLY), 0) == 0: escaped()`),
  },

  // --- file systems
  // ---------------------------------------------------------------------------------------------------------
  {
    name: 'mount a tmpfs',
    kind,
    ...AS_ROOT,
    code: `
import ctypes, os, tempfile
libc = ctypes.CDLL(None, use_errno=True)
where = tempfile.mkdtemp().encode()
if libc.mount(b'none', where, b'tmpfs', 0, None) == 0:
    libc.umount2(where, 0)
    print('ESCAPED')
os.rmdir(where)`,
  },
  {
    name: 'make a read-only mount writable',
    kind,
    ...AS_ROOT,
    code: inChild(`
libc.unshare(0x20000)
libc.mount(b'none', b'/', None, 0x4000 | 0x40000, None)
if libc.mount(None, b'/usr', None, 0x20, None) == 0 or libc.mount(b'/usr', b'/usr', None, 0x1000, None) == 0: escaped()`),
  },
  rootCall('fsopen, the new way to mount', 430, 430, "b'tmpfs'", 0),
  rootCall('open_tree, a mount as a descriptor', 428, 428, -100, "b'/'", 1),
  rootCall('pivot_root', 155, 41, 1, 1),
  { name: 'chroot', kind, ...AS_ROOT, code: inChild("os.chroot('/tmp')\nescaped()") },
  {
    name: 'open a file by its handle',
    kind,
    ...AS_ROOT,
    code: systemCall({ x64: 304, arm64: 265 }, -100, 1, 0),
  },
  {
    name: 'a device node',
    kind,
    ...AS_ROOT,
    code: `
import os, stat, tempfile
path = os.path.join(tempfile.mkdtemp(), 'device')
os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
os.remove(path)
print('ESCAPED')`,
  },

  // --- other processes
  // ------------------------------------------------------------------------------------------------------
  { name: 'ptrace: be traced', kind, ...NATIVE, code: inChild('if libc.ptrace(0, 0, 0, 0) == 0: escaped()') },
  {
    name: 'ptrace: trace the parent',
    kind,
    ...AS_ROOT,
    code: inChild('if libc.ptrace(0x4206, os.getppid(), 0, 0) == 0: escaped()'),
  },
  {
    name: 'read the memory of another process',
    kind,
    ...AS_ROOT,
    code: `import os\nos.close(os.open(f'/proc/{os.getppid()}/mem', os.O_RDONLY))\nprint('ESCAPED')`,
  },
  call('process_vm_readv', 310, 270, 'ctypes.c_long(__import__("os").getpid())', 0, 0, 0, 0, 0),
  call('process_vm_writev', 311, 271, 'ctypes.c_long(__import__("os").getpid())', 0, 0, 0, 0, 0),
  call(
    'kcmp',
    312,
    272,
    'ctypes.c_long(__import__("os").getpid())',
    'ctypes.c_long(__import__("os").getpid())',
    0,
    0,
    0,
  ),
  call('pidfd_open', 434, 434, 'ctypes.c_long(__import__("os").getpid())', 0),
  call('pidfd_getfd', 438, 438, 0, 0, 0),
  {
    name: 'kill the first process of the sandbox',
    kind,
    ...AS_ROOT,
    // In the sandbox this must leave PID 1 alive; on the host it is only tried on the control's own child.
    code: `
import os, signal, time
init = 1 if os.getppid() == 1 else os.fork()
if init == 0:
    time.sleep(60)
    os._exit(0)
os.kill(init, signal.SIGKILL)
time.sleep(0.1)
try: os.kill(init, 0)
except ProcessLookupError: print('ESCAPED')
else:
    if init != 1 and os.waitpid(init, 0): print('ESCAPED')`,
  },

  // --- surface
  // ----------------------------------------------------------------------------------------------------------------
  call('keyctl: the session’s keyring', 250, 219, 0, -3, 1),
  call('add_key', 248, 217, "b'user'", "b'name'", "b'value'", 5, -2),
  call('request_key', 249, 218, "b'user'", "b'no such key'", 0, 0),
  call('io_uring_setup', 425, 425, 4, 'ctypes.create_string_buffer(120)'),
  call('io_uring_enter', 426, 426, -1, 0, 0, 0, 0, 0),
  call('io_uring_register', 427, 427, -1, 0, 0, 0),
  rootCall('bpf', 321, 280, 0, 0, 0),
  rootCall('userfaultfd', 323, 282, 0),
  rootCall('perf_event_open', 298, 241, 'ctypes.create_string_buffer(128)', 0, -1, -1, 0),
  call('memfd_create', 319, 279, "b'name'", 0),
  call('memfd_secret', 447, 447, -1),
  call('personality', 135, 92, 'ctypes.c_ulong(0xffffffff)'),
  call('System V shared memory', 29, 194, 0, 4096, 0o1600),
  call('System V messages', 68, 186, 0, 0o1600),
  call('execveat', 322, 281, -1, "b''", 0, 0, 0),
  call('name_to_handle_at', 303, 264, -1, "b''", 0, 0, 0),
  call('landlock_create_ruleset', 444, 444, 0, 0, 1),
  call('vmsplice', 278, 75, -1, 0, 0, 0),
  rootCall('fanotify_init', 300, 262, 'ctypes.c_uint(0xffffffff)', 0),
  rootCall('syslog: the kernel’s log', 103, 116, 10, 0, 0),
  rootCall('umount', 166, 39, "b'/no/such/mount'", 0),
  rootCall('mount_setattr', 442, 442, -1, "b''", 0, 0, 0),
  rootCall('clock_settime', 227, 112, 0, 1),
  rootCall('swapon', 167, 224, 0, 0),
  rootCall('acct', 163, 89, 1),
  rootCall('sethostname', 170, 161, 0, -1),
  rootCall('settimeofday', 164, 170, 1, 0),
  rootCall('quotactl', 179, 60, 0, 1, 0, 0),
  {
    name: 'a system call of a 32-bit program',
    kind,
    ...NATIVE,
    machine: 'x64',
    // mov eax, 20 (getpid of i386); int 0x80; ret
    code: inChild(`
import mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex('b814000000cd80c3'))
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
if function() == os.getpid(): escaped()`),
  },

  // --- privileges
  // -----------------------------------------------------------------------------------------------------------
  { name: 'become root', kind, ...AS_ROOT, code: inChild('os.setuid(0)\nescaped()') },
  { name: 'join another group', kind, ...AS_ROOT, code: inChild('os.setgroups([0, 27])\nescaped()') },
  {
    name: 'a capability is left to gain',
    kind,
    ...NATIVE,
    code: `
status = dict(line.split(':', 1) for line in open('/proc/self/status') if ':' in line)
if any(int(status[name], 16) for name in ('CapPrm', 'CapEff', 'CapBnd', 'CapInh', 'CapAmb')): print('ESCAPED')`,
  },
  {
    name: 'a setuid program would still work',
    kind,
    ...NATIVE,
    code: `
import ctypes
if ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0: print('ESCAPED')`,
  },
  { name: 'a higher priority', kind, ...AS_ROOT, code: inChild('os.nice(-5)\nescaped()') },
  {
    name: 'real-time scheduling',
    kind,
    ...AS_ROOT,
    code: inChild('os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\nescaped()'),
  },
]
