"""Parses command line arguments according to a tool's input schema. Pure.

Refuses nothing that the bridge would refuse: it has the schema, too, and reports invalid values.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    Kinds = frozenset[str]

_MAX_DEPTH = 8
_MAX_PARTS = 1_000
_MAX_OPTIONS = 50
_PLAIN = frozenset(("null", "boolean", "integer", "number", "array", "object"))


SWITCHES = frozenset(("--help", "-h", "--raw"))  # of `mcp` itself


class UsageError(ValueError):
    """The command line cannot be parsed."""


def parse(
    words: list[str], schema: object, names: list[str], switches: set[str] | None = None
) -> tuple[list[Any], dict[str, Any]]:
    """Returns (positional arguments, named ones) from `--name value`, `--name=value`, `--flag`, `--no-flag` and values without a name.
    A repeated name makes a list. `names` are the tool's parameters in positional order. `switches` gets the SWITCHES that
    stand in the place of an option, and not as a value. After one for help, `parse` reads no more words."""
    reader = _Reader(schema)
    args: list[Any] = []
    given: dict[str, list[Any]] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            args += [reader.value(name, text) for name, text in zip(names[len(args) :], rest)]
            args += rest[len(args) :] if len(args) >= len(names) else []
            break
        if switches is not None and word in SWITCHES:
            switches.add(word)
            if word == "--raw":
                continue
            break
        if not word.startswith("--"):
            args.append(reader.value(names[len(args)] if len(args) < len(names) else "", word))
            continue
        name, equals, text = word[2:].partition("=")
        if name == "json":
            _merge(given, text if equals else _next(rest, "--json"))
            continue
        if not equals:
            if name.startswith("no-") and not reader.knows(name) and reader.is_flag(name[3:]):
                name, text = name[3:], "false"
            elif reader.is_flag(name) and not (rest and rest[0] in ("true", "false")):
                text = "true"
            else:
                text = _next(rest, word)
        given.setdefault(reader.true_name(name), []).append(text)
    return args, {name: reader.values(name, texts) for name, texts in given.items()}


class _Whole:
    """A value given as JSON."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _merge(given: dict[str, list[Any]], text: str) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--json is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError("--json must be an object with the tool's arguments")
    for name, one in value.items():
        given[name] = [_Whole(one)]


def _next(rest: list[str], word: str) -> str:
    if not rest:
        raise UsageError(f"{word} needs a value")
    return rest.pop(0)


class _Reader:
    def __init__(self, schema: object) -> None:
        self._root = schema if isinstance(schema, dict) else {}
        self._properties: dict[str, Any] = {}
        self._parts_left = _MAX_PARTS
        self._collect(self._root, 0)

    def knows(self, name: str) -> bool:
        return self.true_name(name) in self._properties

    def true_name(self, name: str) -> str:
        """Returns `dry_run` for `dry-run`, unless the tool has a name with a dash."""
        return name if name in self._properties else name.replace("-", "_")

    def is_flag(self, name: str) -> bool:
        kinds = self._kinds(self._properties.get(self.true_name(name)))
        return "boolean" in kinds and "string" not in kinds

    def values(self, name: str, texts: list[Any]) -> Any:
        if isinstance(texts[-1], _Whole):
            return texts[-1].value
        texts = [text for text in texts if not isinstance(text, _Whole)]
        schema = self._properties.get(name)
        if "array" in self._kinds(schema) and (len(texts) > 1 or not texts[0].lstrip().startswith("[")):
            if len(texts) > 1 or "string" not in self._kinds(schema):
                kinds = self._kinds(self._resolved(schema).get("items"))
                return [_read(text, kinds) for text in texts]
        kinds = self._kinds(schema)
        read = [_read(text, kinds) for text in texts]
        return read[0] if len(read) == 1 else read

    def value(self, name: str, text: str) -> Any:
        return _read(text, self._kinds(self._properties.get(name)))

    def _resolved(self, schema: object) -> dict[str, Any]:
        for _ in range(_MAX_DEPTH):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                break
            schema = self._root
            for key in reference[2:].split("/"):
                schema = schema.get(key) if isinstance(schema, dict) else None
        return schema if isinstance(schema, dict) else {}

    def _collect(self, schema: object, depth: int) -> None:
        """Takes the properties that the schema names, also in its parts."""
        self._parts_left -= 1
        if depth > _MAX_DEPTH or self._parts_left < 0 or not isinstance(schema, dict):
            return
        properties = schema.get("properties")
        for name, one in properties.items() if isinstance(properties, dict) else ():
            self._properties.setdefault(name, one)
        if "$ref" in schema:
            self._collect(self._resolved(schema), depth + 1)
        for word in ("allOf", "anyOf", "oneOf"):
            parts = schema.get(word)
            for part in parts[:_MAX_OPTIONS] if isinstance(parts, list) else ():
                self._collect(part, depth + 1)
        for word in ("then", "else"):
            self._collect(schema.get(word), depth + 1)

    def _kinds(self, schema: object, depth: int = 0, seen: set[int] | None = None) -> Kinds:
        """Returns the JSON types that a value may have; empty if the schema does not say."""
        schema = self._resolved(schema)
        # Options that refer to each other would be read billions of times.
        seen = set() if seen is None else seen
        if id(schema) in seen or len(seen) >= _MAX_PARTS:
            return frozenset()
        seen.add(id(schema))
        kind = schema.get("type")
        if isinstance(kind, str):
            return frozenset((kind,))
        if isinstance(kind, list):
            return frozenset(one for one in kind if isinstance(one, str))
        if isinstance(values := schema.get("enum"), list):
            return frozenset("string" if isinstance(one, str) else "number" for one in values)
        found: Kinds = frozenset()
        for word in ("anyOf", "oneOf"):
            options = schema.get(word)
            for one in options[:_MAX_OPTIONS] if isinstance(options, list) and depth < _MAX_DEPTH else ():
                found |= self._kinds(one, depth + 1, seen)
        return found


def _read(text: str, kinds: Kinds) -> Any:
    """Reads a text as a string if the tool accepts strings, else as JSON if it is valid JSON."""
    if "string" in kinds and not (kinds & {"object", "array"} and text.lstrip()[:1] in ("{", "[")):
        return text
    if not kinds & _PLAIN and text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
