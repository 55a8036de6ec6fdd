"""Native values: converts a tool's result to Python. Knows nothing of frames or calls."""

from collections.abc import Callable, Iterator
from copy import copy
from itertools import islice
from json import JSONDecodeError, JSONDecoder, loads as _loads
from re import DOTALL, compile as pattern
from typing import Any, TypeVar

from .media import Media, decoded, media_type, split_url
from .unparsed import tell

_Item = TypeVar("_Item")


class Record(dict[Any, Any]):
    """A dict whose keys are attributes too. Keys that are also dict methods (`items`, `keys`…) are reached as `record["items"]`."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            pass
        keys = ", ".join(map(str, list(self)[:20])) or "none"
        raise AttributeError(f"no key {name!r}; keys: {keys}" + (", …" if len(self) > 20 else ""))

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise AttributeError(f"no key {name!r}")
        del self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(key for key in self if isinstance(key, str))]

    def copy(self) -> "Record":
        return copy(self)

    def __or__(self, other: Any) -> Any:
        joined = super().__or__(other)
        return joined if joined is NotImplemented else Record(joined)

    def __ror__(self, other: Any) -> Any:
        joined = super().__ror__(other)
        return joined if joined is NotImplemented else Record(joined)


class TellingRecord(Record):
    """A record beside which its tool returned more: `.texts`, a list of str that say something else, and `.media`, a
    list of Media. A key of that name comes first."""

    def __getattribute__(self, name: str) -> Any:
        return self[name] if name in ("texts", "media") and name in self else super().__getattribute__(name)


class TellingList(list[Any]):
    """A list beside which its tool returned more: `.texts` and `.media`, as of a record."""

    texts: list[str]
    media: list[Media]


class Listed(list[_Item]):
    """Values of one kind, one line each when printed."""

    _none = "(none)"

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or self._none


_decode = JSONDecoder(object_hook=Record).decode


def loads(s: Any, *args: Any, **options: Any) -> Any:
    """`json.loads` for cells: returns what is parsed already as it is, because a tool that returns `str` may have returned JSON."""
    return s if isinstance(s, (Record, list, tuple)) else _loads(s, *args, **options)


class Text(str):
    """A tool's text of several lines. `.rows` is what it lists, as a list of Records; a text without a known format has
    none. `.json()` is the data in it. `.texts` and `.media` are what its tool returned beside it."""

    texts: list[str]
    media: list[Media]

    def json(self) -> Any:
        """The data in a text of JSON, or of a list, tuple or dict as Python prints it. Raises ValueError for another text."""
        return data_in(self)

    @property
    def rows(self) -> list[Record]:
        from .rows import rows_in

        found = rows_in(self)
        if found is None:
            raise AttributeError(
                "the text has no rows: it is not JSON lines, tagged lines, `key: value` blocks, a Markdown table or CSV; "
                "use .splitlines() or a regular expression"
            )
        return [_recorded(row) for row in found]


def native(result: Any, tool: str = "") -> Any:
    """Returns the value of an MCP tool result: its structured content, else its content blocks as str, list, Record,
    bytes or Media. Images and sounds beside structured content are in `.media` of the value, whose type stays what its
    tool promises. `tool`: its name for a note about a text that looks like data but is not parsed; without it there is
    none."""
    if not isinstance(result, dict):
        return result
    content = result.get("content") or []
    parse = _parser(content, tool)
    if result.get("isText"):
        parse = lambda text: _kept(text, tool)  # noqa: E731
    values = [_block(block, parse) for block in content]
    if result.get("structuredContent") is not None:
        value = result["structuredContent"]
        value = value if result.get("isWhole") else _open_box(value, parse)
        media = [one for one in values if isinstance(one, Media)]
        items = _repeated(value, media, tool) if media and not result.get("isTyped") else None
        if items is not None:
            return items if isinstance(value, list) else items[0]
        return _telling(value, {key: one for key, one in (("texts", result.get("texts")), ("media", media)) if one})
    return values[0] if len(values) == 1 else values or None


def _repeated(value: Any, media: list[Media], tool: str) -> "list[Any] | None":
    """Some servers repeat their content blocks as structured content, boxed or as a single block: these, with all media in them."""
    blocks = value if isinstance(value, list) else [value]
    parse = _parser(blocks, tool)
    items = [_block(item, parse) for item in blocks]
    return items if all(one in items for one in media) else None


def media_in(value: Any, most: int) -> list[tuple[str, str]]:
    """Returns (MIME type, base64) of up to `most` images and sounds inside a list or a dict, at any nesting up to _DEPTH."""
    inside = islice(_inside(value, _DEPTH), _MAX_VISITS)
    return list(islice(((one._shown_type, one._base64) for one in inside if type(one) is Media), most))  # noqa: SLF001


_DEPTH = 4
_MAX_VISITS = 2_000  # of items: a value of millions has no images that all need to be shown
_TELLERS = (TellingRecord, TellingList, Text)
_CONTAINERS = (list, tuple, dict, Record, TellingRecord, TellingList)


def _inside(value: Any, depth: int) -> Iterator[Any]:
    yield from beside(value).get("media", ())
    if type(value) not in _CONTAINERS or not depth:
        return
    for item in value.values() if isinstance(value, dict) else value:
        yield item
        yield from _inside(item, depth - 1)


def beside(value: Any) -> dict[str, Any]:
    """The `texts` and `media` that a tool returned beside a value."""
    return vars(value) if type(value) in _TELLERS else {}


def _telling(value: Any, more: dict[str, Any]) -> Any:
    kind = _TELLING.get(type(value))
    if kind is None or not more:
        return value  # a number has no room for them
    telling = kind(value)
    vars(telling).update(more)
    return telling


_TELLING: dict[type, Any] = {Record: TellingRecord, dict: TellingRecord, list: TellingList, str: Text, Text: Text}


def _open_box(value: object, parse: Callable[[str], object]) -> object:
    """Unwraps a dict with only `result` or `content`: servers must return objects, so they box other values. Text in it
    is treated as a text block."""
    if isinstance(value, dict) and len(value) == 1:
        for name in ("result", "content"):
            if name in value:
                return parse(value[name]) if isinstance(value[name], str) else value[name]
    return value


def _block(block: Any, parse: Callable[[str], object]) -> object:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        return parse(block["text"])
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        url_type, data = split_url(block["data"])
        return Media(data, media_type(str(block.get("mimeType") or url_type), data))
    if kind == "resource" and isinstance(block.get("resource"), dict):
        resource = block["resource"]
        if isinstance(resource.get("text"), str):
            return resource["text"]
        if isinstance(resource.get("blob"), str):
            url_type, data = split_url(resource["blob"])
            mime = media_type(str(resource.get("mimeType") or url_type), data, "")
            if mime.startswith(("image/", "audio/")):
                return Media(data, mime)
            try:
                return decoded(data)
            except ValueError:
                return block  # no base64
    return block


# Most brackets, colons and commas outside of strings, as in a frame: 60 MB of them would not fit into memory.
_MAX_STRUCTURE = 1 << 20


# Python's parser takes hundreds of bytes for a character of a literal.
_MAX_LITERAL = 1 << 18
_CLOSING = {"[": "]", "{": "}", "(": ")"}
# What begins with these is hardly anything but JSON: a list of numbers may be a reference, as in "[1] See below".
_SURELY_JSON = pattern(r'\s*(?:\{\s*"|\[\s*[\[{])')


# The first of several lines is complete, and the next one begins as it does.
_JSON_LINES = pattern(r"\s*(?:\{.*\}|\[.*\])[ \t]*\r?\n\s*[{\[]")
_EACH_LINE = "[json.loads(line) for line in text.splitlines() if line]"


def _parser(content: object, tool: str) -> Callable[[str], object]:
    return (lambda text: _parsed(text, tool)) if _may_parse(content) else (lambda text: _too_large(text, tool))


def _too_large(text: str, tool: str) -> str:
    if _SURELY_JSON.match(text):
        tell(tool, "it is too large", _EACH_LINE if _JSON_LINES.match(text) else "json.loads(text)")
    return text


def _may_parse(content: object) -> bool:
    """True if the texts of a result are small and plain enough to parse, if they are JSON."""
    blocks = content if isinstance(content, list) else []
    texts: list[str] = [
        block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
    ]
    if sum(map(len, texts)) <= _MAX_STRUCTURE:
        return True
    likely = [text for text in texts if text.lstrip()[:1] in ("{", "[")]
    return sum(text.count(mark) for text in likely for mark in "[]{}:,") <= _MAX_STRUCTURE


def _kept(text: str, tool: str) -> str:
    """The text, as its tool promises."""
    if _SURELY_JSON.match(text) or _SURELY_PYTHON.match(text):
        tell(tool, "its tool promises a str", "runtime.json(text)")
    return Text(text) if len(text) <= _MAX_TEXT else text


def data_in(value: Any) -> Any:
    """The data in a text of JSON or of a list, tuple or dict as Python prints it; data as it is. Raises ValueError for another text."""
    if not isinstance(value, (str, bytes, bytearray)):
        return value
    text = value if isinstance(value, str) else value.decode("utf-8-sig")
    bare = unwrapped(text)
    try:
        return _decode(bare)
    except JSONDecodeError:
        data = _literal(bare, "")
        if data is bare:
            raise
        return data


_FENCED = pattern(r"\s*(`{3,}|~{3,})[^\n`]*\n(.*)\n\1\s*", DOTALL)


def unwrapped(text: str) -> str:
    """A text without a byte order mark and a Markdown fence around all of it."""
    bare = text.removeprefix("\ufeff")
    fenced = _FENCED.fullmatch(bare) if bare.lstrip()[:3] in ("```", "~~~") else None
    return fenced[2] if fenced else bare


# A longer text would take too much room a second time.
_MAX_TEXT = 1 << 20


def _parsed(text: str, tool: str) -> object:
    """The data in a text, or the text, with its rows."""
    value = _data(text, tool)
    return Text(text) if value is text and len(text) <= _MAX_TEXT else value


def _data(text: str, tool: str) -> object:
    """Parses JSON objects and arrays, and Python's lists, tuples and dicts; a bare number or word stays a text."""
    first = text.lstrip()[:1]
    if first in ("\ufeff", "`", "~") and _SURELY_JSON.match(unwrapped(text)):
        tell(tool, "a byte order mark or a fence is around it", "runtime.json(text)")
        return text
    if first in ("{", "["):
        try:
            return _decode(text)
        except JSONDecodeError as problem:
            if problem.msg == "Extra data" and _JSON_LINES.match(text):
                tell(tool, "it has JSON on each line", _EACH_LINE)
            elif problem.msg == "Extra data" and _SURELY_JSON.match(text):
                tell(
                    tool,
                    f"more text follows the JSON, from character {problem.pos:,}",
                    "json.JSONDecoder().raw_decode(text)",
                )
            if problem.msg == "Extra data":
                return text
        except (ValueError, RecursionError):
            pass
    if first in _CLOSING and text.rstrip()[-1] == _CLOSING[first]:
        return _literal(text, tool)
    return text


