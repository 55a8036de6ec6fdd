"""Reads cells that are Python in another dress: in a fence, with prompts, indented, with newlines escaped twice, or
with commands of IPython. Only for a cell that does not parse, and only if the reading does. Runs nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .magics import translated

if TYPE_CHECKING:
    from collections.abc import Callable

_FENCE = re.compile(r"\s*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n`]*\n(.*?)\n?[ \t]*\1[ \t]*\s*\Z", re.DOTALL)
_PYTHON = frozenset(("", "python", "py", "python3", "py3", "ipython", "ipython3", "pycon", "tool_code", "code"))
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)|[ \t]*In \[\d*\]: ?|[ \t]+\.\.\.: ?")
_FIRST_PROMPT = re.compile(r"\s*(?:>>> |In \[\d*\]: )")
_CODE = re.compile(r"\s*(?:\w+ *=[^=]|(?:import|from|def|class|for|while|if|with|return|print|await|async)\b)")
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "", '\\"': '"', "\\'": "'", "\\\\": "\\"}
_ESCAPED = re.compile(r"\\[ntr\"'\\]")
_COMMAND = re.compile(r"[ \t]*(?:\w+ *= *)?[%!]")
_MAX_CHARS = 1 << 20
_STRING = re.compile(r"(?i:\b[rbfut]{1,2})?(\"\"\"|'''|\"|')")


class Reading(NamedTuple):
    """Another source of the same cell, with the same lines, and what was changed."""

    source: str
    notes: list[str]


def reading(source: str, parses: Callable[[str], bool]) -> Reading | str | None:
    """Returns how the cell is meant, if that is certain; a hint if it is known what it is and not what it means; or None."""
    if len(source) > _MAX_CHARS:
        return None
    hint = None
    for base, note in (
        (source, None),
        (_unescaped(source), "Its newlines were escaped twice: it was read without that."),
    ):
        if base is None:
            continue
        text, notes = base, [note] if note else []
        if note and parses(text):
            return Reading(text, notes)
        for step in (_without_fence, _without_prompts, _without_indentation, _translated_lines):
            found = step(text)
            if isinstance(found, str):
                hint = hint or found
            elif found:
                text, notes = found.source, [*notes, *found.notes]
                if parses(text):
                    return Reading(text, notes)
    return hint


def _without_fence(text: str) -> Reading | str | None:
    if not text.lstrip().startswith(("```", "~~~")):
        return (
            "Take the code out of its fence, and other text out of the cell."
            if re.search(r"^```", text, re.M)
            else None
        )
    found = _FENCE.match(text)
    if not found or found[1] in found[3]:
        return "Take the code out of its fence."
    if found[2].lower() not in _PYTHON:
        return f"The fence says {found[2]}, and a cell is Python: take the code out of it, or write it in Python."
    return Reading("\n" * text.count("\n", 0, found.start(3)) + found[3], ["It was read without the fence around it."])


def _without_prompts(text: str) -> Reading | str | None:
    if not _FIRST_PROMPT.match(text):
        return None
    lines, outputs = [], []
    for line in text.split("\n"):
        prompt = _PROMPT.match(line)
        lines.append(line[prompt.end() :] if prompt else "")
        if not prompt and line.strip():
            outputs.append(line)
    if any(map(_CODE.match, outputs)):
        return "Take the prompts and the outputs out of the cell."
    left_out = " and the output after them" if outputs else ""
    return Reading("\n".join(lines), [f"It was read without its prompts{left_out}."])


def _without_indentation(text: str) -> Reading | None:
    first = re.match(r"(?:[ \t]*\n)*([ \t]+)\S", text)
    if not first:
        return None
    indent = first[1]
    lines = [line.removeprefix(indent) for line in text.split("\n")]
    return Reading("\n".join(lines), ["It was read without the indentation of the whole cell."])


def _unescaped(text: str) -> str | None:
    """Newlines stand between statements as `\\n`: those outside of strings are new lines, or else every escape counts."""
    if "\\n" not in text or text.lstrip().startswith(("!", "%")):
        return None
    if re.search(r'(?<!\\)(?:\\\\)*"', text) or '\\"' not in text:
        outside = _code_mask(text, escaped_newlines=True)
        return re.sub(r"\\n", lambda found: "\n" if outside[found.start()] else found[0], text)
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


def _translated_lines(text: str) -> Reading | str | None:
    """Lines of IPython in place of which Python can stand."""
    if not re.search(r"^[ \t]*(?:[%!?]|\w+ *= *[%!]|[a-z3-]+[ \t]+[^\s=(])|\?[ \t]*$", text, re.M):
        return None
    outside = _code_mask(text)
    lines, notes, at, joined, is_first = [], [], 0, 0, True
    source = text.split("\n")
    for index, line in enumerate(source):
        begins = outside[at] if at < len(outside) else True
        at += len(line) + 1
        if joined:
            joined -= 1
            lines.append("")
            continue
        while begins and line.endswith("\\") and _COMMAND.match(line) and index + joined + 1 < len(source):
            joined += 1
            line = line[:-1] + source[index + joined]
        rest = source[index + joined + 1 :]
        is_last = not any(one.strip() and not one.lstrip().startswith("#") for one in rest)
        made = translated(line, rest, is_first, is_last) if begins else None
        is_first = is_first and (not line.strip() or line.startswith("%%"))
        if isinstance(made, str):
            return made
        if made is None:
            lines.append(line)
            continue
        lines.append(made.source)
        notes += [made.note] if made.note else []
        if made.takes_rest:
            break
    return Reading("\n".join(lines), list(dict.fromkeys(notes)))


def _code_mask(text: str, escaped_newlines: bool = False) -> list[bool]:
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
        if string := _STRING.match(text, at):
            outside[at] = not depth
            at = _string_end(text, string.end(), string[1])
            continue
        depth += (character in "([{") - (character in ")]}" and depth > 0)
        outside[at] = escaped_newlines or not depth
        at += 1
    outside[len(text)] = True
    return outside


def _string_end(text: str, at: int, quote: str) -> int:
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
