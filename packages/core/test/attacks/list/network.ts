// Attacks over the network, with every family and library. The listeners on the host detect them.
import { PYODIDE_ONLY, type Attack } from '../attack.ts'

const kind = 'network'
const control = 'python'

export const networkAttacks: Attack[] = [
  {
    name: 'a TCP connection',
    kind,
    control,
    code: `import socket\nsocket.create_connection(('127.0.0.1', PORT), 5).sendall(b'hello')`,
  },
  {
    name: 'a TCP connection without blocking',
    kind,
    control,
    code: `
import socket, time
s = socket.socket()
s.setblocking(False)
s.connect_ex(('127.0.0.1', PORT))
time.sleep(0.2)
s.send(b'hello')`,
  },
  {
    name: 'asyncio.open_connection',
    kind,
    control,
    code: `
import asyncio
reader, writer = await asyncio.wait_for(asyncio.open_connection('127.0.0.1', PORT), 5)
writer.write(b'hello')
await writer.drain()`,
  },
  {
    name: 'urllib',
    kind,
    control,
    code: `import urllib.request\nurllib.request.urlopen(f'http://127.0.0.1:{PORT}/', timeout=5)`,
  },
  {
    name: 'http.client',
    kind,
    control,
    code: `import http.client\nhttp.client.HTTPConnection('127.0.0.1', PORT, timeout=5).request('GET', '/')`,
  },
  {
    name: 'a datagram',
    kind,
    control,
    code: `import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'hello', ('127.0.0.1', UDP_PORT))`,
  },
  {
    name: 'a Unix socket',
    kind,
    control,
    code: `import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(UNIX_SOCKET)\ns.sendall(b'hello')`,
  },
  {
    name: 'netlink',
    kind,
    control,
    code: `import socket\ns = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\ns.bind((0, 0))\nprint('ESCAPED', s.getsockname())`,
  },
  {
    name: 'Pyodide’s fetch',
    kind,
    ...PYODIDE_ONLY,
    code: `from pyodide.http import pyfetch\nawait pyfetch(f'http://127.0.0.1:{PORT}/')`,
  },
  {
    name: 'fetch of JavaScript',
    kind,
    ...PYODIDE_ONLY,
    code: `import js\nawait js.fetch(f'http://127.0.0.1:{PORT}/')`,
  },
  {
    name: 'the sockets of Node behind Python’s',
    kind,
    ...PYODIDE_ONLY,
    code: `
import pyodide_js, socket
await pyodide_js.useNodeSockFS()
s = socket.socket()
s.connect(('127.0.0.1', PORT))
s.sendall(b'hello')`,
  },
]
