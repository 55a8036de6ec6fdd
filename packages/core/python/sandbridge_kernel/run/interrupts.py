"""Decides when a 0x03 from the bridge becomes a KeyboardInterrupt in the running cell. Never inside the kernel's own
bookkeeping (half a frame written: these sections are Gates), nor in asyncio's own code: there it would take away the
next step of a task, which would then wait for ever. Nor in what cleans up after objects: Python would ignore it."""

from __future__ import annotations

import _weakrefset
import weakref
from _thread import allocate_lock, get_ident
from asyncio import events
from collections import deque
from sys import _getframe, getrecursionlimit, version_info
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    _Handler = Callable[[int, FrameType | None], Any]

ASYNCIO = events.Handle._run.__code__.co_filename.rpartition("/")[0] + "/"  # noqa: SLF001
_NEVER_IN = (
    ASYNCIO,
    *(one.__init__.__code__.co_filename for one in (_weakrefset.WeakSet, weakref.WeakValueDictionary)),
)
_PHASES = 50  # Pyodide looks for an interrupt each time that it has seen so many calls and jumps


class Interrupts:
    def __init__(self) -> None:
        self._main = get_ident()
        self._depth: dict[int, int] = {}  # thread -> number of gates it is in
        self._pending = False
        self._armed = False
        self._handling = False
        self.raised = False  # an interrupt was raised since this was set to False
        # The cell's own signal handlers, deferred because their signals arrived inside a gate.
        self._deferred: deque[tuple[_Handler, int, FrameType | None]] = deque()
        self.loop: asyncio.AbstractEventLoop | None = None  # the session's
        # Makes the signal of an interrupt come again. Without it, a thread asks `is_pending` and sends one.
        self.put_back: Callable[[], object] | None = None
        self._phase = 0

    def arm(self) -> None:
        """A cell starts: interrupts now apply to it, including one that arrived after its `run` frame."""
        self._armed = True
        self.check()

    def disarm(self) -> None:
        """The cell has ended; its interrupt must not hit the next one."""
        self._armed = False
        self._pending = False

    def expect(self) -> None:
        """An interrupt arrived after a `run` frame that has not started yet."""
        self._pending = True

    def request(self) -> None:
        """An interrupt has arrived. Ignored if no cell is running."""
        self._pending = self._pending or self._armed

    @property
    def is_pending(self) -> bool:
        """True if an interrupt waits for a place where it can be raised in the running cell."""
        return self._pending and self._armed

    def handle(self, frame: FrameType | None, take_in: Callable[[], None] | None = None) -> None:
        """The work of a signal handler: process input, then raise a pending interrupt, unless `frame`, the interrupted code, is
        asyncio's or weakref's. A later signal then finds other code: the select of a loop, or code that asyncio has called."""
        nested, self._handling = self._handling, True
        try:
            if take_in:
                take_in()
            if nested or (frame is not None and frame.f_code.co_filename.startswith(_NEVER_IN)):
                if self.is_pending:
                    self.put_off()
                return
        finally:
            self._handling = nested
        self.check()

    def put_off(self) -> None:
        if self.put_back:
            # Not at the same place of the code each time: a loop in it could repeat with the same period.
            self._phase = (self._phase + 1) % _PHASES
            for _ in range(self._phase):
                pass
            self._pending = False  # the next signal brings it
            self.put_back()
        elif (loop := events._get_running_loop()) is not None and loop is not self.loop:  # noqa: SLF001
            loop.call_soon_threadsafe(self.check)  # a loop of the cell does not check in its select

    def check(self) -> None:
        """Raise the pending interrupt, if it can be raised here."""
        if self._pending and self._armed and not self._depth.get(self._main):
            self._pending = False
            self.raised = True
            raise KeyboardInterrupt

    def is_main(self) -> bool:
        return get_ident() == self._main

    def inside_gate(self) -> bool:
        """True if this thread is inside a gate: this is then a signal handler or a finaliser that interrupted it,
        and must leave its work to the code in the gate, or it would wait for itself."""
        return bool(self._depth.get(get_ident()))

    def enter(self, me: int) -> None:
        self._depth[me] = self._depth.get(me, 0) + 1

    def leave(self, me: int) -> None:
        depth = self._depth.get(me, 1) - 1
        if depth:
            self._depth[me] = depth
            return
        self._depth.pop(me, None)
        if me == self._main and (self._pending or self._deferred):
            try:
                while self._deferred:
                    self.run_or_defer(*self._deferred.popleft())
            finally:
                if not self._handling:
                    self.check()

    def run_or_defer(self, handler: _Handler, signum: int, frame: FrameType | None) -> None:
        """Run a signal handler of the cell; inside a gate, at its end. Main thread only, as in Python."""
        if self._depth.get(self._main):
            self._deferred.append((handler, signum, frame))
        elif self._armed:
            handler(signum, frame)
        else:
            try:
                handler(signum, frame)
            except BaseException:
                pass  # no cell is running, so its exception belongs to none

    def after_fork(self) -> None:
        self._depth.clear()
        self._main = get_ident()


ROOM = 30  # frames: about twice the need of any section of the kernel


_nests: dict[int, Any] = {}


def _go_down(levels: int = ROOM) -> None:
    nest = _nests.get(levels)
    if nest is None:
        nest = int
        for _ in range(levels):
            nest = (nest,)
        _nests[levels] = nest
    # Recurses as deep as the tuples are nested. Up to 3.11, one limit covers the recursion of C and Python.
    isinstance(None, nest)


def _count_frames(levels: int = ROOM) -> None:
    try:
        _getframe(getrecursionlimit() - levels)
    except ValueError:
        return  # the stack is not that deep
    raise RecursionError("maximum recursion depth exceeded")


# Raises RecursionError now, while nothing is half done, if the cell has left too little stack for the kernel. From 3.12
# on, Python's limit counts only Python frames: checking is ten times faster than recursing, and every call does it.
need_room = _count_frames if version_info >= (3, 12) else _go_down


class Gate:
    """A lock that delays interrupts while it is held, and knows its thread. Call `need_room` before entering it."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._lock = allocate_lock()
        self._inside: set[int] = set()  # threads

    def mine(self) -> bool:
        return get_ident() in self._inside

    def __enter__(self) -> None:
        me = get_ident()
        self._interrupts.enter(me)
        # Before the lock is taken, and until after its release: a signal handler may run in between, and would wait for
        # itself if it did not know that its own thread is here.
        self._inside.add(me)
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        me = get_ident()
        self._inside.discard(me)
        self._interrupts.leave(me)

    def after_fork(self) -> None:
        """The thread that held it does not exist in the child."""
        self._lock = allocate_lock()
        self._inside = set()
