"""Cells in other languages than Python. Each language loads with its first cell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .frame_types import CellError
    from .interrupts import Interrupts
    from .shell.cell import ShellCells

_EMBEDDED = sys.platform == "emscripten"


class OtherLanguages:
    """What a session keeps for its cells that are not Python."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._shell: ShellCells | None = None

    async def run(self, language: str, number: int, source: str) -> CellError | None:
        """Run a cell; what is wrong with it, if anything is."""
        if language != "bash":
            return _unavailable(f"This kernel does not run {language}", "Use run_python.")
        if _EMBEDDED:
            return _unavailable(
                "The embedded sandbox has no bash",
                "Use run_python. The user can have bash with MCP_BRIDGE_RUNTIME=podman, docker or bubblewrap.",
            )
        try:
            if self._shell is None:
                from .shell.cell import ShellCells

                self._shell = ShellCells(self._interrupts)
            return await self._shell.run(number, source)
        except FileNotFoundError as error:
            if error.filename != "bash":
                raise
            return _unavailable(
                "The image of this sandbox has no bash", "Use run_python. The user can choose another MCP_BRIDGE_IMAGE."
            )

    def notes(self) -> list[str]:
        """What the reader should know of the cell that has run."""
        return self._shell.take_notes() if self._shell else []


def _unavailable(message: str, hint: str) -> CellError:
    return {"name": "LanguageUnavailable", "message": message, "traceback": "", "hint": hint}
