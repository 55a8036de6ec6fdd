"""Reads cells that are Python in another dress: in a fence, with prompts, indented, with newlines escaped twice, or
with commands of IPython. Only for a cell that does not parse, and only if the reading does. Runs nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .magics import translated
from .scan import Reading, code_mask
from .signs import with_own_signs, without_entities

if TYPE_CHECKING:
    from collections.abc import Callable

_MARK = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*\W*([\w+-]*)[^`]*$")
_TAGS = re.compile(r"\s*<(code|python|py|execute|tool_code|parameter)\b[^>\n]*>(.*)</\1>\s*\Z", re.DOTALL)
_PYTHON = frozenset(
    ("", "python", "py", "python3", "py3", "ipython", "ipython3", "pycon", "console", "tool_code", "code")
)
_SHELL = frozenset(("bash", "sh", "shell"))
_PROMPT = re.compile(r"[ \t]*(?:>>>|\.\.\.)(?: |$)|[ \t]*>>>|[ \t]*(?:In ?)?\[[\d *]*\]: ?|[ \t]+\.\.\.: ?")
_FIRST_PROMPT = re.compile(r"(?:\s*#.*\n)*\s*(?:>>>|(?:In ?)?\[[\d *]*\]:)")
_ALONE = re.compile(r"^[ \t]*(?:In ?)?\[[\d *]*\]:[ \t]*$", re.MULTILINE)
_CODE = re.compile(
    r"\s*(?:\w+ *=[^=]|(?:import|from|def|class|for|while|if|with|return|print|await|async)\b|\w[\w.]*\()|.*(?:\"{3}|'{3})"
)
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\r": "", '\\"': '"', "\\'": "'", "\\\\": "\\"}
_ESCAPED = re.compile(r"\\[ntr\"'\\]")
_OUTSIDE_ESCAPED = re.compile(r"\\(?:[ntr]|u([0-9a-fA-F]{4}))")
_COMMAND = re.compile(r"[ \t]*(?:[\w.\[\]\"',]+ *= *)?[%!$]")
_OPENS = re.compile(r"\s*(?:if|for|while|def|class|with|try|else|elif|except|finally|async|match|case|@)\b")
_HERE = re.compile(r"<<-?\s*([\"']?)(\w+)\1")
_MAX_CHARS = 1 << 20


def reading(source: str, parses: Callable[[str], bool]) -> Reading | str | None:
    """Returns how the cell is meant, if that is certain; a hint if it is known what it is and not what it means; or None."""
    if len(source) > _MAX_CHARS:
        return None
    hint = None
    steps: tuple[Callable[[str], Reading | str | None], ...] = (
        without_entities,
        with_own_signs,
        _without_fence,
        _without_prompts,
        _without_indentation,
        _translated_lines,
    )
    for base, note in ((source, None), (_unescaped(source), "It was escaped twice: it was read without that.")):
        if base is None:
            continue
        text, notes = base, [note] if note else []
        if note and parses(text):
            return Reading(text, notes)
        for step in steps:
            found = step(text)
            if isinstance(found, str):
                hint = hint or found
            elif found:
                text, notes = found.source, [*notes, *found.notes]
                if parses(text):
                    return Reading(text, notes)
    return hint


def _without_fence(text: str) -> Reading | str | None:
    if tags := _TAGS.match(text):
        above = "\n" * text.count("\n", 0, tags.start(2))
        return Reading(above + tags[2].strip(" "), [f"It was read without the tag {tags[1]} around it."])
    lines, outside, at = text.split("\n"), code_mask(text, escaped_newlines=True), 0
    marks: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if outside[at] and (mark := _MARK.match(line)):
            marks.append((number, mark[1].lower()))
        at += len(line) + 1
    if not marks:
        return "Take the code out of its fence." if text.lstrip().startswith("```") else None
    (first, language), last = marks[0], marks[-1][0]
    if len(marks) == 1 and any(map(str.strip, lines[:first])):
        first, language = -1, ""  # it is the end of one
    elif len(marks) == 1:
        last = len(lines)
    around = [*lines[: max(first, 0)], *lines[last + 1 :]]
    if len(marks) > 2:
        return "Take the code out of its fences: a cell is one piece of code."
    if any(map(_CODE.match, around)):
        return "Take the code out of its fence, and other text out of the cell."
    if language not in _PYTHON | _SHELL:
        return f"The fence says {language}, and a cell is Python: take the code out of it, or write it in Python."
    body = [*[""] * (first + 1), *lines[first + 1 : last]]
    note = "It was read without the fence around it" + (" and the text outside of it" * any(map(str.strip, around)))
    if language in _SHELL:
        body[first] = "%%bash"
        note += f", as a script: the fence says {language}"
    return Reading("\n".join(body), [f"{note}."])


def _without_prompts(text: str) -> Reading | str | None:
    if not _FIRST_PROMPT.match(text):
        return None
    has_code_below = _ALONE.search(text) is not None
    lines, outputs = [], []
    for line in text.split("\n"):
        prompt = _PROMPT.match(line)
        lines.append(line[prompt.end() :] if prompt else line if has_code_below else "")
        if not prompt and line.strip() and not line.lstrip().startswith("#"):
            outputs.append(line)
    if any(map(_CODE.match, outputs)) and not has_code_below:
        return "Take the prompts and the outputs out of the cell."
    left_out = " and the output after them" if outputs and not has_code_below else ""
    return Reading("\n".join(lines), [f"It was read without its prompts{left_out}."])


def _without_indentation(text: str) -> Reading | None:
    used = [line for line in text.split("\n") if line.strip()]
    indents = [line[: len(line) - len(line.lstrip(" \t"))] for line in used[:2]]
    # The first line alone may have lost it.
    indent = indents[0] if indents and indents[0] or _OPENS.match(text) else indents[-1] if indents else ""
    if not indent:
        return None
    lines = [line.removeprefix(indent) for line in text.split("\n")]
    return Reading("\n".join(lines), ["It was read without the indentation of the whole cell."])


def _unescaped(text: str) -> str | None:
    """Newlines stand between statements as `\\n`, or quotes as `\\"`: what is escaped outside of strings is read, or else every escape."""
    if not re.search(r"\\[n\"]", text) or text.lstrip().startswith(("!", "%")):
        return None
    if re.search(r'(?<!\\)(?:\\\\)*"', text) or '\\"' not in text:
        outside = code_mask(text, escaped_newlines=True)

        def read(found: re.Match[str]) -> str:
            if not outside[found.start()]:
                return found[0]
            return chr(int(found[1], 16)) if found[1] else _ESCAPES[found[0]]

        return _OUTSIDE_ESCAPED.sub(read, text)
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


def _translated_lines(text: str) -> Reading | str | None:
    """Lines of IPython in place of which Python can stand."""
    if not re.search(r"^[ \t]*(?:[%!?$]|[^=\n]+= *[%!]|[a-z3-]+[ \t]+[^\s=(])|\?[ \t]*$", text, re.M):
        return None
    outside = code_mask(text)
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
        if begins and (here := _HERE.search(line)) and _COMMAND.match(line):
            below = range(index + joined + 1, len(source))
            if end := next((number for number in below if source[number].strip() == here[2]), 0):
                line, joined = "\n".join((line, *source[below[0] : end + 1])), end - index
        rest = source[index + joined + 1 :]
        is_last = not any(one.strip() and not one.lstrip().startswith("#") for one in rest)
        made = translated(line, rest, is_first, is_last) if begins else None
        is_first = is_first and (not line.strip() or line.startswith(("%%", "#")))
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
