"""The values of the names on the line that failed, shortened. Never runs code of the cell's own: only builtin values are written out,
of everything else the type is named. What looks like a secret is left out.
"""

import linecache
import re

from .tables import outline
from .values import Record

_MAX_NAMES = 6
_MAX_CHARS = 80
_ITEMS = 4
_FUNCTION = 0x1  # inspect.CO_OPTIMIZED
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w)(?!\s*=[^=])")
_TEXT = re.compile(r"""[rbfuRBFU]{0,2}("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\#.*""")
_SECRET_NAME = re.compile(r"token|key|passw|pwd|secret|auth|credential|cookie|signature|private", re.IGNORECASE)
_SECRET_TEXT = re.compile(r"\b(?:gh[pousr]_|github_pat_|sk-|xox[abeprs]-|AKIA|glpat-|eyJ[\w-]{8,}\.|Bearer |Basic )|-----BEGIN")
_TYPE_NAME = type.__dict__["__name__"].__get__


def values_on_line(error):
    """`a = 1, b = [2, 3]` for the last line of the cell that an error passed through; "" when there is nothing to say."""
    frame, number = _last_of_cell(error)
    if frame is None or isinstance(error, (NameError, ImportError, SyntaxError)):  # these are about names, not values
        return ""
    line = linecache.getline(frame.f_code.co_filename, number)
    shown = []
    for name in dict.fromkeys(_NAME.findall(_TEXT.sub('""', line))):
        found, value = _lookup(frame, name)
        if not found or _SECRET_NAME.search(name):
            continue
        text = _short(value, 0)
        if text is not None:
            shown.append(f"{name} = {text}")
    return ", ".join(shown[:_MAX_NAMES])


def _last_of_cell(error):
    frame, number = None, 0
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.startswith("Cell "):
            frame, number = traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
    return frame, number or 0


def _lookup(frame, name):
    for names in (frame.f_locals, frame.f_globals):
        # Of a function they are Python's own; the namespace of a class may be one that runs code when it is asked.
        if (type(names) is dict or frame.f_code.co_flags & _FUNCTION) and name in names:
            return True, names[name]
    return False, None


def _short(value, depth):
    """A value in a few characters; None for what says nothing: modules, functions, classes."""
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return repr(value)
    if kind is int:
        return repr(value) if value.bit_length() <= 200 else f"<int of {value.bit_length()} bits>"
    if kind is str or kind is bytes:
        return _short_text(value)
    if kind in (list, tuple, set, frozenset, dict, Record):
        return _short_container(value, kind, depth)
    name = _TYPE_NAME(kind)
    if (words := outline(value)) is not None:
        return words
    return None if depth == 0 and name in _MUTE else f"<{name}>"


_MUTE = frozenset(("module", "function", "builtin_function_or_method", "type", "method", "ABCMeta", "ServerProxy", "ToolProxy", "Registry"))


def _short_text(value):
    as_text = value if type(value) is str else value[:200].decode("latin-1")
    if _SECRET_TEXT.search(as_text[:400]):
        return "<hidden>"
    if len(value) <= _MAX_CHARS - 2:
        return repr(value)
    return f"{value[:_MAX_CHARS - 30]!r}… ({len(value):,} {'characters' if type(value) is str else 'bytes'})"


def _short_container(value, kind, depth):
    opening, closing = {list: "[]", tuple: "()"}.get(kind, "{}")
    if not value:
        return repr(value)
    count = len(value)
    if depth == 2:
        return f"{opening}… {count:,} items{closing}"
    parts, chars = [], 0
    for item in value:
        if len(parts) == _ITEMS or chars > _MAX_CHARS // 2:
            break
        part = _short(item, depth + 1)
        if kind in (dict, Record):
            hidden = type(item) is str and _SECRET_NAME.search(item)
            part = f"{part}: {'<hidden>' if hidden else _short(value[item], depth + 1) if _is_plain_key(item) else '…'}"
        parts.append(part)
        chars += len(part)
    more = f", … {count:,} items" if count > len(parts) else ""
    text = opening + ", ".join(parts) + more + ("," if kind is tuple and count == 1 else "") + closing
    return text if len(text) <= 2 * _MAX_CHARS else f"{opening}… {count:,} items{closing}"


def _is_plain_key(key):
    # Looking up a key of another type would run its __hash__ and __eq__.
    return type(key) in (str, int, float, bool, bytes, type(None))
