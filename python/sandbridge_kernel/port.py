"""What the channel needs of a port: frames as bytes, in and out. Type checkers read this module; the kernel never imports it."""

from typing import Protocol


class Port(Protocol):
    @property
    def CHUNK(self) -> int:
        """The most bytes that one read takes."""

    def wait(self, seconds: float | None) -> bool:
        """Block until there is something to read, or for `seconds` (None: without limit). True when there is."""

    def announce(self, on: bool) -> None:
        """Should replies be taken in while the main thread is busy, because another thread or loop waits for one?"""

    def read_available(self) -> bytes:
        """What has come, b"" when nothing has."""

    def write(self, data: memoryview) -> int:
        """Write some of it; how many bytes."""
