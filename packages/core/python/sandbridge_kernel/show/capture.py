"""Captures what reaches file descriptors 1 and 2 without sys.stdout (subprocesses, C libraries), by pipes in their
place: nothing can write into the frames. A thread empties them, or each flush where there are no threads."""

from __future__ import annotations

import codecs
import os
import sys
from functools import wraps
from typing import TYPE_CHECKING

from ..run.interrupts import Gate, need_room

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import ReadableBuffer

    from ..run.interrupts import Interrupts
    from ..wire.channel import Channel
    from ..wire.frame_types import Stream
    from .output import Output

_CHUNK = 1 << 16
_NAMES = frozenset(
    f"{place}{name}"
    for place, names in (("/dev/", ("stdout", "stderr", "fd/1", "fd/2")), ("/proc/self/fd/", ("1", "2")))
    for name in names
)
_LOOK_MS = 50
_IDLE_LOOK_MS = 1000
# Most bytes of one drain: a process that never stops writing must not keep a cell from ending. In Pyodide nothing
# writes meanwhile, and the rest would only appear in the next cell.
_DRAIN_BYTES = sys.maxsize if sys.platform == "emscripten" else 1 << 20


class Capture:
    def __init__(self, channel: Channel, output: Output, interrupts: Interrupts) -> None:
        self._channel, self._output = channel, output
        self._interrupts = interrupts
        self._draining = Gate(interrupts)
        self._pipes: list[tuple[int, Stream, Callable[[bytes], str]]] = []
        self._writers: dict[int, tuple[int, int]] = {}  # descriptor -> a second one of its pipe, and that pipe
        streams: tuple[tuple[int, Stream], ...] = ((1, "stdout"), (2, "stderr"))
        for fd, stream in streams:
            reader, writer = os.pipe()
            os.dup2(writer, fd)
            self._writers[fd] = writer, os.fstat(writer).st_ino
            os.set_blocking(reader, False)
            self._pipes.append((reader, stream, codecs.getincrementaldecoder("utf-8")("replace").decode))
        output.before_batch = self.drain

    def start_thread(self, look_after: Callable[[], None]) -> None:
        """Empty the pipes as they fill, and send what the cell printed and call `look_after` regularly. CPython only."""
        from _thread import start_new_thread
        from select import POLLIN, poll

        waiter = poll()
        for reader, _, _ in self._pipes:
            waiter.register(reader, POLLIN)

        def run() -> None:
            while True:
                if waiter.poll(_LOOK_MS if self._channel.running else _IDLE_LOOK_MS):
                    self.drain()
                if self._channel.running:
                    self._output.flush_due()
                look_after()

        start_new_thread(run, ())

    def take_over(self) -> None:
        """At the start of a cell: the cell before may have closed the descriptors, or given them to others."""
        for fd, (writer, _) in self._writers.items():
            if not self.is_here(fd):
                os.dup2(writer, fd)
        try:
            os.fstat(0)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)  # gets 0, the lowest free number, again

    def is_here(self, fd: int) -> bool:
        """True if what is written to this descriptor comes here."""
        try:
            return any(os.fstat(fd).st_ino == pipe for _, pipe in self._writers.values())
        except OSError:
            return False

    def note_opened(self, path: object) -> None:
        """The cell opens a file."""
        if (type(path) is int and self.is_here(path)) or (type(path) is str and path in _NAMES):
            self._output.others = self._output.mixed = True

    def wrap_write(self) -> None:
        """Make os.write keep the order of what is printed before and after it."""
        real = os.write

        @wraps(real)
        def write(fd: int, data: ReadableBuffer, /) -> int:
            if (fd != 1 and fd != 2) or self._channel.detached:
                return real(fd, data)
            self._output.flush()
            written = real(fd, data)
            self.drain()
            return written

        os.write = write

    def drain(self) -> None:
        """Send everything written so far, after the text printed before it."""
        if self._interrupts.inside_gate():
            return
        need_room()
        with self._draining:
            for reader, stream, decode in self._pipes:
                seen = 0
                while seen < _DRAIN_BYTES:
                    try:
                        data = os.read(reader, _CHUNK)
                    except BlockingIOError:
                        break
                    except OSError:
                        break  # closed by the cell, which only loses its own output
                    if not data:
                        break
                    seen += len(data)
                    if text := decode(data):
                        self._output.send_now(stream, text)

    def after_fork(self) -> None:
        """In the child: the parent reads."""
        self._draining.after_fork()
        self._output.before_batch = None
