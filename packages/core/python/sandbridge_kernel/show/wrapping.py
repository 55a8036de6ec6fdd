"""Wraps the repr of a container that is too wide for one line, with its items filled into lines. Pure, and limited in depth and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.values import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_WIDTH = 110
_WIDEST = 200  # a repr up to this length stays on one line
_DEPTH = 6
_MAX_CHARS = 4_000_000

_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
    Record: ("{", "}"),
}


def wrapped(value: Any, plain: str) -> str:
    """Returns `plain`, the value's repr, or the same over several lines. Takes only builtin containers apart."""
    if type(value) not in _BRACKETS or not value or not _WIDEST < len(plain) <= _MAX_CHARS:
        return plain
    try:
        return _lines(value, 0, set())
    except (RecursionError, RuntimeError):  # nested too deeply, or changed meanwhile by a repr
        return plain


def _lines(value: Any, depth: int, inside: set[int]) -> str:
    opening, closing = _BRACKETS[type(value)]
    inside = inside | {id(value)}
    indent = " " * (depth + 1)
    lines, line = [], ""
    for item in _items(value, depth, inside):
        if "\n" in item or len(line) + len(item) + 2 > _WIDTH - depth:
            if line:
                lines.append(line)
            line = ""
        line = f"{line} {item}," if line else f"{item},"
    lines.append(line if type(value) is tuple and len(value) == 1 else line[:-1])
    return opening + f"\n{indent}".join(lines) + closing


def _items(value: Any, depth: int, inside: set[int]) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{key!r}: {_item(item, depth, inside)}"
    else:
        for item in value:
            yield _item(item, depth, inside)


def _item(item: Any, depth: int, inside: set[int]) -> str:
    plain = repr(item)
    if type(item) not in _BRACKETS or not item or len(plain) <= _WIDTH or depth >= _DEPTH or id(item) in inside:
        return plain
    return _lines(item, depth + 1, inside)
