"""Connects the kernel of a kept sandbox to the bridge, which may end and be followed by another. Sent before
sandbox_init.py, whose process it is part of. Bridges attach to stdin and stdout, several of them perhaps at once: output
is lost while none is attached, and lines of two may be mixed. So lines in both directions have numbers, and a bridge's
lines also its generation and a checksum. Frames that a bridge has not taken are kept, within limits, for the next one:
calls until a bridge acknowledges them, output of the running cell until its client has it. Reads only the start of
frames, as this kernel writes them. packages/kubernetes/src/kept/ has the bridge's side."""

import os
import select
import time
from _collections import deque
from binascii import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox_kept import KeptFrames  # sent before this file
    from sandbox_pipe import Pipe, integer, kind_of  # also sent before this file

# Most bytes queued for one side; beyond this, the other side is not read.
QUEUE_BYTES = 1 << 20
# The same grace period as the bridge gives an interrupted cell.
GRACE_S = 2
# An attached bridge sends something every two seconds. After this much silence, it is gone.
SILENT_S = 6
# How long a sandbox that is not kept waits for such a bridge to return.
UNKEPT_S = 60
# Minimum interval between requests for a missing line.
AGAIN_S = 0.2
# How long the delivery of a cell's result to its client may take.
DELIVERY_S = 5
# While the bridge was heard within this time, a cell's call goes out at once. The longer it is, the more calls may be
# in flight when a bridge is killed, and nobody knows whether they were made.
TRUST_S = 0.5
# Received lines are acknowledged with the next frame, or after this time, or after this many bytes.
TELL_S = 0.02
TELL_BYTES = 1 << 18
CALL = b'{"type":"call"'


