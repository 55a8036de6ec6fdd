"""Reads cells whose signs came from elsewhere: typographic quotes, blanks that do not break, entities of HTML. Pure, as
all steps of repairs.py."""

from __future__ import annotations

import re

from .scan import STRING, Reading, code_mask, string_end

_QUOTED = re.compile("[“”„‟]([^“”„‟\"\n]*)[“”„‟]|[‘’‚‛′]([^‘’‚‛′'\n]*)[‘’‚‛′]")
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_SIGNS = dict(zip("–−×÷≤≥≠→\x85", ("-", "-", "*", "/", "<=", ">=", "!=", "->", "\n")))
_KINDS = {"Zs": " ", "Zl": "\n", "Zp": "\n", "Cf": "", "Cc": ""}
_NAMES = {" ": "a blank", "\n": "a new line", "": "nothing"}
_MAX_TOLD = 5
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d+|#x[0-9a-fA-F]+);")


def with_own_signs(text: str) -> Reading | None:
    """Outside of strings and comments, signs that Python does not have are read as those they look like."""
    from unicodedata import category, normalize  # used for few cells

    def meant(sign: str) -> str:
        if sign in "\n\t\r\f" or " " <= sign <= "~":
            return sign
        if "！" <= sign <= "～":  # full width
            return normalize("NFKC", sign)
        return _SIGNS[sign] if sign in _SIGNS else _KINDS.get(category(sign), sign)

    made: list[str] = []
    told: dict[str, str] = {}
    at = 0
    while at < len(text):
        if text[at] == "#":
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            made.append(text[at:end])
        elif string := STRING.match(text, at):
            end = string_end(text, string.end(), string[1])
            made.append(text[at:end])
        elif quoted := _QUOTED.match(text, at):
            end = quoted.end()
            quote = '"' if quoted[2] is None else "'"
            made.append(f"{quote}{quoted[1] or quoted[2] or ''}{quote}")
            told[text[at] + text[end - 1]] = quote
        else:
            colour = _COLOUR.match(text, at)
            end = colour.end() if colour else at + 1
            made.append("" if colour else meant(text[at]))
            if made[-1] != text[at]:
                told["colours" if colour else text[at] if text[at].isprintable() else f"U+{ord(text[at]):04X}"] = made[
                    -1
                ]
        at = end
    if not told:
        return None
    signs = ", ".join(f"{old} by {_NAMES.get(new, new)}" for old, new in list(told.items())[:_MAX_TOLD])
    return Reading("".join(made), [f"Signs that Python does not have were replaced: {signs}."])


def without_entities(text: str) -> Reading | str | None:
    """HTML's `&lt;` for `<`: in all of the cell, or not at all."""
    outside = code_mask(text, escaped_newlines=True)
    if not any(outside[found.start()] for found in _ENTITY.finditer(text)):
        return None
    if re.search("[<>&]", _ENTITY.sub("", text)):
        return "Write <, > and & as they are: a part of the cell has them as &lt;, &gt; and &amp;."
    from html import unescape

    return Reading(unescape(text), ["It was escaped for HTML: it was read without that."])