def _literal(text: str, tool: str) -> object:
    """Some servers print Python values: `[{'a': None}]`. Only as Python prints them: the bridge, which looks for where
    values came from, reads no `'a' 'b'` and no `\\141b`."""
    import ast
    import warnings

    if len(text) > _MAX_LITERAL:
        if _SURELY_PYTHON.match(text):
            tell(tool, "it is a Python value, and too large", "ast.literal_eval(text)")
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings
            value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text
    is_printed = type(value) in (list, tuple, dict) and _squeezed(ascii(value)) == _squeezed(text)
    return _recorded(value) if is_printed else text


def _squeezed(literal: str) -> str:
    """A literal without what may differ where it was printed: spaces, quotes, and which foreign characters are escaped."""
    ascii_only = literal.encode("ascii", "backslashreplace").decode()
    return "".join(ascii_only.split()).replace('"', "'").replace("\\\\", "\\")


_SURELY_PYTHON = pattern(r"""\s*[\[({]+\s*(?:'|"|\(|True\b|False\b|None\b)""")


def _recorded(value: Any) -> Any:
    """The same with every dict as a Record."""
    if type(value) is dict:
        return Record((key, _recorded(item)) for key, item in value.items())
    return type(value)(map(_recorded, value)) if type(value) in (list, tuple) else value
