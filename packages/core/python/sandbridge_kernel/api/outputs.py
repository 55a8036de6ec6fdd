"""What earlier cells have shown, in full: `runtime.output(3)`, and its lines that fit a pattern: `runtime.grep(3, "error")`."""

import re
from collections.abc import Iterable

from . import bridge
from .errors import ArgumentsError

__all__ = ["grep", "output"]

_LINE_CHARS = 300  # characters shown of a longer line, around the match


class Lines(list[tuple[int, str]]):
    """Lines as (number, text); one a line when printed."""

    def __init__(self, lines: Iterable[tuple[int, str]], more: int = 0) -> None:
        super().__init__(lines)
        self._more = more

    def __repr__(self) -> str:
        lines = [f"{number}: {text}" for number, text in self]
        if self._more:
            lines.append(f"({self._more:,} more; pass a larger limit, or a narrower pattern)")
        return "\n".join(lines) or "(no line fits)"


def output(cell: int | None = None) -> str:
    """All that a cell has shown, as one text; without a number, the last that has shown anything. Print a part of it: `print(runtime.output(3)[:2000])`."""
    pieces, start = [], 0
    while start is not None:
        piece = bridge.ask_sync("output", cell=cell, start=start)
        pieces.append(piece["text"])
        start = piece.get("next")
    return "".join(pieces)


def grep(cell: int | None, pattern: str, context: int = 0, limit: int = 100) -> Lines:
    """The lines of a cell's output that a regular expression fits, with `context` lines around each. `cell` may be None: the last."""
    try:
        find = re.compile(pattern).search
    except re.error as error:
        raise ArgumentsError(f"grep: {pattern[:80]!r} is not a valid regular expression of Python: {error}") from None
    lines = output(cell).split("\n")
    wanted: dict[int, str] = {}
    found = 0
    for index, line in enumerate(lines):
        match = find(line)
        if not match:
            continue
        found += 1
        if found > limit:
            continue
        for near in range(max(0, index - context), min(len(lines), index + context + 1)):
            wanted.setdefault(near, _shortened(lines[near], 0))
        wanted[index] = _shortened(line, match.start())
    return Lines(sorted((index + 1, text) for index, text in wanted.items()), max(0, found - limit))


def _shortened(line: str, position: int) -> str:
    if len(line) <= _LINE_CHARS:
        return line
    start = max(0, min(position - _LINE_CHARS // 3, len(line) - _LINE_CHARS))
    end = start + _LINE_CHARS
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
