// Attacks that take more than a sandbox's share. The attacked sandbox has 384 MiB.
import { PYODIDE_ONLY, type Attack } from '../attack.ts'

const kind = 'exhaustion'

export const exhaustionAttacks: Attack[] = [
  { name: 'a large object', kind, control: 'python', code: `x = bytearray(700 << 20)\nprint('ESCAPED', len(x))` },
  {
    name: 'many objects',
    kind,
    control: 'python',
    code: `x = [bytearray(1 << 20) for _ in range(600)]\nprint('ESCAPED', len(x))\ndel x`,
  },
  {
    name: 'a large integer',
    kind,
    control: 'python',
    code: `x = 1 << (8 * (500 << 20))\nprint('ESCAPED', x.bit_length())\ndel x`,
  },
  {
    name: 'malloc of the C library',
    kind,
    ...PYODIDE_ONLY,
    code: `
import ctypes
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_void_p
if malloc(600 << 20): print('ESCAPED')`,
  },
  {
    name: 'a large file in memory',
    kind,
    ...PYODIDE_ONLY,
    code: `
with open('/tmp/large', 'wb') as file:
    for _ in range(300): file.write(b'x' * (1 << 20))
import os
print('ESCAPED', os.path.getsize('/tmp/large'))
os.remove('/tmp/large')`,
  },
  {
    name: 'many files in memory',
    kind,
    ...PYODIDE_ONLY,
    code: `
import os, shutil
os.makedirs('/tmp/many')
try:
    for number in range(400):
        with open(f'/tmp/many/{number}', 'wb') as file: file.write(b'x' * (1 << 20))
    print('ESCAPED')
finally:
    shutil.rmtree('/tmp/many')`,
  },
  {
    name: 'a sparse file',
    kind,
    ...PYODIDE_ONLY,
    code: `
import os
with open('/tmp/sparse', 'wb') as file: file.truncate(1 << 30)
print('ESCAPED', os.path.getsize('/tmp/sparse'))
os.remove('/tmp/sparse')`,
  },
  {
    name: 'threads',
    kind,
    control: 'python',
    providers: ['pyodide'],
    code: `
import threading
stop = threading.Event()
threads = [threading.Thread(target=stop.wait, daemon=True) for _ in range(50)]
for thread in threads: thread.start()
stop.set()
print('ESCAPED')`,
  },
]
