"""Starts a kernel of server.py in the place of this process, as far as whoever started it can tell.

Arguments: the folder of server.py's socket, that of the projects, and the most memory in bytes. Imports what Python has
loaded already: it starts with `-I -S` in a few milliseconds.
"""

import os
import sys

import _socket

DESCRIPTORS = range(4)

folder, projects, memory = sys.argv[1:]
variables = [f"{name}={value}" for name, value in os.environ.items()]
request = "\0".join([os.getcwd(), projects, memory, *variables])
passed = b"".join(number.to_bytes(4, sys.byteorder) for number in DESCRIPTORS)
os.chdir(folder)
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
server.connect("kernels")
server.sendmsg(
    [request.encode(errors="surrogateescape")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)]
)
# Only the kernel has them open: whoever reads them learns that it has ended.
os.closerange(DESCRIPTORS.start, DESCRIPTORS.stop)
code = int(server.recv(16) or -9)
if code < 0:
    import _signal

    if -code != _signal.SIGKILL:
        _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
