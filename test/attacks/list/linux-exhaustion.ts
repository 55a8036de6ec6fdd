// More than a sandbox's share of what a Linux process can take, beyond Python's own memory. Controls take it and give it back.
import type { Attack } from '../attack.ts'
import { NATIVE } from './linux.ts'

const kind = 'exhaustion'

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
  {
    name: 'a core dump',
    kind,
    ...NATIVE,
    code: `
import resource
if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0: print('ESCAPED')`,
  },
]
