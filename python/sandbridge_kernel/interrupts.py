"""Interrupts: when a 0x03 from the bridge becomes a KeyboardInterrupt in the running cell, and when it has to wait.

It must not be raised inside the kernel's own bookkeeping (half a frame written, bytes read but not kept), nor inside an
event loop's (a task taken from its queue but not yet put back would never run again). Sections of the first kind are Gates.
"""

from __future__ import annotations

from _thread import allocate_lock, get_ident
from collections import deque
from sys import _getframe, getrecursionlimit, version_info
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

    _Handler = Callable[[int, FrameType | None], Any]


class Interrupts:
    def __init__(self) -> None:
        self._main = get_ident()
        self._depth: dict[int, int] = {}  # thread -> number of gates it is inside
        self._pending = False
        self._armed = False
        self._handling = False
        # Handlers of the cell's own whose signals came inside a gate.
        self._deferred: deque[tuple[_Handler, int, FrameType | None]] = deque()
        # The session's event loop; its code, and where else code of event loops is. Set by the session.
        self.loop: asyncio.AbstractEventLoop | None = None
        self.loop_code: frozenset[CodeType] = frozenset()
        self.loop_files: tuple[str, ...] = ()

    def arm(self) -> None:
        """A cell starts: from here on an interrupt hits it. One that came after its `run` frame does so at once."""
        self._armed = True
        self.check()

    def disarm(self) -> None:
        """The cell is over; what was meant for it must not hit the next one."""
        self._armed = False
        self._pending = False

    def expect(self) -> None:
        """An interrupt came after a `run` frame that is not started yet."""
        self._pending = True

    def request(self) -> None:
        """An interrupt has come. With no cell running it does nothing."""
        self._pending = self._pending or self._armed

    def handle(self, frame: FrameType | None, take_in: Callable[[], None] | None = None) -> None:
        """What a signal handler does: take in what has come, then raise what is waiting, unless `frame`, which the signal
        has broken into, is the session's loop at work. That comes to its select soon, where nothing can be lost."""
        nested, self._handling = self._handling, True
        try:
            if take_in:
                take_in()
            if nested or self._in_loop(frame):
                return
        finally:
            self._handling = nested
        self.check()

    def _in_loop(self, frame: FrameType | None) -> bool:
        # Down the stack as long as it is code of event loops. Code of the cell that calls into a loop may never return to
        # the loop's select, so it need not be waited for.
        while frame is not None and frame.f_code.co_filename in self.loop_files:
            if frame.f_code in self.loop_code and frame.f_locals.get("self") is self.loop:
                return True
            frame = frame.f_back
        return False

    def check(self) -> None:
        """Raise the interrupt that is waiting, where it can be raised."""
        if self._pending and self._armed and not self._depth.get(self._main):
            self._pending = False
            raise KeyboardInterrupt

    def is_main(self) -> bool:
        return get_ident() == self._main

    def inside_gate(self) -> bool:
        """Whether this thread is inside a gate already: then this is a signal handler or a finaliser that broke into it,
        and it must leave its work to the section under way, or it would wait for itself."""
        return bool(self._depth.get(get_ident()))

    def enter(self) -> None:
        me = get_ident()
        self._depth[me] = self._depth.get(me, 0) + 1

    def leave(self) -> None:
        me = get_ident()
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
        """Run a signal handler of the cell's own; inside a gate, at its end. Main thread only, as Python has it."""
        if self._depth.get(self._main):
            self._deferred.append((handler, signum, frame))
        elif self._armed:
            handler(signum, frame)
        else:
            try:
                handler(signum, frame)
            except BaseException:
                pass  # no cell is running that it could be meant for

    def after_fork(self) -> None:
        self._depth.clear()
        self._main = get_ident()


ROOM = 30  # frames: about twice what any section of the kernel's needs


_nests: dict[int, Any] = {}


def _go_down(levels: int = ROOM) -> None:
    nest = _nests.get(levels)
    if nest is None:
        nest = int
        for _ in range(levels):
            nest = (nest,)
        _nests[levels] = nest
    # Goes as deep as the tuples are nested. Up to 3.11 the limit counts C's recursion and Python's as one.
    isinstance(None, nest)


def _count_frames(levels: int = ROOM) -> None:
    try:
        _getframe(getrecursionlimit() - levels)
    except ValueError:
        return  # the stack is not that deep
    raise RecursionError("maximum recursion depth exceeded")


# Raises RecursionError now, while nothing is half done, if the cell has left the kernel too little of the stack. From 3.12 on
# Python's limit counts its frames and nothing else: looking is ten times quicker than going there, and every call does it.
need_room = _count_frames if version_info >= (3, 12) else _go_down


class Gate:
    """A lock that holds interrupts back while it is held, and knows whether this thread is inside.

    Call `need_room` before entering it.
    """

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._lock = allocate_lock()
        self._inside: set[int] = set()  # threads

    def mine(self) -> bool:
        return get_ident() in self._inside

    def __enter__(self) -> None:
        self._interrupts.enter()
        # Before the lock is taken, and until after it is given back: a signal handler may break in between, and if it does
        # not know that its own thread is here, it waits for itself.
        self._inside.add(get_ident())
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        self._inside.discard(get_ident())
        self._interrupts.leave()

    def after_fork(self) -> None:
        """The thread that held it does not exist in the child."""
        self._lock = allocate_lock()
        self._inside = set()
