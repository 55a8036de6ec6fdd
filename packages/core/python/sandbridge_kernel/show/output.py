"""A cell's printed output: streams for sys.stdout and sys.stderr that become `output` frames, in order and in batches.
capture.py handles what reaches file descriptors 1 and 2 without these streams (subprocesses, C)."""

from __future__ import annotations

import codecs
import gc
import io
import os
import sys
from collections import deque
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING

from ..run.interrupts import Gate, need_room

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from _typeshed import ReadableBuffer

    from ..run.interrupts import Interrupts
    from ..wire.channel import Channel
    from ..wire.frame_types import Stream

_BATCH_CHARS = 16 * 1024
_FRAME_CHARS = 1 << 20  # longer texts are split, so that no frame comes near the limit
_BATCH_SECONDS = 0.05
_END_CHARS = 4_000
_write = os.write  # the one of cells also empties the pipes of their output
_WRITERS = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


class Output:
    """Both streams of a kernel. They share one queue, which keeps their order."""

    def __init__(self, channel: Channel, interrupts: Interrupts) -> None:
        self._channel = channel
        self._interrupts = interrupts
        self._flushing = Gate(interrupts)
        self.parts: deque[tuple[Stream, str]] = deque()  # (stream, text)
        self.chars = 0
        self.due = 0.0
        self.has_shown = False  # this cell has shown something
        self.stderr_end = ""  # of what this cell and its programs have written there
        self.before_batch: Callable[[], None] | None = None  # set by capture.py
        # A cell writes to the descriptors by other ways: what is printed next has to follow that.
        self.mixed = False
        self.others = False  # there may be other files that write here
        self._c_library: Any = None
        self.stdout = TextStream(self, "stdout", 1)
        self.stderr = TextStream(self, "stderr", 2)

    def flush(self) -> None:
        """Send buffered text. Can be called from any thread."""
        if self.parts and not self._interrupts.inside_gate():
            need_room()
            self._flush()

    def flush_due(self) -> None:
        """Send text that has waited for more of its batch long enough: a cell that computes on prints nothing that would send it."""
        if monotonic() >= self.due:
            self.flush()

    def send_now(self, stream: Stream, text: str) -> None:
        """Send text that does not come through the streams. For capture.py, from inside its gate."""
        self._flush()
        with self._flushing:
            self._send(stream, text)

    def take_over(self) -> None:
        """At the start of a cell, and of the kernel: the cell before may have replaced or closed these."""
        sys.stdout = sys.__stdout__ = self.stdout  # type: ignore[misc, assignment]
        sys.stderr = sys.__stderr__ = self.stderr  # type: ignore[misc, assignment]
        if sys.stdin is None or getattr(sys.stdin, "closed", False):
            sys.stdin = sys.__stdin__ = open(os.devnull, encoding="utf-8")  # type: ignore[misc]

    def flush_others(self, is_here: Callable[[int], bool]) -> None:
        """At the end of a cell: send what is left in files around these streams and descriptors. `is_here` tells whether a
        descriptor is one of them."""
        if self._c_library:
            self._c_library.fflush(None)
        if not self.others:
            return
        self.others = False
        for one in gc.get_objects():
            if not issubclass(type(one), _WRITERS):
                continue
            try:
                if not one.closed and one.writable() and is_here(one.fileno()):
                    self.others = True
                    one.flush()
            except Exception:  # a class of the cell's own
                pass

    def watch_c(self, ctypes: Any) -> None:
        """C code prints each line at once, as to a terminal, and the rest of a line at the cell's end."""
        was_mixed = self.mixed
        self._c_library = ctypes.CDLL(None)
        self._c_library.setvbuf(ctypes.c_void_p.in_dll(self._c_library, "stdout"), None, 1, 0)
        self.mixed = was_mixed

    def begin_batch(self) -> None:
        """Before the first text of a batch: what was written to the descriptors earlier is sent first."""
        if self.before_batch and not self._interrupts.inside_gate():
            self.before_batch()

    def _flush(self) -> None:
        parts = self.parts
        with self._flushing:
            while parts:
                self.chars = 0
                batch = [parts.popleft() for _ in range(len(parts))]
                if len({stream for stream, _ in batch}) > 1:
                    batch = [
                        (stream, "".join(text for _, text in run)) for stream, run in groupby(batch, itemgetter(0))
                    ]
                else:
                    batch = [(batch[0][0], "".join([text for _, text in batch]))]
                for stream, text in batch:
                    self._send(stream, text)
            self.due = monotonic() + _BATCH_SECONDS

    def _send(self, stream: Stream, text: str) -> None:
        if self._channel.detached:
            _write(1 if stream == "stdout" else 2, text.encode("utf-8", "replace"))
            return
        if stream == "stderr":
            self.stderr_end = (self.stderr_end + text[-_END_CHARS:])[-_END_CHARS:]
        self.has_shown = True
        for start in range(0, len(text), _FRAME_CHARS):
            piece = text[start : start + _FRAME_CHARS]
            self._channel.send({"type": "output", "cell": self._channel.cell, "stream": stream, "text": piece})

    def after_fork(self) -> None:
        """In the child: print to the inherited descriptors, which the parent captures."""
        self._flushing.after_fork()
        self.parts.clear()


class TextStream(io.TextIOBase):
    """sys.stdout or sys.stderr of a cell."""

    encoding = "utf-8"
    errors = "replace"
    newlines = None
    line_buffering = False

    def __init__(self, output: Output, name: Stream, fd: int) -> None:
        self._output = output
        self._fd = fd
        self.name = f"<{name}>"
        self.mode = "w"
        self._buffer = ByteStream(self)
        self.write = _writer(output, name)  # type: ignore[method-assign]

    @property
    def buffer(self) -> ByteStream:
        self._output.others = True
        return self._buffer

    def detach(self) -> ByteStream:  # type: ignore[override]
        return self.buffer

    def flush(self) -> None:
        self._output.flush()

    def close(self) -> None:
        self._output.flush()  # and stay open: a cell that closes its stdout must not silence the next one

    def fileno(self) -> int:
        return self._fd

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def reconfigure(self, **_options: object) -> None:
        self._output.flush()


def _writer(output: Output, stream: Stream) -> Callable[[str], int]:
    """Returns a stream's write(). A closure, because print() calls it twice per line, and every access costs time."""
    parts, append = output.parts, output.parts.append

    def write(text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if not parts or output.mixed:
            output.begin_batch()
        append((stream, text))
        count = len(text)
        output.chars += count
        if output.chars >= _BATCH_CHARS or (text[-1:] == "\n" and monotonic() >= output.due):
            output.flush()
        return count

    return write


class ByteStream(io.BufferedIOBase):
    """The `.buffer` of a TextStream: decodes bytes as they arrive."""

    def __init__(self, text: TextStream) -> None:
        self._text = text
        self.name = text.name
        self.mode = "wb"
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def write(self, data: ReadableBuffer) -> int:
        text = self._decode(data)
        if text:
            self._text.write(text)
        return memoryview(data).nbytes

    def flush(self) -> None:
        self._text.flush()

    def close(self) -> None:
        self.flush()

    def fileno(self) -> int:
        return self._text.fileno()

    def writable(self) -> bool:
        return True
