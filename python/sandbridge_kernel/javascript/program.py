"""What the two programs that run JavaScript cells have in common: Node, and QuickJS in the embedded sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio
    from typing import Any

    class Program(Protocol):
        """A running one."""

        NAME: str
        loop: asyncio.AbstractEventLoop

        async def receive(self) -> dict[str, Any]:
            """The next message. Raises ProgramEnded."""

        def send(self, message: dict[str, Any]) -> None: ...

        def send_line(self, line: bytes) -> None: ...

        async def interrupt(self, number: int) -> bool:
            """Stop the cell of this number. False when that has ended the program."""

        def end(self) -> None: ...


class ProgramEnded(Exception):
    """It has ended, or says what it should not. The text tells how, where that is known."""


class CannotStart(Exception):
    """It does not start here. Has what to do instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint
