"""The channel: sends complete frames, reads input, and delivers every reply to the call that waits for it. Only the
main thread reads; any thread may send and wait. It does not know what a call means."""

from __future__ import annotations

import re
from _thread import allocate_lock
from asyncio import get_running_loop
from collections import deque
from itertools import count
from typing import TYPE_CHECKING

from ..run.interrupts import Gate, need_room
from . import frames

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import Any

    from ..run.interrupts import Interrupts
    from .frame_types import CallFrame, KernelFrame, ReplyError, ReplyFrame, RunFrame
    from .port import Port

    # Destination of a reply: a future and its loop, or a function.
    _Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Future[ReplyFrame]] | tuple[None, Callable[[ReplyFrame], object]]
    _Arrived = dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[ReplyFrame], ReplyFrame]]]

_INTERRUPT = b"\x03"
_JOINED_BYTES = 1 << 14  # of lines per write, so that the bridge can start on them while the next ones are made
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})\b')


class Channel:
    def __init__(self, port: Port, interrupts: Interrupts) -> None:
        self._port = port
        self._interrupts = interrupts
        self._sending = Gate(interrupts)
        self._outbox: deque[bytes] = deque()
        self._sent = 0  # bytes already sent of the first line in it
        self._room = 0  # bytes of calls that may stay in the outbox in this turn of the session's loop
        self._reading = Gate(interrupts)
        self._wanted = False  # input arrived while the reading gate was held
        self._incomplete = bytearray()  # the line that has not ended yet
        self._lost = False  # the rest of that line is discarded
        # Complete lines; None marks an interrupt between them.
        self._lines: deque[bytes | bytearray | None] = deque()
        self._runs: deque[RunFrame] = deque()
        self._waiters: dict[int, _Waiter] = {}  # by call id
        self._elsewhere: set[int] = (
            set()
        )  # ids of calls that something other than the session's loop or this thread waits for
        self._ids = count(1)
        self.waiting = False  # the main thread is about to read: a signal handler must leave it the bytes
        self.cell = 0
        self.running = False
        self.detached = False  # in a forked child, which must not use the parent's channel

    def begin_cell(self, number: int) -> None:
        self.cell = number
        self.running = True

    def end_cell(self) -> None:
        """The bridge drops the open calls of a cell that has ended. Threads that still wait get an error."""
        self.running = False
        error: ReplyError = {"code": "CANCELLED", "message": "The cell ended before the call did"}
        arrived: _Arrived = {}
        for number in list(self._waiters):
            self._accept({"type": "reply", "id": number, "error": error}, arrived)
        for loop, batch in arrived.items():
            _settle_in(loop, batch)

    # ---- sending

    def send(self, frame: KernelFrame) -> None:
        """Raises RecursionError, with nothing sent, if the cell is at the limit of its stack."""
        if not self._interrupts.inside_gate():
            need_room()
        self.send_line(frames.encode(frame))

    def send_line(self, line: bytes) -> None:
        """Send an encoded frame. Frames of several threads, signal handlers and finalisers never mix. Call `need_room`
        first."""
        if self._sending.mine():
            self._outbox.append(line)  # in a signal handler or finaliser: the code that it interrupted sends the line
            return
        with self._sending:
            self._outbox.append(line)
            self._send_outbox()
        while self._outbox:
            with self._sending:
                self._send_outbox()

    def send_rest(self) -> None:
        """Called at the end of a turn of the session's loop: send what is left in the outbox."""
        self._room = 0
        if self._outbox:
            need_room()
            with self._sending:
                self._send_outbox()

    def _join_outbox(self) -> None:
        lines: list[bytes] = []
        size = 0
        # Lines added meanwhile follow these.
        while self._outbox and size < _JOINED_BYTES:
            lines.append(self._outbox.popleft())
            size += len(lines[-1])
        self._outbox.appendleft(b"".join(lines))

    def _send_outbox(self) -> None:
        while self._outbox:
            if not self._sent and len(self._outbox) > 1:
                self._join_outbox()
            # Removed only after it is sent completely: if this is interrupted, the next sender sends the rest.
            first = self._outbox[0]
            while self._sent < len(first):
                self._sent += self._port.write(memoryview(first)[self._sent :])
            self._outbox.popleft()
            self._sent = 0

    # ---- calling

    async def call(
        self, method: str, params: dict[str, Any], default: Callable[[Any], Any] | None = None
    ) -> ReplyFrame:
        """Call the bridge and return its `reply` frame. If cancelled, cancels the call in the bridge. Call `need_room` first."""
        loop = get_running_loop()
        future: asyncio.Future[ReplyFrame] = loop.create_future()
        number = next(self._ids)
        try:
            self._open_call(number, method, params, default, (loop, future))
            if wait := getattr(loop, "wait_in_place", None):
                wait()
            return await future
        finally:
            self._close_call(number)

    def call_sync(self, method: str, params: dict[str, Any], default: Callable[[Any], Any] | None = None) -> ReplyFrame:
        """Like `call`, but blocks this thread."""
        number = next(self._ids)
        slot: list[ReplyFrame] = []
        deliver: Callable[[ReplyFrame], object]
        wait: Callable[[], object]
        if self._interrupts.is_main():
            deliver, wait = slot.append, lambda: self._wait_until(slot.__len__)
        else:
            arrived = allocate_lock()
            arrived.acquire()
            wait = arrived.acquire

            def deliver(reply: ReplyFrame) -> None:
                slot.append(reply)
                arrived.release()

        try:
            self._open_call(number, method, params, default, (None, deliver))
            wait()
            return slot[0]
        finally:
            self._close_call(number)

    def _open_call(
        self, number: int, method: str, params: dict[str, Any], default: Callable[[Any], Any] | None, waiter: _Waiter
    ) -> None:
        if self.detached:
            raise RuntimeError("a forked child cannot call the bridge; call from the process that runs the cell")
        if not self.running:
            raise RuntimeError("no cell is running: a thread can call the bridge only while one is")
        frame: CallFrame = {"type": "call", "id": number, "cell": self.cell, "method": method, "params": params}
        line = frames.encode(frame, default)
        self._waiters[number] = waiter
        if waiter[0] is None or waiter[0] is not self._interrupts.loop:
            if waiter[0] is not None or not self._interrupts.is_main():
                self._elsewhere.add(number)
                self._port.announce(True)
        else:
            # A turn's first call is sent at once, others in few writes, the largest cost of five hundred calls.
            self._room -= len(line)
            if self._room > 0:
                self._outbox.append(line)
                return
            self._room = _JOINED_BYTES
        self.send_line(line)

    def _close_call(self, number: int) -> None:
        if number in self._elsewhere:
            self._elsewhere.discard(number)
            if not self._elsewhere and not self.detached:
                self._port.announce(False)  # if one has been added meanwhile, the port's nudges take over
        if self._waiters.pop(number, None) is not None and not self.detached:
            try:
                self.send({"type": "cancel", "id": number})
            except RecursionError:
                pass  # the cell is at the limit of its stack; the bridge cancels the call when the cell ends

    # ---- reading

    def next_run(self) -> RunFrame:
        """Block until the bridge sends a cell to run."""
        self._wait_until(self._runs.__len__)
        return self._runs.popleft()

    def _wait_until(self, done: Callable[[], object]) -> None:
        while True:
            # Set before `done()` is checked: a reply is then either seen by it, or still unread and ends the wait.
            self.waiting = True
            try:
                if done():
                    return
                if not self._lines:
                    self._port.wait(None)
            finally:
                self.waiting = False
            self.take_in()

    def pump(self, in_handler: bool = False) -> None:
        """Process input, at any stack depth. Raises RecursionError, with nothing read, at the limit of the stack."""
        if not self._interrupts.inside_gate():
            need_room()
        self.take_in(in_handler)

    def take_in(self, in_handler: bool = False) -> None:
        """Process input without blocking. Raises KeyboardInterrupt if it contains an interrupt; a signal handler raises that
        itself, since it knows which code it has interrupted. Call `need_room` first."""
        self._wanted = True
        while self._wanted and not self._reading.mine():
            with self._reading:
                self._wanted = False
                while data := self._port.read_available():
                    self._feed(data)
                    if len(data) < self._port.CHUNK:
                        break  # there was no more; later input is announced again
                if self._route(in_handler):
                    self._interrupts.request()
        if not in_handler:
            self._interrupts.check()

    @property
    def is_calling(self) -> bool:
        return bool(self._waiters)

    @property
    def unread(self) -> bool:
        return bool(self._lines)

    def _feed(self, data: bytes) -> None:
        """Split bytes into lines. Linear: a bytearray grows by an eighth of its length, mostly without a copy."""
        if _INTERRUPT in data:
            first, *rest = data.split(_INTERRUPT)
            self._feed(first)
            for piece in rest:
                self._lines.append(None)
                self._feed(piece)
            return
        *ends, start = data.split(b"\n")
        for end in ends:
            if self._incomplete or self._lost:
                self._keep(end)
                self._lines.append(self._incomplete)
                self._incomplete, self._lost = bytearray(), False
            else:
                self._lines.append(end)
        if start:
            self._keep(start)

    def _keep(self, piece: bytes) -> None:
        """Add to the incomplete line, unless that can no longer be a frame."""
        if self._lost:
            return
        try:
            self._incomplete += piece
        except MemoryError:
            self._incomplete, self._lost = bytearray(_no_memory(self._incomplete)), True
        if len(self._incomplete) >= frames.MAX_FRAME_BYTES:
            self._incomplete, self._lost = bytearray(), True  # too long to be a frame

    def _route(self, in_handler: bool) -> bool:
        """Deliver the complete lines, in order. Returns True if one was an interrupt for the running cell."""
        interrupted = False
        arrived: _Arrived = {}
        while self._lines:
            line = self._lines[0]
            if line is None:
                if self._runs:
                    self._interrupts.expect()
                interrupted = True
            elif line:
                try:
                    self._accept(frames.decode(line), arrived)
                except frames.FrameError:
                    pass  # dropped, as the protocol requires; not counted, since the bridge is trusted
                except MemoryError:
                    self._lines[0] = line = _no_memory(line)
                    self._accept(frames.decode(line), arrived)
                except RecursionError:
                    if in_handler:
                        break  # the cell may be at the limit of its stack: keep the line for later
                    self._accept(_too_deep(line), arrived)
            self._lines.popleft()
        for loop, batch in arrived.items():
            if loop is self._interrupts.loop and not in_handler:
                _settle(batch)  # this thread's loop, which is not waiting
            else:
                _settle_in(loop, batch)
        return interrupted

    def _accept(self, frame: RunFrame | ReplyFrame, arrived: _Arrived) -> None:
        if frame["type"] == "run":
            self._runs.append(frame)
            return
        waiter = self._waiters.pop(frame["id"], None)
        if waiter is None:
            return
        if waiter[0] is None:
            waiter[1](frame)
        else:
            arrived.setdefault(waiter[0], []).append((waiter[1], frame))

    def after_fork(self) -> None:
        """In the child: never use the parent's channel."""
        self.detached = True
        self._sending.after_fork()
        self._reading.after_fork()
        self._outbox.clear()


