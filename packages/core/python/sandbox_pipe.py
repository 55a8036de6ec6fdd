"""Exchanges lines with other processes without blocking. Sent before sandbox_keeper.py."""

import os
from _collections import deque
from itertools import islice

TYPE_CHECKING = False

FRAME_BYTES = 64 << 20
# A larger read would allocate new memory every time, which costs more than the read.
CHUNK = 1 << 16
# Most pieces per write.
VECTOR = 256


class Pipe:
    """One peer: splits its input into lines, and queues output."""

    def __init__(self, fd: int, out: int) -> None:
        os.set_blocking(fd, False)
        os.set_blocking(out, False)
        self.fd = fd
        self.out = out
        self.parts = []  # type: list[bytes]
        self.length = 0
        self.queue = deque()  # type: deque[bytes | memoryview]
        self.queued = 0

    def close(self) -> None:
        for fd in {self.fd, self.out}:
            os.close(fd)

    def put(self, data: bytes) -> None:
        self.queue.append(data)
        self.queued += len(data)

    def put_first(self, data: bytes) -> None:
        """Put data before everything queued: for a byte that may stand inside a frame."""
        self.queue.appendleft(data)
        self.queued += len(data)

    def write(self) -> bool:
        """Write as much as possible. Returns False if the peer is gone."""
        while self.queue:
            try:
                count = os.writev(self.out, list(islice(self.queue, VECTOR)))
            except BlockingIOError:
                return True
            except OSError:
                return False
            self.queued -= count
            while count:
                first = self.queue.popleft()
                if count < len(first):
                    self.queue.appendleft(memoryview(first)[count:])
                count -= min(count, len(first))
        return True

    def read(self) -> "list[bytes] | None":
        """Return the complete lines that have arrived, including their ends. None if the peer is gone."""
        try:
            data = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            # The peer closed with unread input; read its output first.
            return []
        if not data:
            return None
        head, *rest = data.split(b"\n")
        lines = []
        self._add(head)
        for piece in rest:
            lines.append(b"".join(self.parts) + b"\n" if self.length < FRAME_BYTES else b"too long\n")
            self.parts = []
            self.length = 0
            self._add(piece)
        return lines

    def _add(self, piece: bytes) -> None:
        self.length += len(piece)
        if self.length < FRAME_BYTES:
            if piece:
                self.parts.append(piece)
        else:
            self.parts = []


def kind_of(line: bytes) -> "tuple[bytes, bytes]":
    """Return the type of a frame, and the rest of the line."""
    if not line.startswith(b'{"type":"'):
        return b"", b""
    end = line.find(b'"', 9, 24)
    return line[9:end], line[end + 1 : end + 65]


def integer(text: bytes, name: bytes) -> "tuple[int, bytes]":
    """Return the number after `name` at the start, and the rest. -1 if there is none."""
    if not text.startswith(name):
        return -1, b""
    end = len(name)
    while end < len(text) and end < len(name) + 15 and text[end : end + 1].isdigit():
        end += 1
    return (int(text[len(name) : end]), text[end:]) if end > len(name) else (-1, b"")
