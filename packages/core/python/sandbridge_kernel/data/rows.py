"""Rows in texts that tools return: JSON lines, tagged lines, `key: value` blocks, Markdown tables and CSV."""

from __future__ import annotations

import json
import re
from typing import Any

_TAGGED = re.compile(r"\[([A-Z][A-Z0-9_ -]{0,30})\] +(\S.*)")
_SIZED = re.compile(r"(.*\S) {2,}(\d[\d.,]* ?(?:[KMGTP]i?)?B)")
_FIELD = re.compile(r"[-*]? ?([A-Za-z][\w .()/-]{0,40}): +(\S.*)|[-*]? ?([A-Za-z][\w .()/-]{0,40}):")
# Spaces that two parts of a pattern could share would take quadratic time.
_RULE = re.compile(r" *(?:\| *)?:?-{3,}:? *(?:\| *:?-+:? *)*(?:\| *)?")
_CELL = re.compile(r"(?:[^|\\]|\\.)*")
_HEADER = re.compile(r"[\w.()%$#/][\w .()%$#/-]{0,39}")
_DELIMITERS = ",\t;"
_MAX_COLUMNS = 1_000
# Each cell has a `|` of its own in a text of a megabyte, except for those that are missing.
_MAX_CELLS = 1 << 20


def rows_in(text: str) -> list[dict[str, Any]] | None:
    """The rows of a text that has one of the formats throughout, or a Markdown table somewhere; None for any other text."""
    text = text.removeprefix("\ufeff")  # Excel begins a CSV with it
    if not text.strip():
        return []
    # Not `splitlines`: it also splits at characters inside of values.
    lines = [line.rstrip() for line in re.split(r"\r?\n", text.strip("\r\n"))]
    return _json_lines(lines) or _tagged(lines) or _table(lines) or _blocks(lines) or _separated(text, lines)


def _json_lines(lines: list[str]) -> list[dict[str, Any]] | None:
    """A JSON object on each line, whose values are parsed."""
    filled = [line for line in lines if line]
    if len(filled) < 2 or not all(line.startswith("{") for line in filled):
        return None
    try:
        return [json.loads(line) for line in filled]
    except (ValueError, RecursionError):
        return None


def _tagged(lines: list[str]) -> list[dict[str, str]] | None:
    """`[FILE] a.txt`. A summary may follow after an empty line."""
    end = lines.index("") if "" in lines else len(lines)
    found = [_TAGGED.fullmatch(line) for line in lines[:end]]
    rows = [{"type": one[1], "name": one[2]} for one in found if one]
    if not rows or len(rows) < end:
        return None
    # Only with sizes on all lines of one kind is the end of a line not a part of the name.
    sized = [_SIZED.fullmatch(row["name"]) for row in rows]
    kinds = {row["type"] for row, size in zip(rows, sized) if size}
    if kinds and all(size or row["type"] not in kinds for row, size in zip(rows, sized)):
        rows = [{**row, "name": size[1], "size": size[2]} if size else row for row, size in zip(rows, sized)]
    return rows


def _table(lines: list[str]) -> list[dict[str, str]] | None:
    """The first Markdown table."""
    for at in range(1, len(lines)):
        if "|" in lines[at - 1] and "-" in lines[at] and _RULE.fullmatch(lines[at]):
            names = _cells(lines[at - 1])
            if len(names) == len(_cells(lines[at])) and _are_names(names):
                break
    else:
        return None
    rows = []
    for line in lines[at + 1 :]:
        if "|" not in line:
            break
        cells = _cells(line)
        # Missing cells are empty, and surplus ones are dropped, as in a rendered table.
        rows.append(dict(zip(names, cells + [""] * (len(names) - len(cells)))))
        if len(rows) * len(names) > _MAX_CELLS:
            return None
    return rows


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    cells, at = [], 0
    while True:
        found = _CELL.match(inner, at)
        end = found.end() if found else at
        cells.append(inner[at:end].strip().replace("\\|", "|"))
        if end >= len(inner) or len(cells) > _MAX_COLUMNS or inner[end] != "|":
            return cells
        at = end + 1


def _blocks(lines: list[str]) -> list[dict[str, str]] | None:
    """`key: value`, two lines or more in each block; blocks are separated by an empty line or by `---`."""
    rows: list[dict[str, str]] = []
    row: dict[str, str] = {}
    for line in [*lines, ""]:
        if not line or re.fullmatch(r"[-=*]{3,}", line):
            if len(row) == 1:
                return None
            if row:
                rows.append(row)
            row = {}
            continue
        found = _FIELD.fullmatch(line)
        name = (found[1] or found[3]) if found else ""
        if not found or name in row:
            return None
        row[name] = found[2] or ""
    return rows or None


def _separated(text: str, lines: list[str]) -> list[dict[str, str]] | None:
    """CSV with a header, of commas, tabs or semicolons."""
    import csv
    import io

    delimiter = max(_DELIMITERS, key=lines[0].count)
    if len(lines) < 2 or delimiter not in lines[0]:
        return None
    try:
        records = list(csv.reader(io.StringIO(text.strip("\r\n"), newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    names = records[0]
    if len(names) < 2 or not _are_names(names) or any(len(one) != len(names) for one in records):
        return None
    return [dict(zip(names, one)) for one in records[1:]]


def _are_names(names: list[str]) -> bool:
    return len(set(names)) == len(names) <= _MAX_COLUMNS and all(_HEADER.fullmatch(name) for name in names)
