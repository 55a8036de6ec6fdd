"""Detects secrets by name, by form, or by a variable that holds the value, and removes them from what an error shows.
Never runs a cell's code: inspects only builtin values."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ..data.values import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import FrameType
    from typing import Any

_TEXT_CHARS = 1000  # longest text that is checked; far fewer characters are ever shown
_MAX_VISITED = 3000
_MAX_DEPTH = 3
_HIDDEN = "<hidden>"

# The words that mark a name are those of packages/core/src/config/secrets/secret-arguments.ts.
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_WORDS = frozenset(
    "token tokens pass pw pwd psw password passwd passphrase passcode pin otp totp secret secrets auth oauth authorization "
    "credential credentials cred creds cookie cookies jwt bearer sig signature mnemonic private cvv cvc ssn".split()
)
_SECRET_PART = re.compile(
    r"passw|passphrase|passcode|secret|credential|authorization|apikey|authkey|privatekey|accesskey|cookie|tokens?$|pwd$|(?:db|user)pass$"
)
_KEY_WORDS = frozenset(("key", "keys"))
_MAYBE = frozenset(("key", "keys", "api"))  # alone, these depend on their value
_ORDINARY_KEYS = frozenset(
    "sort primary foreign group partition cache row dict col column join index first last next prev previous new old min max best missing "
    "unknown main by name func function order map item value field sorted object json".split()
)
_COUNTS = frozenset("max min count num n total used limit len length size per usage budget".split())
_NUMBERS_SHOWN = frozenset("token tokens cookie cookies signature private auth pass".split())

_FORMS = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_|github_pat_|hf_|npm_|[rs]k_(?:live|test)_|whsec_|gl(?:pat|ptt|dt|rt|soat)-|xox[a-z]-|xapp-|AIza|A[KS]IA[A-Z0-9]|ya29\.|"
    r"dop_v1_|shp(?:at|ss|ca|pa)_|sq0\w{3}-|pypi-|lin_api_|ntn_|secret_|figd_|sntrys_|dckr_pat_|hvs\.|PMAK-|nvapi-|gsk_|r8_|xai-|tvly-|ATATT3|"
    r"SG\.[\w-]{10}|sk-[\w-]{6}|AGE-SECRET-KEY-|eyJ[\w-]{8,}\.)[^\s\"'<>&,;]*|\bBearer\s+\S{6,}|\bBasic\s+(?=[a-z]*[A-Z0-9+/=])[\w+/]{8,}=*"
)
_BLOCK = re.compile(r"-----BEGIN")
_USERINFO = re.compile(r"(://)(?:[^\s/?#\"'<>]*|[^\s/:@?#\"'<>]*:(?!\d+/)[^\s\"'<>]*)@")
_NAMED = re.compile(r"""(?<![\w-])([\w-]+)["']?\s*[=:]\s*""")
_VALUE = re.compile(r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[^&;"'\n]+""")
_NOTHING = frozenset(("None", "null", "true", "false", "True", "False", '""', "''"))
_RANDOM = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{20,}(?![A-Za-z0-9])")
_SWITCH = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_PIECE = re.compile(r"[ _.,:/()+-]+")
_MRO = type.__dict__["__mro__"].__get__
_NAMES = type.__dict__["__dict__"].__get__
# Type of the `__dict__` that Python gives a class; a class may define its own.
_DICT_OF = type(type.__dict__["__dict__"])


def kind_of(value: object) -> type:
    """Returns the type of a value; a tool's text is a str here."""
    kind = type(value)
    return str if kind is Text else kind


def is_secret(name: str, value: Any) -> bool:
    """True if a value of this name must not be shown. Empty values, booleans and floats may always be shown."""
    kind = kind_of(value)
    if value is None or kind in (bool, float) or (kind in (str, bytes, int, list, tuple, dict) and not value):
        return False
    words = [word.lower() for word in _WORDS.findall(name)]
    if kind is int and (_COUNTS.intersection(words) or _NUMBERS_SHOWN.intersection(words)):
        return False
    if any(word in _SECRET_WORDS or _SECRET_PART.search(word) for word in words) or _SECRET_PART.search("".join(words)):
        return True
    has_key = bool(_KEY_WORDS.intersection(words))
    if has_key and len(words) > 1 and not _ORDINARY_KEYS.intersection(words):
        return True
    if kind not in (str, bytes) or not words or words[-1] not in _MAYBE or not (has_key or len(words) == 1):
        return False
    return not _is_plain(value if kind is str else value[:100].decode("latin-1"))


def _is_plain(text: str) -> bool:
    """True for words, numbers, paths and addresses; False for one long run of letters and digits."""
    return len(text) <= 80 and all(len(part) <= 3 or part.isalpha() or part.isdigit() for part in _PIECE.split(text))


def redacted(text: str, known: Iterable[str] = ()) -> str:
    """Return the start of a text, without secrets and without the `known` ones."""
    text = text[:_TEXT_CHARS] if len(text) > _TEXT_CHARS else text
    if _BLOCK.search(text):
        return _HIDDEN
    for secret in known:
        if secret == text:
            return _HIDDEN
        if len(secret) >= 4 and secret in text:
            text = text.replace(secret, _HIDDEN)
    text = _USERINFO.sub(rf"\1{_HIDDEN}@", text)
    text = _FORMS.sub(_HIDDEN, text)
    return _RANDOM.sub(_ends, _without_values(text))


def _without_values(text: str) -> str:
    """Hide the values of `password=x`, `"api_key": "x"`, `Authorization: x` in a text."""
    parts, end = [], 0
    for match in _NAMED.finditer(text):
        value = _VALUE.match(text, match.end())
        if match.start() < end or not value or value[0] in _NOTHING:
            continue
        bare = value[0].strip("\"'")
        if is_secret(match[1], int(bare) if bare.isdecimal() else bare):
            parts += [text[end : match.end()], _HIDDEN]
            end = value.end()
    return "".join([*parts, text[end:]])


def _ends(match: re.Match[str]) -> str:
    text = match[0]
    return f"{text[:4]}…{text[-4:]}" if len(_SWITCH.findall(text)) >= 4 else text


def label(value: Any) -> str:
    """Returns the name that a text may give to the value beside it: `password`, `--token`, b"key"."""
    if type(value) is bytes:
        value = value[:100].decode("latin-1")
    return value.lstrip("-") if kind_of(value) is str and len(value) < 100 and "=" not in value else ""


def known_secrets(frames: list[FrameType]) -> list[str]:
    """Returns, as texts, the values with the name of a secret in these frames: in variables, and in their data and objects."""
    found, seen = set(), set()
    pending = []
    for frame in frames:
        for names in (frame.f_locals, frame.f_globals):
            # A class's namespace may run code when it is read.
            if type(names) is dict or frame.f_code.co_flags & 0x1:
                if type(names) is dict and id(names) in seen:
                    continue
                seen.add(id(names))
                pending += [
                    (name, value, 0)
                    for name, value in list(names.items())
                    if type(name) is str and not name.startswith("__")
                ]
    visited = 0
    while pending and visited < _MAX_VISITED:
        visited += 1
        name, value, depth = pending.pop()
        kind = kind_of(value)
        if kind in (str, bytes, int):
            if name and is_secret(name, value):
                text = (
                    value.decode("latin-1")
                    if kind is bytes
                    else str(value)
                    if kind is str or value.bit_length() < 200
                    else ""
                )
                if text and (kind is not int or len(text) >= 4) and len(text) <= _TEXT_CHARS:
                    found.add(text)
        elif depth < _MAX_DEPTH and id(value) not in seen:
            seen.add(id(value))
            pending += [(part_name or name, part, depth + 1) for part_name, part in _parts(value, kind)]
    return sorted(found, key=len, reverse=True)


def _parts(value: Any, kind: type) -> Iterable[tuple[str, Any]]:
    """Returns (name or "", part) for each part of data and plain objects."""
    if kind in (list, tuple):
        some = value[:100]
        return [(label(some[at - 1]) if at and is_flagged(some, at) else "", part) for at, part in enumerate(some)]
    names = value if issubclass(kind, dict) else _attributes(value, kind)
    return [(label(key), part) for key, part in islice(dict.items(names), 100)] if names else []


def is_flagged(items: Sequence[Any], at: int) -> bool:
    """True if a list item is the value of the name before it: in a pair, or as in ["--password", "x"]."""
    before: Any = items[at - 1] if at else None
    if kind_of(before) not in (str, bytes) or not (len(items) == 2 or before[:1] in ("-", b"-")):
        return False
    return is_secret(label(before), items[at])


def _attributes(value: Any, kind: type) -> dict[Any, Any] | None:
    """Returns the `__dict__` of an object, without its class's own attribute lookup."""
    for one in _MRO(kind):
        own = _NAMES(one).get("__dict__")
        if type(own) is _DICT_OF:
            names = own.__get__(value, kind)
            return names if type(names) is dict else None
    return None
