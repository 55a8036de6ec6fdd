"""Stands between the kernel of a kept sandbox and the bridge, which may end and be followed by another. Sent in front of
sandbox_init.py, whose process it is part of.

Frames of the kernel get numbers. What a bridge has not taken on is kept, within bounds, and sent to the next one: calls until a
bridge acknowledges them, what the running cell shows until a bridge says that its client has it. Frames are looked at only at
their beginning, as this kernel writes them. Words of both directions are in docs/protocol.md, "Resuming".
"""

import os
import select
import time
from _collections import deque
from itertools import islice, takewhile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

FRAME_BYTES = 64 << 20
# What the running cell shows: of more, the beginning is dropped.
SHOWN_BYTES = 4 << 20
# Calls that no bridge has taken on: with more, the cell waits.
CALLS_BYTES = 16 << 20
CALLS = 10000
# What is on its way to one side: with more, nothing is read from the other.
QUEUE_BYTES = 1 << 20
CHUNK = 1 << 18
# Of what is written at once: pieces.
VECTOR = 256
CONNECT_AGAIN_S = 0.1
# As the bridge gives a cell that it has interrupted.
GRACE_S = 2


class Pipe:
    """One side: a socket whose lines are cut, and what waits to be written to it."""

    def __init__(self, end: "socket") -> None:
        end.setblocking(False)
        self.end = end
        self.fd = end.fileno()
        self.parts = []  # type: list[bytes]
        self.length = 0
        self.queue = deque()  # type: deque[bytes | memoryview]
        self.queued = 0

    def put(self, data: bytes) -> None:
        self.queue.append(data)
        self.queued += len(data)

    def put_first(self, data: bytes) -> None:
        """In front of everything: for a byte that may stand inside a frame."""
        self.queue.appendleft(data)
        self.queued += len(data)

    def write(self) -> bool:
        """Write what can be. False when the other end is gone."""
        while self.queue:
            try:
                count = self.end.sendmsg(list(islice(self.queue, VECTOR)))
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
        """The lines that have come, each with its end. None when the other end is gone."""
        try:
            data = self.end.recv(CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            # It was closed with something unread; what it had written is read first.
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


class Relay:
    def __init__(self, door: str, grace_s: float) -> None:
        import _socket

        self.door = door
        self.bridge = None  # type: Pipe | None
        self.key = b""
        # Until the kernel has read its own code, which comes over the same connection, that is left alone.
        self.ready = b""
        self.resumed = False
        self.number = 0
        self.shown = deque()  # type: deque[tuple[int, bytes]]
        self.shown_bytes = 0
        self.dropped = 0
        self.done = None  # type: tuple[int, bytes] | None
        # By id, oldest first: number and line.
        self.calls = {}  # type: dict[int, tuple[int, bytes]]
        self.calls_bytes = 0
        # Ids of calls that a bridge has taken on and not answered.
        self.begun = set()  # type: set[int]
        self.cell = 0
        self.announced = False
        self.running = False
        self.digest = b"-"
        self.deadline = 0.0
        self.interrupted_at = 0.0
        self.keep_s = 0.0
        self.kernel_left_at = 0.0
        self.left_at = time.monotonic()
        self.tried_at = 0.0
        ours, self._theirs = _socket.socketpair()
        self.kernel = Pipe(ours)
        self._bell, self._ring = os.pipe()
        os.set_blocking(self._ring, False)
        while self.bridge is None:
            self.connect()
            if time.monotonic() - self.left_at > grace_s:
                os._exit(0)
            if self.bridge is None:
                time.sleep(0.02)

    # ---- beginning

    def enter_kernel(self) -> int:
        """In the kernel's process, which has read its code: take its end of the channel. Returns the bell."""
        assert self.bridge
        for fd in (0, 1):
            os.dup2(self._theirs.fileno(), fd)
        for end in (self._theirs, self.kernel.end, self.bridge.end):
            end.close()
        os.close(self._ring)
        return self._bell

    def stay(self) -> None:
        """In the first process."""
        self._theirs.close()
        os.close(self._bell)

    def read_exactly(self, count: int) -> bytes:
        """From the first bridge, in the kernel's process."""
        assert self.bridge
        parts = []
        while count:
            select.select((self.bridge.fd,), (), ())
            try:
                part = self.bridge.end.recv(min(count, 65536))
            except BlockingIOError:
                continue
            if not part:
                os._exit(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def connect(self) -> None:
        import _socket

        end = _socket.socket(_socket.AF_UNIX)
        try:
            end.connect(self.door)
        except OSError:
            end.close()
            return
        self.bridge = Pipe(end)
        self.resumed = False
        opened = ",".join(map(str, sorted(self.begun)))
        words = [
            b"hello",
            b"version=1",
            b"key=" + (self.key or b"-"),
            b"cell=%d" % self.cell,
            b"running=%d" % self.running,
            b"pending=%d" % (self.running or self.done is not None),
            b"late=%d" % bool(self.interrupted_at),
            b"dropped=%d" % self.dropped,
            b"deadline=%d" % int(self.deadline * 1000),
            b"digest=" + self.digest,
            b"open=" + (opened.encode() or b"-"),
        ]
        self.bridge.put(b" ".join(words) + b"\n")
        if self.ready:
            self.bridge.put(b"0 " + self.ready)

    # ---- the loop of the first process

    def watched(self) -> "list[tuple[int, int]]":
        """Descriptors, each with what is to be waited for there."""
        fds = []
        bridge = self.bridge
        room = self.calls_bytes < CALLS_BYTES and len(self.calls) < CALLS
        if self.kernel_left_at:
            pass  # its process is about to be reaped
        elif room and (bridge is None or bridge.queued < QUEUE_BYTES):
            fds.append((self.kernel.fd, select.POLLIN | (select.POLLOUT if self.kernel.queue else 0)))
        elif self.kernel.queue:
            fds.append((self.kernel.fd, select.POLLOUT))
        if bridge:
            wanted = select.POLLIN if self.ready and self.kernel.queued < QUEUE_BYTES else 0
            if bridge.queue:
                wanted |= select.POLLOUT
            # Without any, its end is still told.
            fds.append((bridge.fd, wanted))
        return fds

    def wait_ms(self) -> int:
        return int((GRACE_S if self.bridge else CONNECT_AGAIN_S) * 1000)

    def handle(self, fd: int, events: int) -> None:
        if fd == self.kernel.fd:
            if events & select.POLLOUT and not self.kernel.write():
                return
            if events & (select.POLLIN | select.POLLHUP):
                lines = self.kernel.read()
                if lines is None:
                    self.kernel_left_at = time.monotonic()
                for line in lines or ():
                    self.from_kernel(line)
        elif self.bridge and fd == self.bridge.fd:
            if events & select.POLLOUT and not self.bridge.write():
                events |= select.POLLHUP
            if events & (select.POLLIN | select.POLLHUP | select.POLLERR):
                # Also when it has gone: what it wrote before counts, and is read before its end.
                if not self.ready:
                    os._exit(0)  # it has gone while the kernel read its code
                lines = self.bridge.read()
                if lines is None:
                    self.lose_bridge()
                for line in lines or ():
                    self.from_bridge(line)
        if self.bridge and self.bridge.queue and not self.bridge.write():
            return  # its end is told by the next poll
        if self.kernel.queue:
            self.kernel.write()
            if self.kernel.queued > QUEUE_BYTES:
                self.ring()  # a busy kernel takes in what has come only then

    def lose_bridge(self) -> None:
        assert self.bridge
        self.bridge.end.close()
        self.bridge = None
        self.left_at = time.monotonic()
        if not self.keep_s:
            os._exit(0)

    def tick(self) -> "int | None":
        """What is to be done at this moment. The exit code when the sandbox is to end."""
        now = time.monotonic()
        if self.kernel_left_at and now - self.kernel_left_at > GRACE_S:
            return 0  # a cell has closed its channel: no frame can be sent any more
        if self.bridge:
            return None
        if now - self.left_at > self.keep_s:
            return 0
        if self.running and self.deadline and time.time() > self.deadline:
            if not self.interrupted_at:
                self.interrupted_at = now
                self.interrupt()
            elif now - self.interrupted_at > GRACE_S:
                return 0
        if now - self.tried_at >= CONNECT_AGAIN_S:
            self.tried_at = now
            self.connect()
            if self.bridge:
                self.bridge.write()
        return None

    def say_end(self, code: int) -> None:
        """The last word, as far as it fits."""
        if self.bridge:
            self.bridge.put(b"end %d\n" % code)
            limit = time.monotonic() + 1
            while self.bridge.queue and self.bridge.write() and time.monotonic() < limit:
                select.select((), (self.bridge.fd,), (), 0.1)

    # ---- from the kernel

    def from_kernel(self, line: bytes) -> None:
        kind, rest = kind_of(line)
        if kind == b"ready" and not self.ready:
            self.ready = line
            if self.bridge:
                self.bridge.put(b"0 " + line)
            return
        self.number += 1
        if kind == b"call":
            number, rest = integer(rest, b',"id":')
            cell, _ = integer(rest, b',"cell":')
            if self.running and cell == self.cell:
                self.drop_call(number)
                self.calls[number] = (self.number, line)
                self.calls_bytes += len(line)
        elif kind == b"cancel":
            self.cancel(integer(rest, b',"id":')[0])
        elif kind in (b"output", b"display", b"done") and self.running and integer(rest, b',"cell":')[0] == self.cell:
            if kind == b"done":
                self.running = False
                self.done = (self.number, line)
                self.begun.clear()
            else:
                self.shown.append((self.number, line))
                self.shown_bytes += len(line)
                while self.shown_bytes > SHOWN_BYTES:
                    _, gone = self.shown.popleft()
                    self.shown_bytes -= len(gone)
                    self.dropped += len(gone)
        if self.bridge and self.resumed:
            self.bridge.put(b"%d " % self.number + line)

    def cancel(self, number: int) -> None:
        """Nobody waits for a call any more."""
        self.begun.discard(number)
        if not self.bridge:
            self.drop_call(number)

    def drop_call(self, number: int) -> None:
        if number in self.calls:
            self.calls_bytes -= len(self.calls.pop(number)[1])

    # ---- from the bridge

    def from_bridge(self, line: bytes) -> None:
        if line.startswith(b"{"):
            kind, rest = kind_of(line)
            if kind == b"reply":
                self.begun.discard(integer(rest, b',"id":')[0])
            elif kind == b"run" and self.announced:
                # Only now, when all of it has come.
                self.announced = False
                self.running = True
            self.kernel.put(line)
            return
        word, *more = line.split()
        if word == b"ack":
            self.acknowledge(int(more[0]))
        elif word == b"cell":
            self.cell, self.deadline, self.digest = int(more[0]), int(more[1]) / 1000, more[2]
            self.announced = True
            self.interrupted_at = 0.0
            self.release(self.number)
        elif word == b"release":
            self.release(int(more[0]))
        elif word == b"interrupt":
            self.interrupt()
        elif word == b"resume":
            self.resume()
        elif word == b"key":
            self.key = more[0]
        elif word == b"keep":
            self.keep_s = float(more[0])
        elif word == b"end":
            os._exit(0)

    def acknowledge(self, number: int) -> None:
        for call, _ in list(takewhile(lambda one: one[1][0] <= number, self.calls.items())):
            self.drop_call(call)
            if self.running and len(self.begun) < CALLS:
                self.begun.add(call)

    def release(self, number: int) -> None:
        """The client has what was shown up to here."""
        while self.shown and self.shown[0][0] <= number:
            self.shown_bytes -= len(self.shown.popleft()[1])
        if self.done and self.done[0] <= number:
            self.done = None
            self.dropped = 0

    def resume(self) -> None:
        """Send what no bridge has taken on, in its order."""
        if self.resumed or not self.bridge:
            return
        self.resumed = True
        kept = [*self.calls.values(), *self.shown, *([self.done] if self.done else ())]
        for number, line in sorted(kept):
            self.bridge.put(b"%d " % number + line)

    # ---- the bell

    def interrupt(self) -> None:
        self.ring()
        self.kernel.put_first(b"\x03")
        self.kernel.write()
        self.ring()

    def ring(self) -> None:
        try:
            os.write(self._ring, b"!")
        except BlockingIOError:
            pass  # it rings already
        except OSError:
            pass  # the kernel is gone, which is seen by its end


def kind_of(line: bytes) -> "tuple[bytes, bytes]":
    """The type of a frame, and what comes behind it."""
    if not line.startswith(b'{"type":"'):
        return b"", b""
    end = line.find(b'"', 9, 24)
    return line[9:end], line[end + 1 : end + 65]


def integer(text: bytes, name: bytes) -> "tuple[int, bytes]":
    """The number that follows `name` at the beginning, and what comes behind it. -1 when there is none."""
    if not text.startswith(name):
        return -1, b""
    end = len(name)
    while end < len(text) and end < len(name) + 15 and text[end : end + 1].isdigit():
        end += 1
    return (int(text[len(name) : end]), text[end:]) if end > len(name) else (-1, b"")
