// Attacks on the host: its files, environment and processes.
import { PYODIDE_ONLY, type Attack } from '../attack.ts'

const kind = 'host'
const control = 'python'

export const hostAttacks: Attack[] = [
  { name: 'read a file', kind, control, code: `print(open(FILE).read())` },
  {
    name: 'read a file through a link',
    kind,
    control,
    code: `
import os, tempfile
link = os.path.join(tempfile.mkdtemp(), 'link')
os.symlink(FILE, link)
print(open(link).read())`,
  },
  { name: 'read a file by climbing up', kind, control, code: `print(open('../' * 40 + FILE.lstrip('/')).read())` },
  { name: 'write a file', kind, control, code: `open(MARKER, 'w').write('here')` },
  { name: 'make a folder', kind, control, code: `import os\nos.makedirs(MARKER)` },
  { name: 'the environment', kind, control, code: `import os\nprint(os.environ['SANDBRIDGE_CANARY'])` },
  {
    name: 'the environment in /proc',
    kind,
    control,
    code: `print(open('/proc/self/environ').read().replace('\\0', '\\n'))`,
  },
  {
    name: 'the environment anywhere in memory',
    kind,
    control,
    code: `
import ctypes, os, re, struct
found = set()
def look(data): found.update(re.findall(b'secret-[0-9a-f-]{36}', data))
if os.path.exists('/dev/sandbridge-memory'):
    device = os.open('/dev/sandbridge-memory', os.O_RDONLY)
    size = int(struct.unpack('d', os.read(device, 8))[0])
    os.close(device)
    memory = memoryview((ctypes.c_char * size).from_address(0)).cast('B')
    for at in range(0, size, 1 << 20): look(bytes(memory[at:at + (1 << 20) + 100]))
else:
    memory = os.open('/proc/self/mem', os.O_RDONLY)
    for line in open('/proc/self/maps').readlines():
        if line.split()[1][0] != 'r': continue
        start, end = (int(number, 16) for number in line.split()[0].split('-'))
        for at in range(start, end, 1 << 20):
            try: look(os.pread(memory, min((1 << 20) + 100, end - at), at))
            except (OSError, OverflowError): break
    os.close(memory)
for one in found: print(one.decode())`,
  },
  {
    name: 'the environment of the parent',
    kind,
    control,
    code: `import os\nif 'PATH=' in open(f'/proc/{os.getppid()}/environ').read(): print('ESCAPED')`,
  },
  {
    name: 'the host’s processes',
    kind,
    control,
    code: `
if 'node' in open(f'/proc/{HOST_PID}/cmdline').read() or open(f'/proc/{HOST_PID}/comm').read(): print('ESCAPED')`,
  },
  { name: 'a signal to the host', kind, control, code: `import os\nos.kill(HOST_PID, 0)\nprint('ESCAPED')` },
  {
    name: 'a database file',
    kind,
    control,
    code: `import sqlite3\nsqlite3.connect(MARKER).execute('create table t (x)')`,
  },
  {
    name: 'a file through the root of another process',
    kind,
    control,
    code: `print(open(f'/proc/{HOST_PID}/root' + FILE).read())`,
  },
  {
    name: 'a file with the loader of Python modules',
    kind,
    control,
    code: `from importlib.machinery import SourceFileLoader\nprint(SourceFileLoader('x', FILE).get_data(FILE).decode())`,
  },
  {
    name: 'the argument list of the sandbox process',
    kind,
    ...PYODIDE_ONLY,
    code: `import js\nprint('ESCAPED', list(js.process.argv))`,
  },
]
