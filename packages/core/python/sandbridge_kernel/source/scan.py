"""Where a source has code, and where strings and comments: also one that does not parse."""

from __future__ import annotations

import re
from typing import NamedTuple


class Reading(NamedTuple):
    """Another source of the same cell, with the same lines, and what was changed."""

    source: str
    notes: list[str]


STRING = re.compile(r"(?i:\b[rbfut]{1,2})?(\"\"\"|'''|\"|')")


def code_mask(text: str, escaped_newlines: bool = False) -> list[bool]:
    """For each character: is it code outside of strings, comments and brackets? A newline counts as outside where a
    statement ends. `escaped_newlines`: brackets count as outside, and `\\n` ends a comment."""
    outside = [False] * (len(text) + 1)
    at, depth = 0, 0
    while at < len(text):
        character = text[at]
        if character == "#":
            end = min(
                (one for one in (text.find("\n", at), text.find("\\n", at) if escaped_newlines else -1) if one >= 0),
                default=len(text),
            )
            at = end
            continue
        if string := STRING.match(text, at):
            outside[at] = not depth
            at = string_end(text, string.end(), string[1])
            continue
        depth += (character in "([{") - (character in ")]}" and depth > 0)
        outside[at] = escaped_newlines or not depth
        at += 1
    outside[len(text)] = True
    return outside


def string_end(text: str, at: int, quote: str) -> int:
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        elif text[at] == "\n" and len(quote) == 1:
            return at  # it never ends
        else:
            at += 1
    return len(text)
