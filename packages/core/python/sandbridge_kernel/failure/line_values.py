"""Formats the values of the names on the failing line, shortened. Never runs a cell's code: only builtin values are
written out, others by type. Shows a name only if its value is certainly the one that the line had. Omits secrets."""

from __future__ import annotations

import ast
import builtins
import linecache
import re
from typing import TYPE_CHECKING

from ..data.values import Record
from ..show.tables import outline
from .concealment import is_flagged, is_secret, kind_of, known_secrets, label, redacted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType, TracebackType
    from typing import Any

_MAX_NAMES = 6
_MAX_CHARS = 80
_ITEMS = 4
_FUNCTION = 0x1  # inspect.CO_OPTIMIZED
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w)(?!\s*=[^=])")
_TEXT = re.compile(r"""[rbfuRBFU]{0,2}("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\#.*""")
_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_HIDDEN = "<hidden>"
_TYPE_NAME = type.__dict__["__name__"].__get__


def values_on_line(error: BaseException | None) -> str:
    """Returns `a = 1, b = [2, 3]` for the last line of the cell that an error passed through; "" if there is nothing to show."""
    error = _only_one(error)
    if error is None or isinstance(error, (NameError, ImportError, SyntaxError)):  # these are about names, not values
        return ""
    frames, frame, number = _frames(error.__traceback__)
    if frame is None:
        return ""
    line = linecache.getline(frame.f_code.co_filename, number)
    bound = _bound_on_line(frame.f_code.co_filename, number)
    secrets = known_secrets(frames)
    shown = []
    for name in dict.fromkeys(_NAME.findall(_TEXT.sub('""', line))):
        found, value = _lookup(frame, name, bound.get(name, ()))
        if not found or is_secret(name, value):
            continue
        text = _short(value, 0, secrets)
        if text is not None:
            shown.append(f"{name} = {text}")
    return ", ".join(shown[:_MAX_NAMES])


def _only_one(error: BaseException | None) -> BaseException | None:
    """Returns the single exception in a group; None for several, since no single line failed."""
    for _ in range(20):
        if not isinstance(error, _GROUP):
            return error
        errors = _GROUP.exceptions.__get__(error)  # a class of the cell may have replaced the attribute
        if len(errors) != 1:
            return None
        error = errors[0]
    return None


def _frames(traceback: TracebackType | None) -> tuple[list[FrameType], FrameType | None, int]:
    """Returns the frames that an error passed through from the first of the cell on, and the last of these with its line.
    A frame of the kernel whose variables are read keeps the error, and all that the cell's functions had in hand."""
    frames: list[FrameType] = []
    frame, number = None, 0
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith("Cell "):
            frame, number = traceback.tb_frame, traceback.tb_lineno
        if frame is not None:
            frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return frames, frame, number or 0