class Keeper:
    def __init__(self) -> None:
        import _socket

        # The pipe that carries lines, and the same pipe while a bridge is alive on it.
        self.pipe = Pipe(os.dup(0), os.dup(1))
        self.bridge = None  # type: Pipe | None
        self.heard_at = 0.0
        self.generation = self.attempt = 0  # of the bridge, and of its connection
        self.got = self.told_got = self.untold_bytes = 0  # the last line received from it
        self.tell_at = self.again_at = 0.0
        self.sent = self.acknowledged = 0  # the last frame sent to it, and the last it has acknowledged
        # The last call that the bridge may make before it acknowledges it.
        self.entrusted = 0
        self.unread = deque()  # type: deque[tuple[int, int]]
        self.unread_bytes = 0
        # The kernel's first frame. Before it, the pipe is left alone: the kernel's process reads its code from it.
        self.ready = b""
        self.resumed = False
        self.number = 0
        self.kept = KeptFrames()
        self.cell = 0
        self.announced = False
        self.running = False
        self.digest = b"-"
        self.deadline = self.interrupted_at = self.keep_s = self.kernel_left_at = 0.0
        self.left_at = time.monotonic()
        ours, theirs = _socket.socketpair()
        self._theirs = theirs.detach()
        ours_fd = ours.detach()
        self.kernel = Pipe(ours_fd, ours_fd)
        self._bell, self._ring = os.pipe()
        os.set_blocking(self._ring, False)

    def enter_kernel(self) -> int:
        """In the kernel's process, after it has read its code: take its end of the channel. Returns the bell."""
        for fd in (0, 1):
            os.dup2(self._theirs, fd)
        os.close(self._theirs)
        self.kernel.close()
        self.pipe.close()
        os.close(self._ring)
        return self._bell

    def stay(self) -> None:
        """In the first process: close the kernel's descriptors."""
        os.close(self._theirs)
        os.close(self._bell)

    def read_exactly(self, count: int) -> bytes:
        """Read from the first bridge, in the kernel's process."""
        parts = []
        while count:
            select.select((self.pipe.fd,), (), ())
            try:
                part = os.read(self.pipe.fd, min(count, 65536))
            except BlockingIOError:
                continue
            if not part:
                os._exit(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def say_hello(self, attempt: int) -> None:
        opened = ",".join(map(str, sorted(self.kept.begun)))
        words = [
            b"hello",
            b"version=3",
            b"generation=%d" % self.generation,
            b"attempt=%d" % attempt,
            b"got=%d" % self.got,
            b"there=%d" % (self.bridge is not None),
            b"busy=%d" % self.is_busy(),
            b"cell=%d" % self.cell,
            b"running=%d" % self.running,
            b"pending=%d" % (self.running or self.kept.done is not None),
            b"late=%d" % bool(self.interrupted_at),
            b"dropped=%d" % self.kept.dropped,
            b"deadline=%d" % int(self.deadline * 1000),
            b"digest=" + self.digest,
            b"open=" + (opened.encode() or b"-"),
        ]
        self.pipe.put(b" ".join(words) + b"\n")

    def is_busy(self) -> bool:
        """True if a connected bridge runs a cell, or is about to deliver its result."""
        is_fresh = self.kept.done is not None and time.monotonic() - self.kept.done_at < DELIVERY_S
        return self.bridge is not None and (self.running or is_fresh)

    def watched(self) -> "list[tuple[int, int]]":
        """Returns descriptors with the events to wait for."""
        fds = []
        bridge = self.bridge
        if self.kernel_left_at:
            pass  # its process is about to be reaped
        elif self.kept.has_room() and (bridge is None or max(bridge.queued, self.unread_bytes) < QUEUE_BYTES):
            fds.append((self.kernel.fd, select.POLLIN | (select.POLLOUT if self.kernel.queue else 0)))
        elif self.kernel.queue:
            fds.append((self.kernel.fd, select.POLLOUT))
        pipe = self.pipe
        hears = self.ready and self.kernel.queued < QUEUE_BYTES
        if not hears:
            self.heard_at = time.monotonic()
        # Without events, poll still reports the end.
        fds.append((pipe.fd, select.POLLIN if hears else 0))
        if pipe.queue:
            fds.append((pipe.out, select.POLLOUT))
        return fds

    def wait_ms(self) -> int:
        return int(TELL_S * 1000) if self.tell_at else 1000

    def handle(self, fd: int, events: int) -> None:
        pipe = self.pipe
        if fd == self.kernel.fd:
            if events & select.POLLOUT and not self.kernel.write():
                return
            if events & (select.POLLIN | select.POLLHUP):
                lines = self.kernel.read()
                if lines is None:
                    self.kernel_left_at = time.monotonic()
                for line in lines or ():
                    self.from_kernel(line)
        elif fd in (pipe.fd, pipe.out):
            if events & select.POLLOUT and not pipe.write():
                os._exit(0)  # the runtime no longer reads the output
            if events & (select.POLLIN | select.POLLHUP | select.POLLERR):
                # Also after a hang-up: read what the bridge wrote before it.
                if not self.ready:
                    os._exit(0)  # it closed while the kernel read its code
                lines = pipe.read()
                if lines is None:
                    os._exit(0)  # the runtime has closed stdin: no bridge can attach any more
                for line in lines:
                    self.from_bridge(line)
                if self.told_got != self.got and not self.tell_at:
                    self.tell_at = time.monotonic() + TELL_S
                if self.untold_bytes > TELL_BYTES:
                    self.tell_got()
        if pipe.queue and not self.pipe.write():
            return  # the next poll reports its end
        if self.kernel.queue:
            self.kernel.write()
            if self.kernel.queued > QUEUE_BYTES:
                self.ring()  # a busy kernel reads its input only when the bell rings

    def lose_bridge(self) -> None:
        self.bridge = None
        self.left_at = time.monotonic()

    def tick(self) -> "int | None":
        """Handle timeouts. Returns the exit code if the sandbox is to end."""
        now = time.monotonic()
        if self.kernel_left_at and now - self.kernel_left_at > GRACE_S:
            return 0  # a cell has closed its channel: no frame can be sent any more
        if self.bridge and now - self.heard_at > SILENT_S:
            self.lose_bridge()
        if self.tell_at and now >= self.tell_at:
            self.tell_got()
        if self.bridge:
            return None
        if self.ready and now - self.left_at > (self.keep_s or UNKEPT_S):
            return 0
        if self.running and self.deadline and time.time() > self.deadline:
            if not self.interrupted_at:
                self.interrupted_at = now
                self.interrupt()
            elif now - self.interrupted_at > GRACE_S:
                return 0
        return None

    def say_end(self, code: int) -> None:
        """Send the exit code, as far as possible."""
        pipe = self.pipe
        pipe.put(b"end %d\n" % code)
        limit = time.monotonic() + 1
        while pipe.queue and pipe.write() and time.monotonic() < limit:
            select.select((), (pipe.out,), (), 0.1)

    def from_kernel(self, line: bytes) -> None:
        kind, rest = kind_of(line)
        if kind == b"ready" and not self.ready:
            self.ready = line
            self.heard_at = self.left_at = time.monotonic()
            return
        self.number += 1
        if kind == b"call":
            number, rest = integer(rest, b',"id":')
            cell, _ = integer(rest, b',"cell":')
            if self.running and cell == self.cell:
                self.kept.call(number, self.number, line)
        elif kind == b"cancel":
            self.cancel(integer(rest, b',"id":')[0])
        elif (
            kind in (b"output", b"display", b"clear", b"done")
            and self.running
            and integer(rest, b',"cell":')[0] == self.cell
        ):
            if kind == b"done":
                self.running = False
                self.kept.finish(self.number, line)
            else:
                self.kept.show(self.number, line, self.acknowledged if self.bridge else None)
        if self.bridge and self.resumed:
            self.send(self.number, line)

    def send(self, number: int, line: bytes) -> None:
        assert self.bridge
        self.tell_got()
        is_trusted = line.startswith(CALL) and time.monotonic() - self.heard_at < TRUST_S
        if is_trusted:
            self.entrusted = number
        self.bridge.put(b"%d%s " % (number, b"!" if is_trusted else b"") + line)
        self.sent = number
        self.unread.append((number, len(line)))
        self.unread_bytes += len(line)

    def tell_got(self) -> None:
        self.tell_at = 0.0
        self.untold_bytes = 0
        if self.bridge and self.told_got != self.got:
            self.told_got = self.got
            self.bridge.put(b"got %d\n" % self.got)

    def send_kept(self, above: int) -> None:
        for number, line in self.kept.above(above):
            self.send(number, line)

    def cancel(self, number: int) -> None:
        """The cell no longer waits for this call."""
        self.kept.begun.discard(number)
        if not self.bridge:
            self.kept.drop_call(number)

    def from_bridge(self, line: bytes) -> None:
        """Handle a line: generation, number and checksum, then its content. Ignores lines that were mixed with another bridge's."""
        words = line.split(b" ", 3)
        if len(words) < 4 or not all(word.isdigit() and len(word) < 16 for word in words[:3]):
            return
        generation, number, checksum = map(int, words[:3])
        rest = words[3]
        if crc32(memoryview(rest)[:-1], crc32(b"%d %d" % (generation, number))) != checksum:
            return
        if number == 0:
            self.meet(generation, rest)
            return
        if generation != self.generation:
            return  # a late line of an earlier bridge
        self.heard_at = time.monotonic()
        if not self.bridge:
            # It was silent, but its connection did not break.
            self.bridge = self.pipe
            if self.resumed:
                self.send_kept(self.sent)
        if number == self.got + 1:
            self.got = number
            self.untold_bytes += len(rest)
            self.obey(rest)
        elif number > self.got and self.bridge and self.heard_at - self.again_at > AGAIN_S:
            self.again_at = self.heard_at
            self.bridge.put(b"again %d\n" % self.got)

    def meet(self, generation: int, line: bytes) -> None:
        """A bridge attaches, or asks for the state."""
        word, *more = line.split()
        attempt = int(more[0])
        is_next = generation > self.generation and not self.is_busy()
        if word == b"attach" and (is_next or generation == self.generation):
            if generation == self.generation and attempt < self.attempt:
                return  # from an earlier connection of the same bridge
            self.attach(generation, attempt, int(more[1]))
        else:
            self.say_hello(attempt)

    def attach(self, generation: int, attempt: int, have: int) -> None:
        if generation != self.generation:
            self.generation = generation
            self.got = 0
            self.acknowledged = 0
            self.resumed = False
            # The earlier bridge may have made these calls.
            self.kept.take_on(self.entrusted, self.running)
        self.attempt = attempt
        self.heard_at = time.monotonic()
        self.bridge = self.pipe
        self.told_got = self.got
        self.unread.clear()
        self.unread_bytes = 0
        self.sent = have
        self.say_hello(attempt)
        assert self.bridge
        self.bridge.put(b"0 " + self.ready)
        if self.resumed:
            self.send_kept(have)

    def obey(self, line: bytes) -> None:
        if line.startswith(b"{"):
            kind, rest = kind_of(line)
            if kind == b"reply":
                self.kept.answer(integer(rest, b',"id":')[0])
            elif kind == b"run" and self.announced:
                # Only now that the whole frame has arrived.
                self.announced = False
                self.running = True
            self.kernel.put(line)
            return
        word, *more = line.split()
        if word == b"ack":
            self.acknowledge(int(more[0]))
            if len(more) > 1:
                self.tell_got()
        elif word == b"cell":
            self.cell, self.deadline, self.digest = int(more[0]), int(more[1]) / 1000, more[2]
            self.announced = True
            self.interrupted_at = 0.0
            self.kept.release(self.number)
        elif word == b"release":
            self.kept.release(int(more[0]))
        elif word == b"interrupt":
            self.interrupt()
        elif word == b"resume":
            self.resume()
        elif word == b"keep":
            self.keep_s = float(more[0])
        elif word == b"leave":
            self.tell_got()
            self.lose_bridge()
        elif word == b"end":
            os._exit(0)

    def acknowledge(self, number: int) -> None:
        self.acknowledged = number
        while self.unread and self.unread[0][0] <= number:
            self.unread_bytes -= self.unread.popleft()[1]
        self.kept.take_on(number, self.running)

    def resume(self) -> None:
        """Send what no bridge has taken, and continue from there."""
        if self.resumed:
            return
        self.resumed = True
        if self.bridge:
            self.send_kept(self.sent)

    def interrupt(self) -> None:
        self.ring()
        self.kernel.put_first(b"\x03")
        self.kernel.write()
        self.ring()

    def ring(self) -> None:
        try:
            os.write(self._ring, b"!")
        except OSError:
            pass  # it is ringing already, or the kernel is gone, which its exit reports
