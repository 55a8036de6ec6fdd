// Attacks that take more than a sandbox's share of a Linux process's resources, beyond Python's own memory. Controls
// release what they take.
import type { Attack } from '../attack.ts'
import { indented, NATIVE } from './linux.ts'

const kind = 'exhaustion'

/**
 * Python that runs a body in ten processes at once. It escapes when together they have `taken` 600 MiB and still do a
 * second later.
 */
function inManyProcesses(body: string): string {
  return `
import os, select, socket, struct, time
children = []
for _ in range(10):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        taken = 0
        try:
${indented(body, 12)}
        finally:
            os.write(write, struct.pack('q', taken))
            time.sleep(60)
            os._exit(1)
    os.close(write)
    children.append((child, read))
taken = 0
for child, read in children: taken += struct.unpack('q', os.read(read, 8).ljust(8, bytes(1)))[0]
time.sleep(1)
try:
    if taken > 600 << 20: print('ESCAPED', taken)
finally:
    for child, read in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(read)`
}

export const linuxExhaustionAttacks: Attack[] = [
  {
    name: 'processes',
    kind,
    ...NATIVE,
    code: `
import os, signal, time
children = []
try:
    while len(children) < 300:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
    print('ESCAPED')
finally:
    for child in children: os.kill(child, signal.SIGKILL)
    for child in children: os.waitpid(child, 0)`,
  },
  {
    name: 'native threads',
    kind,
    ...NATIVE,
    code: `
import threading
stop = threading.Event()
threads = []
try:
    for _ in range(300):
        thread = threading.Thread(target=stop.wait, daemon=True)
        thread.start()
        threads.append(thread)
    print('ESCAPED')
finally:
    stop.set()
    for thread in threads: thread.join()`,
  },
  {
    name: 'open files',
    kind,
    ...NATIVE,
    code: `
import os, resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
taken = []
try:
    for _ in range(1500): taken.append(os.open('/dev/null', os.O_RDONLY))
    print('ESCAPED')
finally:
    for fd in taken: os.close(fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, hard), hard))`,
  },
  {
    name: 'memory of the C library',
    kind,
    ...NATIVE,
    code: `
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
area = libc.malloc(700 << 20)
if area:
    ctypes.memset(area, 1, 700 << 20)
    libc.free(area)
    print('ESCAPED')`,
  },
  {
    name: 'memory shared with nobody',
    kind,
    ...NATIVE,
    code: `
import mmap
area = mmap.mmap(-1, 700 << 20)
for at in range(0, 700 << 20, 4096): area[at] = 1
area.close()
print('ESCAPED')`,
  },
  {
    name: 'memory without a name',
    kind,
    ...NATIVE,
    code: `
import os
fd = os.memfd_create('hidden')
for _ in range(700): os.write(fd, b'x' * (1 << 20))
os.close(fd)
print('ESCAPED')`,
  },
  {
    name: 'memory that outlives its owner',
    kind,
    ...NATIVE,
    code: `
import ctypes
libc = ctypes.CDLL(None)
segment = libc.shmget(0, 700 << 20, 0o1600)
if segment >= 0:
    libc.shmctl(segment, 0, 0)
    print('ESCAPED')`,
  },
  ...['/tmp', '/dev/shm'].map((folder): Attack => ({
    name: `a full ${folder}`,
    kind,
    ...NATIVE,
    code: `
import os
path = '${folder}/sandbridge-attack'
try:
    with open(path, 'wb') as file:
        for _ in range(300): file.write(b'x' * (1 << 20))
    print('ESCAPED')
finally:
    os.remove(path)`,
  })),
  // Measured as memory that the machine lacks meanwhile. The sandbox's limit is 384 MiB.
  {
    name: 'buffers of sockets, in many processes',
    kind,
    ...NATIVE,
    code: inManyProcesses(`
pairs = []
for _ in range(480):
    try: pair = socket.socketpair()
    except OSError: break
    pairs.append(pair)
    for end in pair:
        end.setblocking(False)
        try:
            while True: taken += end.send(b'x' * 65536)
        except BlockingIOError: pass`),
  },
  {
    name: 'larger buffers of sockets',
    kind,
    ...NATIVE,
    code: `
import socket
for one in socket.socketpair():
    before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    try: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
    except OSError: pass
    if one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) > before: print('ESCAPED')
    one.close()`,
  },
  {
    name: 'buffers of sockets that were closed before they were read',
    kind,
    ...NATIVE,
    code: `
import os, socket, tempfile
path = os.path.join(tempfile.mkdtemp(), 'listener')
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(4000)
taken = 0
try:
    while taken < 600 << 20:
        visitor = socket.socket(socket.AF_UNIX)
        visitor.setblocking(False)
        try:
            visitor.connect(path)
            while True: taken += visitor.send(b'x' * 65536)
        except OSError as error:
            if error.errno != 11 or taken == 0: raise
        visitor.close()
    import time
    time.sleep(1)
    print('ESCAPED', taken)
finally:
    listener.close()
    os.remove(path)
    os.rmdir(os.path.dirname(path))`,
  },
  {
    name: 'files and memory that each keep to a limit, together',
    kind,
    ...NATIVE,
    code: `
import os, time
paths, taken = [], 0
try:
    for folder, mebibytes in (('/tmp', 56), ('/dev/shm', 56)):
        paths.append(os.path.join(folder, 'sandbridge-attack'))
        with open(paths[-1], 'wb') as file:
            for _ in range(mebibytes): taken += file.write(b'x' * (1 << 20))
    data = [bytearray(1 << 20) for _ in range(300)]
    time.sleep(1)
    if taken == 112 << 20: print('ESCAPED')
finally:
    for path in paths: os.remove(path)`,
  },
  {
    name: 'a core dump',
    kind,
    ...NATIVE,
    code: `
import resource
if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0: print('ESCAPED')`,
  },
]
