"""Reads cells whose signs came from elsewhere: typographic quotes, blanks that do not break, entities of HTML, numbers of
lines. Pure, as all steps of repairs.py."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .scan import STRING, Reading, code_mask, string_end

if TYPE_CHECKING:
    from collections.abc import Callable

_QUOTED = re.compile("[“”„‟]([^“”„‟\"\n]*)[“”„‟]|[‘’‚‛′]([^‘’‚‛′'\n]*)[‘’‚‛′]")
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_SIGNS = dict(zip("–−×÷≤≥≠→\x85", ("-", "-", "*", "/", "<=", ">=", "!=", "->", "\n")))
_KINDS = {"Zs": " ", "Zl": "\n", "Zp": "\n", "Cf": "", "Cc": ""}
_NAMES = {" ": "a blank", "\n": "a new line", "": "nothing"}
_MAX_TOLD = 5
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d+|#x[0-9a-fA-F]+);")
# A number with what divides it from the code, or one sign.
_MARGIN = re.compile(r"[ \t]*(\d+)(?:\t|[ ]?[:|.)│→][ \t]?|[ ]|$)|([+>])(?:[ ](?=\S))?")
_OF_DIFF = re.compile(r"@@ |[+-]{3} |[-+ ]|$")


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


def without_margins(text: str) -> Reading | str | None:
    """Each line begins with its number, with the `+` of a diff, or with the `>` of a quotation."""
    lines = text.split("\n")
    used = [line for line in lines if line.strip()]
    found = [_MARGIN.match(line) for line in used]
    signs = {margin and margin[2] for margin in found}
    if len(used) < 2 or None in found and not any(line[0] in "+-" for line in used):
        return None
    numbers = [int(margin[1]) for margin in found if margin and margin[1]]
    is_counted = len(numbers) == len(used) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    if is_counted or signs in ({"+"}, {">"}):
        what = "the numbers of its lines" if is_counted else f"the {found[0][2]} before its lines"  # type: ignore[index]
        return Reading("\n".join(_MARGIN.sub("", line, count=1) for line in lines), [f"It was read without {what}."])
    if all(map(_OF_DIFF.match, used)) and any(line[0] == "+" for line in used):
        return "Write what the diff makes: without its lines that begin with -, and without its signs."
    return None


def evenly_indented(text: str, parses: Callable[[str], bool]) -> Reading | str | None:
    """Tabs and blanks before lines are mixed: that a tab has four columns, or eight, is certain if only one of them parses."""
    outside = code_mask(text, escaped_newlines=True)

    def expanded(size: int) -> str:
        lines = re.finditer(r"^([ \t]*)(.*\n?)", text, re.MULTILINE)
        return "".join((one[1].expandtabs(size) if outside[one.start()] else one[1]) + one[2] for one in lines)

    made = list(map(expanded, (4, 8)))
    if made[0] == made[1] or not (fitting := list(filter(parses, made))):
        return None
    if len(fitting) > 1:
        return "Indent with blanks only: it is not certain how many a tab stands for."
    size = 4 if fitting[0] == made[0] else 8
    return Reading(fitting[0], [f"Its indentation mixes tabs and blanks: a tab was read as {size} blanks."])
