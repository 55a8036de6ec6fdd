"""The port of CPython: frames on two descriptors, and a signal (SIGIO) when input arrives, which lets an interrupt
reach a cell that computes or sleeps without a thread. It costs more than the rest of a reply: with a bell, a separate
descriptor, the bridge rings that around an interrupt, and replies raise no signal unless something other than the
session's loop waits. The end of the input ends the process at once."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from ..run.interrupts import Interrupts
    from .channel import Channel


_write = os.write  # the one of cells also empties the pipes of their output


class PipePort:
    CHUNK = 1 << 16  # most bytes per read

    def __init__(self, bell: int | None = None) -> None:
        # Moved from 0 and 1, which now belong to the cell; not inherited by programs it starts.
        self.fd = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
        self._out = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)
        self._bell = None
        if bell is not None:
            self._bell = fcntl.fcntl(bell, fcntl.F_DUPFD_CLOEXEC, 3)
            os.close(bell)
            os.set_blocking(self._bell, False)
        self._poll = select.poll()
        self._poll.register(self.fd, select.POLLIN)

    def watch(self, channel: Channel, interrupts: Interrupts) -> None:
        """From now on, process input whatever the main thread is doing."""

        def take_in() -> None:
            self._hear_bell()
            if not channel.waiting:
                # In a signal handler, contextlib.suppress would itself need stack, and for each reply some time.
                try:
                    channel.pump(in_handler=True)
                except RecursionError:
                    pass  # the cell is at the limit of its stack; the next read gets the bytes

        def on_input(_signum: int, frame: FrameType | None) -> None:
            if not channel.detached:
                interrupts.handle(frame, take_in)

        self._channel, self._interrupts = channel, interrupts
        signal.signal(signal.SIGIO, on_input)
        for fd in (self.fd, self._bell):
            if fd is not None:
                fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
        self._flags = fcntl.fcntl(self.fd, fcntl.F_GETFL)
        fd = self.fd if self._bell is None else self._bell
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)

    def _hear_bell(self) -> None:
        if self._bell is not None:
            try:
                os.read(self._bell, 64)
            except OSError:
                pass  # it was not the bell, or the cell has closed it

    def announce(self, on: bool) -> None:
        """Choose whether replies raise the signal, too. Without a bell, they always do."""
        if self._bell is not None:
            fcntl.fcntl(self.fd, fcntl.F_SETFL, self._flags | os.O_ASYNC if on else self._flags)

    def nudge(self) -> None:
        """Called regularly by another thread: signal again if an interrupt could not be raised yet, or if there is unread
        input. A signal that arrives just before the main thread blocks, in a lock or in a loop of the cell, is otherwise
        handled only when that returns."""
        if self._interrupts.is_pending or (not self._channel.waiting and select.select((self.fd,), (), (), 0)[0]):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGIO)

    def is_unheard(self) -> bool:
        """True if something has arrived that the main thread does not take in, and that can only be an interrupt."""
        # Another thread asks, and a poll object serves one thread at a time.
        if self._bell is not None:
            return bool(select.select((self._bell,), (), (), 0)[0])
        return not self._channel.is_calling and bool(select.select((self.fd,), (), (), 0)[0])

    def wait(self, seconds: float | None) -> bool:
        """Block until there is input, or for `seconds` (None: forever). Returns True if there is input."""
        return bool(self._poll.poll(None if seconds is None else max(0, seconds) * 1000))

    def read_available(self) -> bytes:
        """Return the available input; b"" if there is none."""
        if not self._poll.poll(0):
            return b""
        try:
            data = os.read(self.fd, self.CHUNK)
        except OSError:
            data = b""  # raised for a socket whose peer closed it with our bytes unread
        if not data:
            os._exit(0)
        return data

    def write(self, data: memoryview) -> int:
        """Write a part of the data. Returns the number of bytes."""
        try:
            return _write(self._out, data)
        except BlockingIOError:
            select.select((), (self._out,), ())
            return 0
        except OSError:
            os._exit(0)  # the bridge is gone, or the cell has closed our descriptor: no frame can be sent any more
