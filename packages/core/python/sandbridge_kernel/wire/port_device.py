"""The port of Pyodide: frames on a character device, and a second one to wait on. Interrupts do not pass through it:
the sandbox removes 0x03 and raises a signal, even while a read or a wait blocks."""

from __future__ import annotations

import os
from struct import pack

_write = os.write  # the one of cells also empties the pipes of their output
_LONG_SECONDS = 3600.0
_INPUT_CAME = 8  # result of a write to the waiting device; 1 means timeout


class DevicePort:
    CHUNK = 1 << 16  # most bytes per read

    def __init__(self) -> None:
        self._frames = os.open("/dev/sandbridge", os.O_RDWR)
        self._waits = os.open("/dev/sandbridge-wait", os.O_WRONLY)

    def wait(self, seconds: float | None) -> bool:
        """Block until there is input, or for `seconds` (None: forever). Returns True if there is input."""
        if seconds is not None:
            return _write(self._waits, pack("<d", max(0.0, seconds))) == _INPUT_CAME
        while _write(self._waits, pack("<d", _LONG_SECONDS)) != _INPUT_CAME:
            pass
        return True

    def put_back(self) -> None:
        """Make the signal of an interrupt come again, which cannot be raised yet."""
        _write(self._waits, b"!")

    def announce(self, on: bool) -> None:
        pass  # there is one thread

    def read_available(self) -> bytes:
        """Return the available input; b"" if there is none."""
        if not self.wait(0):
            return b""
        data = os.read(self._frames, self.CHUNK)
        if not data:
            os._exit(0)
        return data

    def write(self, data: memoryview) -> int:
        """Write a part of the data. Returns the number of bytes."""
        return _write(self._frames, data)
