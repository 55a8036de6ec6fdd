"""The common interface of the programs that run JavaScript cells: Node, and QuickJS in the embedded sandbox."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio
    from typing import Any

    class Program(Protocol):
        """A running program."""

        NAME: str
        loop: asyncio.AbstractEventLoop

        async def receive(self) -> dict[str, Any]:
            """Returns the next message. Raises ProgramEnded."""

        def send(self, message: dict[str, Any]) -> None: ...

        def send_line(self, line: bytes) -> None: ...

        async def interrupt(self, number: int) -> bool:
            """Stop the cell of this number. Returns False if the program must be ended for that."""

        def end(self) -> None: ...


class ProgramEnded(Exception):
    """The program ended, or sent an invalid message. The text says how, if known."""


class CannotStart(Exception):
    """The program does not start here. Contains what to do instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def decoded(line: str | bytes) -> Any:
    """A message of a program. JavaScript's numbers are doubles: as floats, large ones are sent on as they are. BigInts are integers."""
    return json.loads(line, parse_int=_number)


def _number(digits: str) -> int | float:
    # JavaScript writes no number of more digits, and refuses to send one that is not round: others are BigInts.
    number = digits.lstrip("-")
    return float(digits) if 16 < len(number) < 22 and len(number.rstrip("0")) <= 15 else int(digits)
