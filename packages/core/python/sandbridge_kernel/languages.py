"""Cells in languages other than Python. Each language is imported by its first cell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol

from .failure.unavailable import unavailable

if TYPE_CHECKING:
    from .run.interrupts import Interrupts
    from .show.display import Display
    from .show.output import Output
    from .wire.frame_types import Outcome

    class LanguageCells(Protocol):
        """A session's cells in one language."""

        async def run(self, number: int, source: str) -> Outcome:
            """Run a cell. Raises FileNotFoundError if the program that runs it is missing."""

        def take_notes(self) -> list[str]:
            """Returns notes about the last cell for its reader."""


_EMBEDDED = sys.platform == "emscripten"


class _Language(NamedTuple):
    name: str
    program: str
    image: str  # what the user can do if an image does not contain it


_LANGUAGES = {
    "bash": _Language("bash", "bash", "choose another MCP_BRIDGE_IMAGE"),
    "javascript": _Language(
        "JavaScript",
        "node",
        "build an image that has it with `sandbridge image build node`, and set MCP_BRIDGE_IMAGE to it",
    ),
}


class OtherLanguages:
    """A session's state for cells that are not Python."""

    def __init__(self, interrupts: Interrupts, display: Display, output: Output) -> None:
        self._interrupts, self._display, self._output = interrupts, display, output
        self._cells: dict[str, LanguageCells] = {}

    async def run(self, key: str, number: int, source: str) -> Outcome:
        """Run a cell in the language of this name."""
        language = _LANGUAGES.get(key)
        if language is None:
            return unavailable(f"This kernel does not run {key}", "Use run_python.")
        if _EMBEDDED and key == "bash":
            return unavailable(
                f"The embedded sandbox has no {language.name}",
                f"Use run_python. The user can have {language.name} with MCP_BRIDGE_RUNTIME=podman, docker or bubblewrap.",
            )
        try:
            if key not in self._cells:
                self._cells[key] = self._load(key)
            return await self._cells[key].run(number, source)
        except FileNotFoundError as error:
            if error.filename != language.program:
                raise
            return unavailable(
                f"This sandbox has no {language.program}, which runs {language.name} cells"
                if language.name != language.program
                else f"The image of this sandbox has no {language.name}",
                f"Use run_python. The user can {language.image}.",
            )

    def _load(self, key: str) -> LanguageCells:
        if key == "bash":
            from .shell.cell import ShellCells

            return ShellCells(self._interrupts, self._output)
        from .javascript.cell import JavaScriptCells

        return JavaScriptCells(self._interrupts, self._display)

    def notes(self) -> list[str]:
        """Returns notes about the last cell for its reader."""
        return [note for cells in self._cells.values() for note in cells.take_notes()]
