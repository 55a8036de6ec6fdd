// Attacks past Python: the C library, other programs, hand-made machine code.
import { PYODIDE_ONLY, type Attack } from '../attack.ts'

const kind = 'native'
const onEveryProvider = { kind, control: 'python', providers: ['pyodide'] } as const

export const nativeAttacks: Attack[] = [
  { name: 'os.system', kind, ...PYODIDE_ONLY, code: `import os\nos.system(f'touch "{MARKER}"')` },
  {
    name: 'system() of the C library',
    kind,
    ...PYODIDE_ONLY,
    code: `import ctypes\nctypes.CDLL(None).system(f'touch "{MARKER}"'.encode())`,
  },
  {
    name: 'JavaScript through the C library',
    kind,
    ...PYODIDE_ONLY,
    code: `
import ctypes
if ctypes.CDLL(None).emscripten_run_script_int(b'6 * 7') == 42: print('ESCAPED')`,
  },
  {
    name: 'the process through the C library',
    kind,
    ...PYODIDE_ONLY,
    code: `
import ctypes
run = ctypes.CDLL(None).emscripten_run_script_string
run.restype = ctypes.c_char_p
print('ESCAPED', int(run(b'process.pid')))`,
  },
  {
    name: 'a side module that carries JavaScript',
    kind,
    ...PYODIDE_ONLY,
    code: `
import ctypes
def leb(n):
    out = b''
    while True:
        byte, n = n & 127, n >> 7
        out += bytes([byte | (128 if n else 0)])
        if not n: return out
def sleb(n):
    out = b''
    while True:
        byte, n = n & 127, n >> 7
        done = n == 0 and not byte & 64
        out += bytes([byte | (0 if done else 128)])
        if done: return out
def vec(items): return leb(len(items)) + b''.join(items)
def text(s): return leb(len(s)) + s
def section(number, body): return bytes([number]) + leb(len(body)) + body
# A function that is nothing but JavaScript: the loader makes it from the text behind this export.
js = b'()<::>{ return 6 * 7; }\\0'
memory = b'\\x01' + text(leb(len(js)) + b'\\x00\\x00\\x00')
dylink = text(b'dylink.0') + memory
module = b'\\0asm\\1\\0\\0\\0' + section(0, dylink)
module += section(1, vec([b'\\x60\\x00\\x01\\x7f']))
module += section(2, vec([text(b'env') + text(b'memory') + b'\\x02\\x00\\x01', text(b'env') + text(b'__memory_base') + b'\\x03\\x7f\\x00', text(b'env') + text(b'answer') + b'\\x00\\x00']))
module += section(3, vec([b'\\x00']))
module += section(6, vec([b'\\x7f\\x00\\x41' + sleb(0) + b'\\x0b']))
module += section(7, vec([text(b'__em_js__answer') + b'\\x03' + leb(1), text(b'ask') + b'\\x00' + leb(1)]))
module += section(10, vec([text(b'\\x00\\x10\\x00\\x0b')]))
module += section(11, vec([b'\\x00\\x23\\x00\\x0b' + text(js)]))
open('/tmp/side.so', 'wb').write(module)
if ctypes.CDLL('/tmp/side.so').ask() == 42: print('ESCAPED')`,
  },
  { name: 'subprocess', ...onEveryProvider, code: `import subprocess\nsubprocess.run(['touch', MARKER])` },
  { name: 'os.popen', ...onEveryProvider, code: `import os\nos.popen(f'touch "{MARKER}"').read()` },
  {
    name: 'fork',
    ...onEveryProvider,
    code: `
import os
pid = os.fork()
if pid == 0: os._exit(0)
os.waitpid(pid, 0)
print('ESCAPED')`,
  },
  {
    name: 'posix_spawn',
    ...onEveryProvider,
    code: `import os, shutil\nos.waitpid(os.posix_spawn(shutil.which('touch') or '/bin/touch', ['touch', MARKER], {}), 0)`,
  },
  {
    name: 'multiprocessing',
    ...onEveryProvider,
    code: `
import multiprocessing, os
process = multiprocessing.get_context('fork').Process(target=os.mkdir, args=(MARKER,))
process.start()
process.join()`,
  },
  {
    name: 'a system call by number',
    ...onEveryProvider,
    code: `
import ctypes, platform
number = {'x86_64': 39, 'aarch64': 172}.get(platform.machine(), 20)
if ctypes.CDLL(None).syscall(number) > 0: print('ESCAPED')`,
  },
]
