"""Interrupts: when a 0x03 from the bridge becomes a KeyboardInterrupt in the running cell, and when it has to wait.

It must not be raised inside the kernel's own bookkeeping (half a frame written, bytes read but not kept), nor inside
an event loop's (a callback taken from its queue but not yet called would be lost). All of it concerns the main thread only.
"""

from _thread import allocate_lock, get_ident


class Interrupts:
    def __init__(self):
        self._main = get_ident()
        self._held = 0
        self._pending = False
        self._armed = False
        self.loop = None  # the session's event loop, whose own frames must not be interrupted
        self.loop_codes = frozenset()

    def arm(self):
        """A cell starts: from here on an interrupt hits it. One that came between its `run` frame and now does so at once."""
        self._armed = True
        self.check()

    def disarm(self):
        """The cell is over; what was meant for it must not hit the next one."""
        self._armed = False
        self._pending = False

    def expect(self):
        """An interrupt that was sent after a `run` frame which is read but not started yet."""
        self._pending = True

    def request(self, frame=None):
        """An interrupt has come; `frame` is what the main thread was executing."""
        if not self._armed:
            return
        self._pending = True
        if not self._in_loop(frame):
            self.check()

    def check(self):
        """Raise the interrupt that is waiting, if this is a place where it can be raised."""
        if self._pending and self._armed and not self._held:
            self._pending = False
            raise KeyboardInterrupt

    def _in_loop(self, frame):
        if frame is None or frame.f_code not in self.loop_codes:
            return False
        owner = frame.f_locals.get("self")
        return getattr(owner, "_loop", owner) is self.loop

    def is_main(self):
        return get_ident() == self._main

    def hold(self):
        if get_ident() == self._main:
            self._held += 1

    def release(self):
        if get_ident() == self._main:
            self._held -= 1
            if self._pending:
                self.check()


class Gate:
    """A lock that holds interrupts back and knows its owner.

    The owner matters because a signal handler or a finaliser may run in the middle of a guarded section, in the same
    thread, and print: it asks `mine()` first and leaves its work to the section that is under way.
    """

    def __init__(self, interrupts):
        self._interrupts = interrupts
        self._lock = allocate_lock()
        self._owner = None

    def mine(self):
        return self._owner == get_ident()

    def __enter__(self):
        self._interrupts.hold()
        self._lock.acquire()
        self._owner = get_ident()

    def __exit__(self, *_):
        self._owner = None
        self._lock.release()
        self._interrupts.release()

    def reset(self):
        """After a fork: whoever held it does not exist in the child."""
        self._lock = allocate_lock()
        self._owner = None
