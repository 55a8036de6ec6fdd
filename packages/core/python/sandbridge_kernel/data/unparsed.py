"""Reports texts of tools that look like JSON but stay texts: a note for each tool and reason, once in a session."""

from __future__ import annotations

_MAX_SHOWN = 3  # a cell
_MAX_REMEMBERED = 200

_told: set[tuple[str, str]] = set()
_new: list[str] = []


def tell(tool: str, reason: str, parse: str) -> None:
    """`parse` is what a cell can write to parse it."""
    if not tool or (tool, reason) in _told or len(_told) >= _MAX_REMEMBERED or len(_new) >= _MAX_SHOWN:
        return
    _told.add((tool, reason))
    _new.append(f"The text of {tool} looks like data but stays a str: {reason}. {parse} parses it.")


def notes() -> list[str]:
    """Returns the notes since the last time."""
    found = list(_new)
    _new.clear()
    return found