def _bound_on_line(filename: str, number: int) -> dict[str, list[str]]:
    """Returns name -> code names of the comprehensions, lambdas and functions on a line that have their own variable of that name."""
    bound: dict[str, list[str]] = {}
    try:
        nodes: Iterator[Any] = ast.walk(ast.parse("".join(linecache.getlines(filename))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return bound
    for node in nodes:
        if not getattr(node, "lineno", number + 1) <= number <= (getattr(node, "end_lineno", None) or 0):
            continue
        names = []
        if type(node) in _COMPREHENSIONS:
            code = _COMPREHENSIONS[type(node)]
            targets = [one.target for one in node.generators]
            names = [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
        elif (
            isinstance(node, ast.Lambda)
            or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and number <= _head_end(node)
        ):
            code = getattr(node, "name", "<lambda>")
            names = [inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)]
        for name in set(names):
            bound.setdefault(name, []).append(code)
    return bound


def _head_end(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Returns the last line of a function's head, or its only line."""
    return max(function.lineno, function.body[0].lineno - 1)


def _lookup(frame: FrameType, name: str, binders: Sequence[str]) -> tuple[bool, Any]:
    """Returns whether a name certainly had a value in this frame, and the value. From Python 3.12 on, a comprehension is part of its function's
    code, and its variables are gone when it fails: the name then has another value."""
    code = frame.f_code
    is_own = name in code.co_varnames or name in code.co_cellvars or name in code.co_freevars
    if binders and not (is_own and binders == [code.co_name]):
        return False, None
    for names in (frame.f_locals,) if is_own else (frame.f_locals, frame.f_globals):
        # A function's namespace is Python's own; a class's may run code when it is read.
        if (type(names) is dict or code.co_flags & _FUNCTION) and name in names:
            return True, names[name]
    return False, None


def _short(value: Any, depth: int, secrets: list[str]) -> str | None:
    """Returns a value in a few characters; None for modules, functions and classes, which say nothing."""
    kind = kind_of(value)
    if value is None or kind is bool or kind is float:
        return repr(value)
    if kind is int:
        if value.bit_length() > 200:
            return f"<int of {value.bit_length()} bits>"
        return _HIDDEN if secrets and str(value) in secrets else repr(value)
    if kind is str or kind is bytes:
        return _short_text(value, secrets)
    if kind in (list, tuple, set, frozenset, dict, Record):
        return _short_container(value, kind, depth, secrets)
    name = _TYPE_NAME(kind)
    if (words := outline(value)) is not None:
        return words
    return None if depth == 0 and name in _MUTE else f"<{name}>"


_GROUP: Any = getattr(builtins, "BaseExceptionGroup", ())
_BRACKETS: dict[type, tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")")}
_MUTE = frozenset(
    "module function builtin_function_or_method type method ABCMeta ServerProxy ToolProxy Registry".split()
)


def _short_text(value: str | bytes, secrets: list[str]) -> str:
    as_text = value if isinstance(value, str) else value[:1000].decode("latin-1")
    clean = redacted(as_text, secrets)
    if clean == _HIDDEN:
        return _HIDDEN
    if clean == as_text[:1000]:
        if len(value) <= _MAX_CHARS - 2:
            return repr(value)
        return f"{value[: _MAX_CHARS - 30]!r}… ({_length(value)})"
    start = "b" if type(value) is bytes else ""
    if len(clean) <= _MAX_CHARS and len(as_text) <= 1000:
        return f"{start}{clean!r}"
    return f"{start}{clean[: _MAX_CHARS - 30]!r}… ({_length(value)})"


def _length(value: str | bytes) -> str:
    return f"{len(value):,} {'characters' if kind_of(value) is str else 'bytes'}"


def _short_container(value: Any, kind: type, depth: int, secrets: list[str]) -> str:
    opening, closing = _BRACKETS.get(kind, ("{", "}"))
    if not value:
        return repr(value)
    count = len(value)
    if depth == 2:
        return f"{opening}… {count:,} items{closing}"
    is_map = kind in (dict, Record)
    named = is_map and _names_secret(value)
    parts: list[str] = []
    chars = 0
    for at, item in enumerate(value):
        if len(parts) == _ITEMS or chars > _MAX_CHARS // 2:
            break
        if kind in (list, tuple) and is_flagged(value, at):
            part = _HIDDEN
        else:
            part = str(_short(item, depth + 1, secrets))
        if is_map:
            part = f"{part}: {_short_value(value, item, named, depth, secrets)}"
        parts.append(part)
        chars += len(part)
    more = f", … {count:,} items" if count > len(parts) else ""
    text = opening + ", ".join(parts) + more + ("," if kind is tuple and count == 1 else "") + closing
    return text if len(text) <= 2 * _MAX_CHARS else f"{opening}… {count:,} items{closing}"


def _short_value(mapping: dict[Any, Any], key: object, named: bool, depth: int, secrets: list[str]) -> str | None:
    if not _is_plain_key(key):
        return "…"
    value = mapping[key]
    if is_secret(label(key), value) or (named and key in ("value", "Value")):
        return _HIDDEN
    return _short(value, depth + 1, secrets)


def _names_secret(mapping: dict[Any, Any]) -> bool:
    """True for {"name": "Authorization", "value": "x"}, a common form of headers."""
    for key, value in dict.items(mapping):
        if (
            kind_of(key) is str
            and key.lower() in ("name", "key", "header")
            and kind_of(value) is str
            and is_secret(value, "value")
        ):
            return True
    return False


def _is_plain_key(key: object) -> bool:
    # Looking up a key of another type would run its __hash__ and __eq__.
    return kind_of(key) in (str, int, float, bool, bytes, type(None))
