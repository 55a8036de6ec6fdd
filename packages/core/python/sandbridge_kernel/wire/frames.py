"""Frames: one JSON object per line. Encodes the kernel's, decodes the bridge's. frame_types.py has their fields."""

from __future__ import annotations

import re
from array import array
from itertools import accumulate
from json import JSONDecoder, JSONEncoder, dumps
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, cast

from ..data.values import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from .frame_types import ReplyFrame, RunFrame

PROTOCOL_VERSION = 1
MAX_FRAME_BYTES = 64 * 1024 * 1024
MAX_STRUCTURE = 1 << 20
MAX_INEXACT_STRUCTURE = 1 << 18
MAX_NESTING = 1000

# ASCII only, so that lone surrogates survive; no NaN, which JSON lacks: the bridge would drop the frame.
_OPTIONS: dict[str, Any] = {"ensure_ascii": True, "allow_nan": False, "separators": (",", ":")}
# One per `default`, of which there are few: creating an encoder costs more than encoding a call with it.
_encoders: dict[Callable[[Any], Any] | None, Callable[[Any], str]] = {}
_decoder = JSONDecoder(object_hook=Record)
_scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once  # type: ignore[attr-defined]


def _encoder(default: Callable[[Any], Any] | None) -> Callable[[Any], str]:
    """Returns an encoder. `JSONEncoder.encode` creates its C encoder for each value and checks it for cycles: as much work again."""
    careful = JSONEncoder(default=default, **_OPTIONS).encode
    if c_make_encoder is None:
        return careful
    quick = c_make_encoder(None, default, encode_basestring_ascii, None, ":", ",", False, False, False)

    def encode(value: Any) -> str:
        try:
            return "".join(quick(value, 0))
        except RecursionError:
            return careful(value)  # reports a value that contains itself

    return encode


class FrameError(ValueError):
    """A line that is not a frame, or a frame that is too large."""


def encode(frame: Mapping[str, Any], default: Callable[[Any], Any] | None = None) -> bytes:
    """Return the line for a frame, including LF. `default` converts what JSON lacks; a frame with it is a call, and
    tools get every integer, where the bridge itself would round one (ValueError). Raises FrameError beyond 64 MiB or
    too much structure, and json's errors."""
    make = _encoders.get(default)
    if make is None:
        make = _encoders[default] = _encoder(default)
    text = make(frame)
    if default and frame["method"] != "call_tool" and _LONG_NUMBER.search(text):
        _check_integers(frame["params"], default)
    if default and _ODD_KEY.search(text):
        _check_keys(frame["params"], default)
    if len(text) >= MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {len(text):,} bytes is over the limit of {MAX_FRAME_BYTES:,}")
    if len(text) > MAX_NESTING:
        _check_structure(text)
    return text.encode("ascii") + b"\n"


# Or the same in a string: the text is a quick test.
_LONG_NUMBER = re.compile(r"[:,\[]-?[1-9]\d{15}")
_MAX_INTEGER = 2**53 - 1


# What a key becomes that is no str, unless it stands in a string.
_ODD_KEY = re.compile(r'"(?:-?[\dIN]|true|false|null)[^"]*":')


def _parts(value: Any, default: Callable[[Any], Any], name: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the value and all that is in it, as JSON has it, each with the key that it is below."""
    yield name, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _parts(item, default, str(key))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _parts(item, default, name)
    elif not isinstance(value, (str, int, float, type(None))):
        yield from _parts(default(value), default, name)


def _check_keys(value: Any, default: Callable[[Any], Any]) -> None:
    """Raises ValueError for a dict with two keys that JSON spells alike: the value of one would be lost."""
    for _, part in _parts(value, default):
        names: dict[str, Any] = {}
        for key in part if isinstance(part, dict) else ():
            name = key if isinstance(key, str) else dumps(key)
            if names.setdefault(name, key) is not key:
                raise ValueError(f"the keys {names[name]!r} and {key!r} are both {name!r} in JSON: rename one")


def _check_integers(value: Any, default: Callable[[Any], Any]) -> None:
    for name, part in _parts(value, default):
        if isinstance(part, int) and abs(part) > _MAX_INTEGER:
            shown = f" {part}" if abs(part) < 10**30 else ""
            where = f" in {name[:80]!r}" if name else ""
            raise ValueError(f"the integer{shown}{where} is beyond 2**53, where JSON is not exact: pass it as a str")


_STRING = re.compile('"[^"]*"')
# What the bridge reads more slowly, to keep each number and the order of keys: as in its parse-exact.ts.
_INEXACT = re.compile(r'[:,\[]-?\d{16}|"\d+":')
_FLOAT = re.compile(r"[:,\[]-?\d+(?:\.0+[,\]}]|(?:\.\d+)?[eE](?!-))")
_DEEPER = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # 1 and -1 as signed bytes


def _check_structure(text: str) -> None:
    limit, numbers = MAX_STRUCTURE, ""
    structure = sum(map(text.count, "[]{}:,"))  # with those in strings, a quick test
    if structure > MAX_INEXACT_STRUCTURE and _is_inexact(text):
        limit, numbers = MAX_INEXACT_STRUCTURE, " beside numbers such as 3.0"
    if structure <= limit and text.count("[") + text.count("{") <= MAX_NESTING:
        return
    # Backslashes occur only in strings. Without escapes, a string ends at the next quote.
    bare = _STRING.sub("", text.replace("\\\\", "").replace('\\"', ""))
    structure = sum(map(bare.count, "[]{}:,"))
    if structure > limit:
        raise FrameError(f"{structure:,} brackets, colons and commas of JSON{numbers} are over the limit of {limit:,}")
    steps = array("b", re.sub(r"[^][{}]+", "", bare).encode("ascii").translate(_DEEPER))
    depth = max(accumulate(steps), default=0)
    if depth > MAX_NESTING:
        raise FrameError(f"lists and objects {depth:,} deep in each other are over the limit of {MAX_NESTING:,}")


def _is_inexact(text: str) -> bool:
    return bool(_INEXACT.search(text) or ((".0" in text or "e+" in text) and _FLOAT.search(text)))


def decode(line: bytes | bytearray) -> RunFrame | ReplyFrame:
    """Decode a line from the bridge: a `run`, or a `reply` with a number. Other fields are not checked: the bridge is
    trusted. Raises FrameError for anything else, RecursionError for too deep nesting."""
    try:
        text = line.decode("utf-8")
        try:
            frame, end = _scan(text, 0)
        except StopIteration:
            end = -1
        if end != len(text):
            frame = _decoder.decode(text)  # white space around it, or an error with a message
    except ValueError as error:
        raise FrameError(f"not JSON: {error}") from None
    if not isinstance(frame, dict) or frame.get("type") not in ("run", "reply"):
        raise FrameError("not a frame of the bridge")
    if frame["type"] == "reply" and not isinstance(frame.get("id"), int):
        raise FrameError("a reply to no call")
    return cast("RunFrame | ReplyFrame", frame)
