"""The program behind a bash cell's command `mcp`: sends its arguments to the kernel and prints the reply. Run as
`python3 -I -S client.py SOCKET INODE ARGUMENT…`. INODE is that of the pipe for the cell's output. It imports little,
because every tool call from bash starts it."""

import os
import sys

TYPE_CHECKING = False  # without importing typing
if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> int:
    import _socket  # importing `socket` takes as long as starting Python

    path, inode, *args = sys.argv[1:]
    words = [arg.encode("utf-8", "surrogateescape") for arg in args]
    data = b""
    if any(a == "--json" and b == "-" for a, b in zip(args, args[1:])) or "--json=-" in args:
        data = read_all(lambda: os.read(0, 65536))
    is_shown = int(str(os.fstat(1).st_ino) == inode)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError:
        return say("mcp: no bash cell is running, and only such a cell can call tools", 1)
    try:
        connection.sendall(b"%d %d\n" % (len(words), is_shown) + b"".join(word + b"\0" for word in words) + data)
        connection.shutdown(1)
    except OSError:
        pass  # the kernel has read enough, and its reply says why
    try:
        reply = read_all(lambda: connection.recv(65536))
        head, _, rest = reply.partition(b"\n")
        status, length = map(int, head.split())
    except (OSError, ValueError):
        return say("mcp: the cell ended before the call did, or too many calls were open at once", 1)
    write(1, rest[:length])
    write(2, rest[length:])
    return status


def read_all(read: "Callable[[], bytes]") -> bytes:
    pieces = []
    while piece := read():
        pieces.append(piece)
    return b"".join(pieces)


def say(text: str, status: int) -> int:
    write(2, text.encode() + b"\n")
    return status


def write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        code = 141
    os._exit(code)
