"""The interface of a port: frames as bytes, in and out. Only type checkers read this module; the kernel never imports it."""

from typing import Protocol


class Port(Protocol):
    @property
    def CHUNK(self) -> int:
        """Most bytes per read."""

    def wait(self, seconds: float | None) -> bool:
        """Block until there is input, or for `seconds` (None: forever). Returns True if there is input."""

    def announce(self, on: bool) -> None:
        """Process replies while the main thread is busy, because another thread or loop waits for one."""

    def read_available(self) -> bytes:
        """Return the available input; b"" if there is none."""

    def write(self, data: memoryview) -> int:
        """Write a part of the data. Returns the number of bytes."""
