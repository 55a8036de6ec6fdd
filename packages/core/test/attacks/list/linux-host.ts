// Attacks on the host from a Linux process: mounts, what /proc and /sys reveal or let it change, and programs it can
// run.
import type { Attack } from '../attack.ts'
import { AS_ROOT, NATIVE, opensForWriting } from './linux.ts'

const kind = 'host'

/** The providers with our filter of system calls. */
const FILTERED = { control: 'python', providers: NATIVE.providers.filter((name) => name !== 'kubernetes') } as const

/** Mounted noexec in a container; bubblewrap has no such option (docs/security.md). */
const CONTAINERS = { control: 'python', providers: ['podman', 'docker'] } as const

export const linuxHostAttacks: Attack[] = [
  {
    name: 'write somewhere on a disk',
    kind,
    ...NATIVE,
    code: `
import os, tempfile
kinds = sorted(((line.split()[1], line.split()[2]) for line in open('/proc/mounts')), key=lambda mount: len(mount[0]))
def kind_of(folder):
    found = 'none'
    for place, file_system in kinds:
        if folder == place or folder.startswith(place.rstrip('/') + '/'): found = file_system
    return found
for folder, folders, _ in os.walk('/'):
    if folder in ('/proc', '/sys'): folders.clear()
    elif kind_of(folder) not in ('tmpfs', 'mqueue', 'devpts', 'devtmpfs'):
        try:
            handle, path = tempfile.mkstemp(dir=folder)
        except OSError: continue
        os.close(handle)
        os.remove(path)
        print('ESCAPED', folder)
        break`,
  },
  {
    name: 'change the standard library',
    kind,
    ...AS_ROOT,
    code: `import os\nos.close(os.open(os.__file__, os.O_RDWR))\nprint('ESCAPED')`,
  },
  {
    name: 'read a file through a hard link',
    kind,
    ...NATIVE,
    code: `
import os
os.link(FILE, MARKER)
print(open(MARKER).read())`,
  },
  { name: 'read the passwords', kind, ...AS_ROOT, code: `if len(open('/etc/shadow').read()) > 0: print('ESCAPED')` },
  {
    name: 'the home folders',
    kind,
    ...AS_ROOT,
    code: `
import os
if any(os.listdir(folder) for folder in ('/root', '/home') if os.path.isdir(folder)): print('ESCAPED')`,
  },
  {
    name: 'the files of the parent',
    kind,
    ...AS_ROOT,
    code: `import os\nif os.listdir(f'/proc/{os.getppid()}/root'): print('ESCAPED')`,
  },
  {
    name: 'the open files of the parent',
    kind,
    ...AS_ROOT,
    code: `import os\nif os.listdir(f'/proc/{os.getppid()}/fd'): print('ESCAPED')`,
  },
  {
    name: 'the memory of the parent',
    kind,
    ...AS_ROOT,
    code: `import os\nos.close(os.open(f'/proc/{os.getppid()}/mem', os.O_RDWR))\nprint('ESCAPED')`,
  },
  {
    name: 'learn which programs others run',
    kind,
    ...FILTERED,
    code: `
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
folder = os.open(os.path.dirname(os.path.realpath(sys.executable)), os.O_RDONLY)
fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
print('ESCAPED')`,
  },
  {
    name: 'hold up programs that lock a file of the system',
    kind,
    control: 'python',
    providers: NATIVE.providers.filter((name) => name.startsWith('bubblewrap')),
    code: `
import fcntl, os, time
# The same attack elsewhere may have the lock for a moment.
for attempt in range(50):
    with open(os.__file__) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            print('ESCAPED')
            break
        except BlockingIOError:
            time.sleep(0.1)`,
  },
  {
    name: 'the list of processes',
    kind,
    ...NATIVE,
    code: `import os\nif sum(name.isdigit() for name in os.listdir('/proc')) > 20: print('ESCAPED')`,
  },
  {
    name: 'the name of the host',
    kind,
    ...NATIVE,
    code: `import socket\nif socket.gethostname() != 'sandbox': print('ESCAPED')`,
  },
  { name: 'core_pattern', kind, ...AS_ROOT, code: opensForWriting('/proc/sys/kernel/core_pattern') },
  { name: 'the limits of the host', kind, ...AS_ROOT, code: opensForWriting('/proc/sys/vm/overcommit_memory') },
  { name: 'the number of processes there can be', kind, ...AS_ROOT, code: opensForWriting('/proc/sys/kernel/pid_max') },
  {
    name: 'the table of program formats',
    kind,
    ...AS_ROOT,
    code: `
import os, stat
if os.access('/proc/sys/fs/binfmt_misc', os.W_OK) or os.access('/proc/sys/vm/drop_caches', os.W_OK): print('ESCAPED')`,
  },
  {
    name: 'the kernel’s memory',
    kind,
    ...AS_ROOT,
    code: `
import os
for path in ('/proc/kcore', '/dev/mem', '/dev/kmsg', '/proc/kmsg'):
    try: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError: continue
    print('ESCAPED', path)`,
  },
  {
    name: 'a block device',
    kind,
    ...AS_ROOT,
    code: `
import os, stat
for folder, _, names in os.walk('/dev'):
    for name in names:
        path = os.path.join(folder, name)
        try:
            if not stat.S_ISBLK(os.stat(path).st_mode): continue
            os.close(os.open(path, os.O_RDONLY))
        except OSError: continue
        print('ESCAPED', path)`,
  },
  {
    name: 'a setting in /sys',
    kind,
    ...AS_ROOT,
    code: opensForWriting('/sys/kernel/mm/transparent_hugepage/enabled'),
  },
  {
    name: 'a control group of its own',
    kind,
    ...AS_ROOT,
    code: `
import os
for folder, _, _ in list(os.walk('/sys/fs/cgroup'))[:40]:
    path = os.path.join(folder, 'attack')
    try: os.mkdir(path)
    except OSError: continue
    os.rmdir(path)
    print('ESCAPED', path)
    break`,
  },
  {
    name: 'a higher memory limit',
    kind,
    ...AS_ROOT,
    code: `
import glob, os
for path in glob.glob('/sys/fs/cgroup/**/memory.limit_in_bytes', recursive=True) + glob.glob('/sys/fs/cgroup/**/memory.max', recursive=True) + glob.glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True):
    try: os.close(os.open(path, os.O_WRONLY))
    except OSError: continue
    print('ESCAPED', path)
    break`,
  },
  {
    name: 'a release agent',
    kind,
    ...AS_ROOT,
    code: `
import glob, os
for path in glob.glob('/sys/fs/cgroup/**/release_agent', recursive=True) + glob.glob('/sys/fs/cgroup/**/cgroup.subtree_control', recursive=True):
    try: os.close(os.open(path, os.O_WRONLY))
    except OSError: continue
    print('ESCAPED', path)
    break`,
  },
  {
    name: 'run a program from a writable folder',
    kind,
    ...CONTAINERS,
    code: `
import os, shutil, subprocess, tempfile
for folder in ('/tmp', '/workspace', '/dev/shm'):
    try:
        path = os.path.join(tempfile.mkdtemp(dir=folder), 'program')
        shutil.copy(shutil.which('true'), path)
        os.chmod(path, 0o755)
        if subprocess.run([path]).returncode == 0: print('ESCAPED', folder)
    except OSError: pass`,
  },
  {
    name: 'load a library from a writable folder',
    kind,
    ...CONTAINERS,
    code: `
import ctypes, os, shutil, tempfile
import _ctypes
path = os.path.join(tempfile.mkdtemp(), 'library.so')
libc = next(line.split()[-1] for line in open('/proc/self/maps') if 'libm.so' in line or 'libc.so' in line or 'libm-' in line)
shutil.copy(libc, path)
ctypes.CDLL(path)
print('ESCAPED')`,
  },
  {
    name: 'a writable folder that allows setuid or devices',
    kind,
    ...NATIVE,
    code: `
import os
for folder in ('/tmp', '/workspace'):
    try: flags = os.statvfs(folder).f_flag
    except OSError: continue
    if not flags & os.ST_NOSUID or not flags & os.ST_NODEV: print('ESCAPED', folder)`,
  },
]