def _settle_in(loop: asyncio.AbstractEventLoop, batch: list[tuple[asyncio.Future[ReplyFrame], ReplyFrame]]) -> None:
    """Settle the futures of a loop, from any thread."""
    try:
        loop.call_soon_threadsafe(_settle, batch)
    except RuntimeError:
        pass  # that loop is closed, so no call waits


def _settle(batch: list[tuple[asyncio.Future[ReplyFrame], ReplyFrame]]) -> None:
    for future, reply in batch:
        if not future.done():
            future.set_result(reply)


def _no_memory(line: bytes | bytearray) -> bytes:
    """Returns a reply that ends a call whose real reply does not fit into memory. A reply has its id near the start."""
    found = _ID.search(line, 0, 200)
    error = b'{"code":"FRAME_TOO_LARGE","message":"The sandbox has not enough memory for the answer","hint":"Ask for less at a time."}'
    return b'{"type":"reply","id":%s,"error":%s}' % (found[1] if found else b"0", error)


def _too_deep(line: bytes | bytearray) -> ReplyFrame:
    """Returns an error for a call whose reply is nested too deeply for Python's parser."""
    found = _ID.search(line, 0, 200) or _ID.search(line, max(0, len(line) - 200))
    error: ReplyError = {
        "code": "FRAME_INVALID",
        "message": "Python's recursion limit was reached while the reply was read",
        "hint": "The reply is nested too deeply, or the cell recurses without end.",
    }
    return {"type": "reply", "id": int(found[1]) if found else 0, "error": error}
