"""Formats tracebacks with the cell's own lines: `Cell 2, line 3`, with carets, causes and groups, without frames of the
kernel, the standard library and installed packages."""

from __future__ import annotations

import linecache
import os
import re
from traceback import FrameSummary, StackSummary, TracebackException
from typing import TYPE_CHECKING

from .hints import advice
from .line_values import values_on_line

if TYPE_CHECKING:
    from typing import Any

    from ..wire.frame_types import CellError

    _Place = tuple[str, int | None, str]

_KERNEL = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_HEAD_FRAMES, _TAIL_FRAMES = 20, 40
_LONGEST_CIRCLE = 12  # frames
_PLACE = re.compile(r'^([ |+]*)File "(Cell \d+)", (line \d+)(?:, in <module>)?', re.MULTILINE)
_CUT = re.compile(r'^([ |+]*)File "<cut>", line 0, in (.+)$', re.MULTILINE)
_CELL = re.compile(r"Cell \d+$")
# The module of the API's exceptions; a cell writes `runtime.ToolError`.
_ERROR_NAME = re.compile(r"^([ |+]*)mcp\.(runtime\.[A-Z]\w*)(?=:|$)", re.MULTILINE)
_FILE = re.compile(r'[ |+]*File "')
_INDENT = re.compile(r"[ |]*")
_WIDEST = 120  # characters of a source line
_BEFORE = 40  # of these, before the part that failed


def describe(error: BaseException, name: str | None = None) -> CellError:
    """Returns the `error` of a done frame. `name`: report it as this kind of exception."""
    kind = name or type(error).__name__
    try:
        told: CellError = {"name": kind, "message": _message(error), "traceback": _traceback(error, name)}
        if values := _values(error):
            told["values"] = values
        if not name:
            told.update(advice(error))  # type: ignore[typeddict-item]
        return told
    except (Exception, RecursionError):
        return {"name": kind, "message": "", "traceback": f"{kind} (its traceback could not be formatted)\n"}


def _values(error: BaseException) -> str:
    try:
        return values_on_line(error)
    except Exception:  # another thread may change data meanwhile; a traceback without values is better than none
        return ""


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt):
            raise
        return f"<its __str__ raised {type(problem).__name__}>"


def _traceback(error: BaseException, name: str | None) -> str:
    summary = TracebackException(type(error), error, error.__traceback__, lookup_lines=False, compact=True)
    _clean(summary, set())
    lines = list(summary.format())
    if name:
        lines[-1] = f"{name}\n"
    text = _ERROR_NAME.sub(r"\1\2", _narrowed("".join(lines)))
    return _CUT.sub(r"\1… \2 …", _PLACE.sub(r"\1\2, \3", text))


def _narrowed(text: str) -> str:
    """Cuts long source lines to the part that failed. Python marks it with `^` on the line below."""
    lines = text.split("\n")
    is_source = False
    for at, line in enumerate(lines):
        following = lines[at + 1] if at + 1 < len(lines) else ""
        is_marked = "^" in following and not following.strip(" |~^")
        if len(line) > _WIDEST and (is_source or is_marked):
            lines[at], marks = _around(line, following if is_marked else "")
            if is_marked:
                lines[at + 1] = marks
        is_source = _FILE.match(line) is not None
    return "\n".join(lines)


def _around(line: str, marks: str) -> tuple[str, str]:
    indent = _INDENT.match(line).end()  # type: ignore[union-attr]
    start = max(indent, min(marks.find("^") - _BEFORE, len(line) - _WIDEST))
    end = start + _WIDEST
    left, right = "…" if start > indent else "", "…" if end < len(line) else ""
    margin = line[:indent]
    return margin + left + line[start:end] + right, (margin + " " * len(left) + marks[start:end]).rstrip()


def _clean(summary: Any, seen: set[int]) -> None:
    if summary is None or id(summary) in seen:
        return
    seen.add(id(summary))
    shown = [frame for frame in summary.stack if _is_users(frame.filename)]
    summary.stack = StackSummary.from_list(_shortened(shown))
    if getattr(summary, "filename", None) and _CELL.match(summary.filename) and not getattr(summary, "text", None):
        _add_source(summary)
    _clean(summary.__cause__, seen)
    _clean(summary.__context__, seen)
    for inner in getattr(summary, "exceptions", None) or ():
        _clean(inner, seen)


def _is_users(filename: str) -> bool:
    is_library = filename.startswith((_KERNEL, _LIBRARY, "<frozen")) or any(part in filename for part in _PACKAGES)
    return not is_library and not filename.endswith((".pyx", ".pxi", ".pxd"))


def _shortened(stack: list[FrameSummary]) -> list[FrameSummary]:
    """Python folds a repeated frame; this also folds repeated groups of frames, and cuts what is still too long."""
    stack = _folded(stack)
    runs = sum(1 for a, b in zip(stack, stack[1:]) if _place(a) != _place(b))
    hidden = len(stack) - _HEAD_FRAMES - _TAIL_FRAMES
    if runs < _HEAD_FRAMES + _TAIL_FRAMES or hidden <= 0:
        return stack
    return [*stack[:_HEAD_FRAMES], _cut(f"{hidden} frames left out"), *stack[-_TAIL_FRAMES:]]


def _folded(stack: list[FrameSummary]) -> list[FrameSummary]:
    places = [_place(frame) for frame in stack]
    kept, at = [], 0
    while at < len(stack):
        size, times = _circle(places, at)
        kept += stack[at : at + size * min(times, 2 if size > 1 else times)]
        if size > 1 and times > 2:
            kept.append(_cut(f"the {size} frames above repeat {times - 2} more times"))
        at += size * times
    return kept


def _circle(places: list[_Place], at: int) -> tuple[int, int]:
    """Returns how many frames from here on repeat, and how often: (1, 1) if none do."""
    for size in range(1, _LONGEST_CIRCLE + 1):
        times, group = 1, places[at : at + size]
        while places[at + size * times : at + size * (times + 1)] == group:
            times += 1
        if times > 2:
            return size, times
    return 1, 1


def _place(frame: FrameSummary) -> _Place:
    return frame.filename, frame.lineno, frame.name


def _cut(words: str) -> FrameSummary:
    return FrameSummary("<cut>", 0, words, lookup_line=False, line="")


def _add_source(summary: Any) -> None:
    """Add the line of a syntax error found after parsing, for which Python looks in a file."""
    lines = linecache.getlines(summary.filename)
    number = int(summary.lineno or 0)
    if 0 < number <= len(lines):
        summary.text = lines[number - 1]
