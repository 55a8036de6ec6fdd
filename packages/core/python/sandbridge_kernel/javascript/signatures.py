"""Translates signatures in errors to JavaScript: `mcp_github.create_issue(title: str, labels: list[str] = None)` becomes
`github.create_issue({ title: string, labels?: string[] })`."""

from __future__ import annotations

import re

_MARK = "Signature: "
_CALL = re.compile(r"(?:mcp_)?(\w+)\.(\w+)\(")
_PARAMETER = re.compile(r"\**(\w+)(?:: ([^=]*?))?( *= *.*)?$", re.DOTALL)
_WORDS = {
    "str": "string",
    "int": "number",
    "float": "number",
    "bool": "boolean",
    "None": "null",
    "Any": "unknown",
    "dict": "object",
    "list": "unknown[]",
    "bytes": "Buffer",
}
_NAMES = re.compile(r"'[^']*'|\b(?:" + "|".join(_WORDS) + r")\b")


def in_javascript(message: str) -> str:
    """Returns the message with its signature translated; unchanged if it has another form."""
    before, mark, rest = message.partition(_MARK)
    found = _CALL.match(rest)
    if not mark or not found:
        return message
    end = _closing(rest, found.end())
    if end is None:
        return message
    fields = [_field(part) for part in _parts(rest[found.end() : end])]
    given = f"{{ {', '.join(field for field in fields if field)} }}" if any(fields) else ""
    after = re.sub(r"^ -> ([^#.]*?)(?=  #|\.|$)", lambda one: f": {_type(one[1].strip())}", rest[end + 1 :])
    return f"{before}{mark}{found[1]}.{found[2]}({given}){after.replace('  # ', '  // ', 1)}"


def _closing(text: str, start: int) -> int | None:
    depth, quote = 1, ""
    for at in range(start, len(text)):
        one = text[at]
        if quote:
            quote = "" if one == quote else quote
        elif one in "'\"":
            quote = one
        elif one in "([{":
            depth += 1
        elif one in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return None


def _parts(text: str) -> list[str]:
    """Splits at commas outside of brackets and quotes."""
    parts, start, at = [], 0, 0
    while at < len(text):
        one = text[at]
        if one in "'\"":
            close = text.find(one, at + 1)
            at = close if close > 0 else len(text)
        elif one in "([{":
            at = _closing(text, at + 1) or len(text)
        elif one == ",":
            parts.append(text[start:at].strip())
            start = at + 1
        at += 1
    return [part for part in [*parts, text[start:].strip()] if part]


def _field(part: str) -> str:
    if part in ("*", "/"):
        return ""
    found = _PARAMETER.fullmatch(part)
    if not found:
        return part
    name, python, default = found.groups()
    if part.startswith("**"):
        return f"...{name}"
    optional = "?" if default else ""
    return f"{name}{optional}: {_type(python.strip())}" if python else f"{name}{optional}"


def _type(python: str) -> str:
    plain = re.sub(r"Literal\[([^\][]*)\]", lambda one: one[1].replace(", ", " | "), python)
    lists = re.sub(r"\blist\[(\w+)\]", lambda one: f"{_WORDS.get(one[1], one[1])}[]", plain)
    for name, other in (("list", "Array"), ("dict", "Record")):
        lists = _generic(lists, name, other)
    return _NAMES.sub(lambda one: _WORDS.get(one[0], one[0]), lists)


def _generic(text: str, name: str, other: str) -> str:
    while (at := text.find(f"{name}[")) >= 0:
        inside = at + len(name) + 1
        end = _closing(text, inside)
        if end is None:
            return text
        text = f"{text[:at]}{other}<{text[inside:end]}>{text[end + 1 :]}"
    return text
