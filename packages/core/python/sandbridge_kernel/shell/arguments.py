"""Parses command line arguments according to a tool's input schema. Pure. Refuses nothing that the bridge would refuse:
it has the schema, too, and reports invalid values."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable
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
            if re.match("-[A-Za-z]", word):
                raise UsageError(
                    f"{word[:80]!r} is not an option: options begin with two dashes. Write -- before it to pass it as a value"
                )
            if given:
                raise UsageError(f"{word[:80]!r} has no option: values without one come first, or behind --")
            args.append(reader.value(names[len(args)] if len(args) < len(names) else "", word))
            continue
        name, equals, text = word[2:].partition("=")
        if name == "json":
            _merge(given, text if equals else _next(rest, "--json"))
            continue
        if not equals:
            if name.startswith("no-") and not reader.knows(name) and reader.is_flag(name[3:]):
                name, text = name[3:], "false"
            elif reader.is_flag(name) and not (rest and reader.is_value(name, rest[0])):
                text = "true"
            else:
                option = rest[0] if rest and rest[0].startswith("--") else ""
                if reader.knows(option[2:].partition("=")[0]):
                    raise UsageError(f"{word} needs a value. If it is {option[:80]!r}: {word}={option[:80]}")
                text = _next(rest, word)
        given.setdefault(reader.true_name(name), []).append(text)
    return args, {name: reader.values(name, texts) for name, texts in given.items()}


def true_names(schema: object) -> Callable[[str], str]:
    """Returns a function that finds the tool's own name for one of Python."""
    return _Reader(schema).true_name


class _Whole:
    """A value given as JSON."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _merge(given: dict[str, list[Any]], text: str) -> None:
    try:
        value = _loads(text)
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
        """Returns `dry_run` for `dry-run`, unless the tool has a name with a dash, and `dryRun` if it has that."""
        if name in self._properties:
            return name
        alike = [one for one in self._properties if _folded(one) == _folded(name)]
        return alike[0] if len(alike) == 1 else name.replace("-", "_")

    def is_flag(self, name: str) -> bool:
        kinds = self._kinds(self._properties.get(self.true_name(name)))
        return "boolean" in kinds and "string" not in kinds

    def is_value(self, name: str, word: str) -> bool:
        """True for a word that the flag of this name takes as its value."""
        kinds = self._kinds(self._properties.get(self.true_name(name)))
        return not isinstance(_read(word, kinds), str)

    def values(self, name: str, texts: list[Any]) -> Any:
        if isinstance(texts[-1], _Whole):
            return texts[-1].value
        texts = [text for text in texts if not isinstance(text, _Whole)]
        schema = self._properties.get(name)
        if texts == ["null"] and self._kinds(schema) == {"array", "null"}:
            return None
        if "array" in self._kinds(schema) and (len(texts) > 1 or not texts[0].lstrip().startswith("[")):
            if len(texts) > 1 or "string" not in self._kinds(schema):
                items = self._items(schema)
                return [self._value(items, text) for text in texts]
        read = [self._value(schema, text) for text in texts]
        return read[0] if len(read) == 1 else read

    def value(self, name: str, text: str) -> Any:
        return self._value(self._properties.get(self.true_name(name)), text)

    def _value(self, schema: object, text: str) -> Any:
        kinds = self._kinds(schema)
        choices = self._choices(schema)
        if choices and text not in choices:
            value = _read(text, kinds - {"string"})
            return value if any(value == one and type(value) is type(one) for one in choices) else _read(text, kinds)
        return _read(text, kinds)

    def _items(self, schema: object) -> object:
        return next((one["items"] for one in self._parts(schema) if "items" in one), None)

    def _choices(self, schema: object) -> list[Any]:
        """The values of every enum and const."""
        found: list[Any] = []
        for one in self._parts(schema):
            values = one.get("enum")
            found += values if isinstance(values, list) else [one["const"]] if "const" in one else []
        return found

    def _parts(self, schema: object) -> list[dict[str, Any]]:
        """The schema and what it is made of. Options that refer to each other would be read billions of times."""
        open_parts: list[object] = [schema]
        seen: set[int] = set()
        found: list[dict[str, Any]] = []
        while open_parts and len(found) < _MAX_PARTS:
            one = self._resolved(open_parts.pop(0))
            if id(one) in seen:
                continue
            seen.add(id(one))
            found.append(one)
            for word in ("allOf", "anyOf", "oneOf"):
                options = one.get(word)
                open_parts += options[:_MAX_OPTIONS] if isinstance(options, list) else []
        return found

    def _resolved(self, schema: object) -> dict[str, Any]:
        for _ in range(_MAX_DEPTH):
            reference = schema.get("$ref") if isinstance(schema, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#"):
                break
            schema = self._root
            for key in reference[1:].split("/")[1:]:
                schema = _member(schema, unquote(key).replace("~1", "/").replace("~0", "~"))
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

    def _kinds(self, schema: object) -> Kinds:
        """Returns the JSON types that a value may have; empty if the schema does not say."""
        found: set[str] = set()
        for one in self._parts(schema):
            kind = one.get("type")
            kinds = kind if isinstance(kind, list) else [kind]
            found.update(one for one in kinds if isinstance(one, str))
            if one.get("nullable") is True:
                found.add("null")
            values = one.get("enum")
            values = values if isinstance(values, list) else [one["const"]] if "const" in one else []
            found.update(_KINDS.get(type(value), "object") for value in values[:_MAX_PARTS] if kind is None)
        return frozenset(found)


_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", type(None): "null"}
_WORDS = dict.fromkeys("true yes y on 1".split(), True) | dict.fromkeys("false no n off 0".split(), False)


def _folded(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()


def _member(schema: object, key: str) -> object:
    if isinstance(schema, list):
        return schema[int(key)] if key.isdecimal() and len(key) < 6 and int(key) < len(schema) else None
    return schema.get(key) if isinstance(schema, dict) else None


def _loads(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise UsageError(f"{word[:40]} has no form in JSON: send null for what is missing")

    def read(number: str) -> float:
        value = float(number)
        return refuse(number) if value in (float("inf"), float("-inf")) else value

    return json.loads(text, parse_constant=refuse, parse_float=read)


def _read(text: str, kinds: Kinds) -> Any:
    """Reads a text as a string if the tool accepts strings, else as JSON if it is valid JSON, or as Python writes it."""
    if "string" in kinds and not (kinds & {"object", "array"} and text.lstrip()[:1] in ("{", "[")):
        return text
    if not kinds & _PLAIN and text[:1] not in ("{", "["):
        return text
    word = text.lower()
    if "null" in kinds and word in ("none", "null"):
        return None
    if "boolean" in kinds and word in _WORDS and not (kinds & {"integer", "number"} and word in ("0", "1")):
        return _WORDS[word]
    try:
        return _loads(re.sub(r"^(-?)(?=\.\d)", r"\g<1>0", text))
    except UsageError:
        if kinds & {"integer", "number"}:
            raise
        return text
    except (ValueError, RecursionError):
        return text
