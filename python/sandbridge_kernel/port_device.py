"""The port of Pyodide: frames on a character device, and a second device to wait on, both made by the sandbox around us.

Owns the two descriptors; knows nothing of frames. Interrupts do not come through here: the sandbox takes 0x03 out of the
bytes and raises SIGINT, also while a read or a wait blocks.
"""

from __future__ import annotations

import os
from struct import pack

_LONG_SECONDS = 3600.0
_INPUT_CAME = 8  # what a write to the waiting device returns; 1 means that the time has passed


class DevicePort:
    CHUNK = 1 << 16  # the most bytes that one read takes

    def __init__(self) -> None:
        self._frames = os.open("/dev/sandbridge", os.O_RDWR)
        self._waits = os.open("/dev/sandbridge-wait", os.O_WRONLY)

    def wait(self, seconds: float | None) -> bool:
        """Block until there is something to read, or for `seconds` (None: for ever). True when there is."""
        if seconds is not None:
            return os.write(self._waits, pack("<d", max(0.0, seconds))) == _INPUT_CAME
        while os.write(self._waits, pack("<d", _LONG_SECONDS)) != _INPUT_CAME:
            pass
        return True

    def announce(self, on: bool) -> None:
        pass  # there is one thread

    def read_available(self) -> bytes:
        """What has come, b"" when nothing has."""
        if not self.wait(0):
            return b""
        data = os.read(self._frames, self.CHUNK)
        if not data:
            os._exit(0)
        return data

    def write(self, data: memoryview) -> int:
        """Write some of it; how many bytes."""
        return os.write(self._frames, data)
