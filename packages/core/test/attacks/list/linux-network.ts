// Attacks over the network that need a real operating system. A route is detected with a datagram socket that sends
// nothing.
import type { Attack } from '../attack.ts'
import { AS_ROOT, inChild, NATIVE } from './linux.ts'

const kind = 'network'

export const linuxNetworkAttacks: Attack[] = [
  {
    name: 'IPv4 inside IPv6',
    kind,
    ...NATIVE,
    code: `import socket\ns = socket.socket(socket.AF_INET6)\ns.connect(('::ffff:127.0.0.1', PORT))\ns.sendall(b'hello')`,
  },
  {
    name: 'connect through the C library',
    kind,
    ...NATIVE,
    code: `
import ctypes, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.socket(2, 1, 0)
address = struct.pack('=HH4s8x', 2, socket.htons(PORT), bytes([127, 0, 0, 1]))
if fd >= 0 and libc.connect(fd, address, 16) == 0: print('ESCAPED')`,
  },
  {
    name: 'a program that connects',
    kind,
    ...NATIVE,
    code: `
import subprocess, sys
subprocess.run([sys.executable, '-c', f'import socket; socket.create_connection(("127.0.0.1", {PORT})).sendall(b"hello")'])`,
  },
  {
    name: 'the shell’s own sockets',
    kind,
    ...NATIVE,
    code: `import subprocess\nsubprocess.run(['bash', '-c', f'echo hello > /dev/tcp/127.0.0.1/{PORT}'])`,
  },
  {
    name: 'a Unix socket of datagrams',
    kind,
    ...NATIVE,
    code: `
import os, socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
os.chdir(os.path.dirname(UNIX_SOCKET))
s.connect(os.path.basename(UNIX_SOCKET))
s.sendall(b'hello')`,
  },
  {
    name: 'a raw socket',
    kind,
    ...AS_ROOT,
    code: `import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)\nprint('ESCAPED')`,
  },
  {
    name: 'frames on the wire',
    kind,
    ...AS_ROOT,
    code: `import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))\nprint('ESCAPED')`,
  },
  {
    name: 'the kernel’s cryptography sockets',
    kind,
    ...NATIVE,
    code: `
import socket
try: socket.socket(38, socket.SOCK_SEQPACKET, 0)
except OSError as error:
    # 97: this kernel has none, and said so itself.
    if error.errno not in (1, 38): print('ESCAPED', error.errno)
else: print('ESCAPED')`,
  },
  {
    name: 'sockets to the hypervisor',
    kind,
    ...NATIVE,
    code: `
import socket
try: socket.socket(40, socket.SOCK_STREAM, 0)
except OSError as error:
    if error.errno not in (1, 38): print('ESCAPED', error.errno)
else: print('ESCAPED')`,
  },
  {
    name: 'every family there is',
    kind,
    ...NATIVE,
    code: `
import socket
for family in range(2, 46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try: socket.socket(family, kind, 0).close()
        except OSError as error:
            if error.errno in (1, 38): continue
        print('ESCAPED', family, kind)`,
  },
  {
    name: 'a route to the cloud’s metadata',
    kind,
    ...NATIVE,
    route: true,
    code: `import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.connect(('169.254.169.254', 80))\nprint('ESCAPED')`,
  },
  {
    name: 'a route to the world',
    kind,
    ...NATIVE,
    route: true,
    code: `import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.connect(('192.0.2.1', 53))\nprint('ESCAPED')`,
  },
  {
    name: 'a network device',
    kind,
    ...NATIVE,
    route: true,
    code: `
names = [line.split(':')[0].strip() for line in open('/proc/net/dev').readlines()[2:]]
if any(name != 'lo' for name in names): print('ESCAPED', names)`,
  },
  {
    name: 'the network of the parent',
    kind,
    ...AS_ROOT,
    code: inChild(`if libc.setns(os.open(f'/proc/{os.getppid()}/ns/net', os.O_RDONLY), 0) == 0: escaped()`),
  },
]
