"""`runtime.complete`: what could stand at a place in some code. It looks at values without running any of their code:
no property, no `__getattr__`, no `__dir__`. Only servers are asked, through the bridge, what tools they have."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING

from ..data.values import Record
from . import bridge, docs
from .errors import ArgumentsError, MCPError
from .servers import METHODS, ServerProxy, ToolProxy, registry, server_docs, server_name, server_of, tool_doc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

_MAX = 500
_PATH = re.compile(r"""(?<!\w)((?:[^\W\d]\w*(?:\[(?:"[^"\\\n]*"|'[^'\\\n]*')\])?\s*\.\s*)*)([^\W\d]\w*)?$""")
_STEP = re.compile(r"""([^\W\d]\w*)(?:\[(?:"([^"\\\n]*)"|'([^'\\\n]*)')\])?""")
_SERVER_KEY = re.compile(r"""\bmcp_servers\[\s*["']([^"'\\\n]*)$""")
_IMPORT_TOOL = re.compile(r"^\s*from\s+mcp\.servers\.(\w+)\s+import\s+\(?(?:[\w\s]*,)*\s*(\w*)$", re.MULTILINE)
_IMPORT_SERVER = re.compile(r"^\s*(?:from|import)\s+mcp\.servers(?:\.|\s+import\s+)(\w*)$", re.MULTILINE)
_OWN_TEXT = {"get_prompt": "name", "read_resource": "uri"}
_MISSING = object()
_NAMES: Callable[[type], Mapping[str, Any]] = type.__dict__["__dict__"].__get__
_mro: Callable[[object], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_PLAIN = (FunctionType, type, str, int, float, bool, list, dict, tuple)


def completions(code: str, pos: int | None = None) -> list[str]:
    """A list of words, sorted; keyword arguments end in `=` and come first. A word replaces what is written of it before `pos`."""
    if not isinstance(code, str):
        raise ArgumentsError(f"code is a str, not {type(code).__name__}")
    if pos is not None and (isinstance(pos, bool) or not isinstance(pos, int)):
        raise ArgumentsError(f"pos is an int, not {type(pos).__name__}")
    before = code if pos is None else code[: max(0, pos)]
    if found := _SERVER_KEY.search(before):
        return _fitting(registry.names, found[1])
    if found := _IMPORT_TOOL.search(before):
        server = registry.by_alias.get(found[1])
        return _fitting(_tools(server), found[2]) if server is not None else []
    if found := _IMPORT_SERVER.search(before):
        return _fitting(registry.by_alias, found[1])
    opened, text = _scan(before)
    if text is not None:
        return _in_text(before, opened, text)
    path = _PATH.search(before)
    prefix = (path and path[2]) or ""
    if path and path[1]:
        value = _follow(path[1])
        return [] if value is _MISSING else _fitting(_attributes(value), prefix)
    # After a dot that follows something else, such as a call: its value is unknown.
    if path and before[: path.start()].rstrip().endswith("."):
        return []
    names = {*keyword.kwlist, *vars(builtins), *_names(_main())}
    return (_arguments(before[: len(before) - len(prefix)], prefix) + _fitting(names, prefix))[:_MAX]


def _main() -> dict[str, Any]:
    return vars(sys.modules["__main__"])


def _names(mapping: Iterable[object]) -> list[str]:
    return [name for name in list(mapping) if type(name) is str]


def _fitting(names: Iterable[str], prefix: str) -> list[str]:
    fitting = (name for name in set(names) if name.startswith(prefix) and (prefix or not name.startswith("_")))
    return sorted(fitting)[:_MAX]


# ---- values, inspected without running their code


def _follow(path: str) -> Any:
    """What a path such as `a.b.` or `mcp_servers["x"].` stands for."""
    value: Any = _MISSING
    for position, step in enumerate(_STEP.finditer(path)):
        name, key = step[1], step[2] if step[2] is not None else step[3]
        if position == 0:
            names = _main()
            value = names.get(name, vars(builtins).get(name, _MISSING))
        else:
            value = _attribute(value, name)
        if key is not None:
            if value is registry:
                value = registry.get(key, _MISSING)
            else:
                value = dict.get(value, key, _MISSING) if _is_a(value, dict) else _MISSING
        if value is _MISSING:
            return value
    return value


def _attribute(value: Any, name: str) -> object:
    kind = type(value)
    if kind is ServerProxy:
        return _MISSING if name.startswith("__") else ToolProxy(value, name)
    if ModuleType in _mro(kind):
        if value is sys.modules.get("mcp.servers"):
            return registry.by_alias.get(name, _MISSING)
        return _instance_dict(value).get(name, _MISSING)
    own = _instance_dict(value)
    if name in own:
        return own[name]
    if _is_a(value, Record) and not _in_classes(kind, name):
        return dict.get(value, name, _MISSING)
    for owner in _mro(value if _is_a(value, type) else kind):
        if name in (members := _NAMES(owner)):
            found = members[name]
            # Anything else may be a descriptor, whose code would run.
            if type(found) is FunctionType and not _is_a(value, type):
                return MethodType(found, value)
            return found if type(found) in _PLAIN else _MISSING
    return _MISSING


def _attributes(value: Any) -> Iterable[str]:
    kind = type(value)
    if kind is ServerProxy:
        return [*_tools(value), *METHODS]
    if kind is ToolProxy:
        return ["raw"]
    if value is sys.modules.get("mcp.servers"):
        return list(registry.by_alias)
    names = set(_names(_instance_dict(value)))
    for owner in _mro(value if _is_a(value, type) else kind):
        names.update(_names(_NAMES(owner)))
    if _is_a(value, Record):
        names.update(_names(dict.keys(value)))
    return names


def _instance_dict(value: Any) -> Mapping[str, Any]:
    """The attributes that an object has itself. A class can hide them behind a property; that is not run."""
    if _is_a(value, type):
        return _NAMES(value)
    for owner in _mro(type(value)):
        own = _NAMES(owner).get("__dict__")
        if own is not None and type(own) not in (GetSetDescriptorType, MemberDescriptorType):
            return {}
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def _in_classes(kind: type, name: str) -> bool:
    return any(name in _NAMES(owner) for owner in _mro(kind))


def _is_a(value: Any, kind: type) -> bool:
    # isinstance() would evaluate the value's `__class__`.
    return any(owner is kind for owner in _mro(type(value)))


# ---- servers and tools


def _tools(server: ServerProxy) -> list[str]:
    try:
        return [doc["toolAlias"] for doc in server_docs(server)]
    except MCPError:
        return []


def _arguments(before: str, prefix: str) -> list[str]:
    """The keyword arguments of the call around the place, as far as they are not given yet."""
    at = _scan(before)[0]
    if at is None:
        return []
    path = _PATH.search(before[:at].rstrip())
    if path is None or not path[2]:
        return []
    value = _follow(f"{path[1]}{path[2]}")
    given = set(re.findall(r"(\w+)\s*=(?!=)", before[at:]))
    return [f"{name}=" for name in _parameters(value) if name.startswith(prefix) and name not in given]


def _parameters(value: Any) -> Iterable[str]:
    kind = type(value)
    if kind is ToolProxy:
        try:
            return docs.parameter_names(tool_doc(value))
        except MCPError:
            return []
    function = value.__func__ if kind is MethodType else value
    if type(function) is not FunctionType:
        return []
    code = function.__code__
    first = 1 if kind is MethodType else 0
    return code.co_varnames[first : code.co_argcount + code.co_kwonlyargcount]


_TOKEN = re.compile(r'''("""|\'\'\'|"|')|[()\[\]{}#]''')


def _in_text(before: str, opened: int | None, text: int) -> list[str]:
    """What could stand in a string that begins before `text`: only a server's prompts and resources are known."""
    written = before[text:]
    path = _PATH.search(before[:opened].rstrip()) if opened is not None else None
    tool: Any = _follow(f"{path[1]}{path[2]}") if path and path[2] else None
    own = _OWN_TEXT.get(tool.__name__.removeprefix("_")) if type(tool) is ToolProxy else None
    if own is None or "\\" in written:
        return []
    try:
        call = ast.parse(f"f{before[opened:text]}{before[text - 1]})", mode="eval").body
    except SyntaxError:  # several lines in one string, for one
        return []
    if not isinstance(call, ast.Call):
        return []
    last = max([*call.args, *(one.value for one in call.keywords)], key=lambda one: (one.lineno, one.col_offset))
    texts = {
        key: one.value
        for key, one in [*enumerate(call.args), *((one.arg, one.value) for one in call.keywords)]
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and one is not last
    }
    at: Any = next((one.arg for one in call.keywords if one.value is last), None)
    prompt = texts.pop(0, None) or texts.pop("name", None)
    given = {key: value for key, value in texts.items() if isinstance(key, str)}
    asked = {"server": server_name(server_of(tool)), "tool": tool.__name__, "argument": at or own, "value": written}
    try:
        found: list[str] = bridge.ask_sync("complete_argument", **asked, prompt=prompt, given=given)
    except MCPError:
        return []
    return sorted(found)


def _scan(before: str) -> tuple[int | None, int | None]:
    """(position of the innermost open parenthesis, where a string or comment begins that the end is in). Others are skipped."""
    opened: list[tuple[str, int]] = []
    at = 0
    while found := _TOKEN.search(before, at):
        at = found.end()
        mark = found[0]
        if found[1]:
            end = _end_of_string(before, at, mark)
            if end is None:
                return (opened[-1][1] if opened and opened[-1][0] == "(" else None), at
            at = end
        elif mark == "#":
            end = before.find("\n", at)
            if end < 0:
                return None, at
            at = end
        elif mark in "([{":
            opened.append((mark, found.start()))
        elif opened:
            opened.pop()
    return (opened[-1][1] if opened and opened[-1][0] == "(" else None), None


def _end_of_string(text: str, at: int, quote: str) -> int | None:
    while at < len(text):
        if text.startswith(quote, at):
            return at + len(quote)
        if text[at] == "\n" and len(quote) == 1:
            return at
        at += 2 if text[at] == "\\" else 1
    return None
