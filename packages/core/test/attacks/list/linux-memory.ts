// Attacks with memory that a process watcher does not see, or sees too late, and with kernel memory. The sandbox's
// limit is 384 MiB: an attack escapes when it holds more and still does two seconds later. Controls release it.
import type { Attack } from '../attack.ts'
import { indented, NATIVE } from './linux.ts'

const kind = 'exhaustion'

/**
 * Python that runs a body in this many processes at once; a body ends in `done()`. It escapes when all have called it
 * and are alive two seconds later.
 */
function inProcesses(count: number, body: string): string {
  return `
import ctypes, fcntl, mmap, os, resource, signal, struct, sys, tempfile, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for name in ('madvise', 'mprotect', 'munmap'): getattr(libc, name).argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def shared(size, fd=-1):
    area = libc.mmap(None, size, 3, 1 if fd >= 0 else 0x21, fd, 0)
    if area == ctypes.c_void_p(-1).value: raise OSError(ctypes.get_errno(), 'mmap')
    return area
def touch(area, size): ctypes.memset(area, 1, size)
read, write = os.pipe()
def done(): os.write(write, b'd')
children = []
started = time.monotonic()
try:
    for number in range(${count}):
        child = os.fork()
        if child == 0:
            # PR_SET_PDEATHSIG: when the attacker ends, nothing goes on.
            libc.prctl(1, signal.SIGKILL)
            try:
${indented(body, 16)}
                time.sleep(60)
            except BaseException: os.write(write, b'f')
            finally: os._exit(1)
        children.append(child)
    told = b''
    os.set_blocking(read, False)
    while len(told) < len(children) and all(os.waitpid(child, os.WNOHANG)[0] == 0 for child in children):
        try: told += os.read(read, 4096)
        except BlockingIOError: time.sleep(0.05)
    time.sleep(2)
    living = [os.waitpid(child, os.WNOHANG)[0] == 0 for child in children]
    if told.count(b'd') == ${count} and all(living): print('ESCAPED')
finally:
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        except OSError: pass
    os.close(read)
    os.close(write)`
}

export const linuxMemoryAttacks: Attack[] = [
  {
    name: 'shared memory that no page table shows any more',
    kind,
    ...NATIVE,
    code: inProcesses(
      4,
      `
for _ in range(4):
    area = shared(48 << 20)
    touch(area, 48 << 20)
    libc.madvise(area, 48 << 20, 4)
done()`,
    ),
  },
  {
    name: 'shared memory that only a child has touched, which has ended',
    kind,
    ...NATIVE,
    code: inProcesses(
      4,
      `
for _ in range(4):
    area = shared(48 << 20)
    toucher = os.fork()
    if toucher == 0:
        touch(area, 48 << 20)
        os._exit(0)
    os.waitpid(toucher, 0)
done()`,
    ),
  },
  {
    name: 'shared memory of which a single page stays mapped',
    kind,
    ...NATIVE,
    code: inProcesses(
      4,
      `
for _ in range(8):
    area = shared(24 << 20)
    touch(area, 24 << 20)
    libc.munmap(area + 4096, (24 << 20) - 4096, 0)
done()`,
    ),
  },
  {
    name: 'shared memory of /dev/zero',
    kind,
    ...NATIVE,
    code: inProcesses(
      4,
      `
zero = os.open('/dev/zero', os.O_RDWR)
for _ in range(8):
    area = shared(24 << 20, zero)
    touch(area, 24 << 20)
    libc.munmap(area + 4096, (24 << 20) - 4096, 0)
done()`,
    ),
  },
  {
    name: 'memory of processes whose first thread has ended',
    kind,
    ...NATIVE,
    code: inProcesses(
      4,
      `
def hold():
    data = [bytearray(b'x') * (1 << 20) for _ in range(180)]
    done()
    time.sleep(60)
threading.Thread(target=hold).start()
# The system call ends this thread and no other one.
libc.syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)`,
    ),
  },
  {
    name: 'memory beside many processes that do not sleep',
    kind,
    ...NATIVE,
    code: inProcesses(
      60,
      `
data = bytearray(b'x') * (9 << 20)
done()
while time.monotonic() < started + 5: pass`,
    ),
  },
  {
    name: 'lists of mappings, beside memory',
    kind,
    ...NATIVE,
    code: inProcesses(
      12,
      `
data = bytearray(b'x') * (26 << 20)
area = libc.mmap(None, 25000 * 4096, 3, 0x4022, -1, 0)
for at in range(0, 25000 * 4096, 8192): libc.mprotect(area + at, 4096, 1)
done()`,
    ),
  },
  {
    name: 'unread events of files',
    kind,
    ...NATIVE,
    code: `
import array, ctypes, fcntl, os, tempfile, termios
libc = ctypes.CDLL(None, use_errno=True)
folder = tempfile.mkdtemp()
watchers = [libc.inotify_init1(0) for _ in range(8)]
try:
    for watcher in watchers: libc.inotify_add_watch(watcher, folder.encode(), 0x100)
    paths = [os.path.join(folder, letter * 200) for letter in 'ab']
    for _ in range(5000):
        for path in paths:
            os.close(os.open(path, os.O_CREAT))
            os.remove(path)
    waiting = array.array('i', [0])
    for watcher in watchers:
        fcntl.ioctl(watcher, termios.FIONREAD, waiting)
        if waiting[0] > 1 << 20: print('ESCAPED', waiting[0])
finally:
    for watcher in watchers:
        if watcher >= 0: os.close(watcher)
    for path in os.listdir(folder): os.remove(os.path.join(folder, path))
    os.rmdir(folder)`,
  },
  {
    name: 'locks of files, beside memory',
    kind,
    ...NATIVE,
    code: inProcesses(
      3,
      `
data = bytearray(b'x') * (118 << 20)
# The kernel goes through all locks of a file for each new one: many files of few locks take a fifth of the time.
for _ in range(36):
    with tempfile.TemporaryFile() as file: fd = os.dup(file.fileno())
    for at in range(0, 504, 2): fcntl.lockf(fd, fcntl.LOCK_EX, 1, at)
done()`,
    ),
  },
  {
    name: 'lists of what is waited for, beside memory',
    kind,
    ...NATIVE,
    code: inProcesses(
      50,
      `
import select
data = bytearray(b'x') * (6656 << 10)
ends = [os.pipe()[0] for _ in range(56)]
watchers = [select.epoll() for _ in range(120)]
for watcher in watchers:
    for end in ends: watcher.register(end, select.EPOLLIN)
done()`,
    ),
  },
]
