"""Collects the parts of a function to save: source, imports, signature. Refuses one that cannot stand alone."""

from __future__ import annotations

import ast
import builtins
import linecache
import re
import sys
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    _Definition = ast.FunctionDef | ast.AsyncFunctionDef
    _SavedSource = Callable[[str], str | None]

CELL = re.compile(r"Cell \d+$")
SAVED = "user_tools/"  # start of the file name of a saved tool's source
MODULE = "user_tools"
_FUTURE_ANNOTATIONS = 0x1000000
_TEMPLATE: tuple[type, ...] = (ast.TemplateStr,) if hasattr(ast, "TemplateStr") else ()
_TEXTS: Any = (ast.Constant, ast.JoinedStr, *_TEMPLATE)
_BUILTINS = dict(vars(builtins))  # at the start of a session; cells and `_` add to them
_OF_MODULES = frozenset(("__name__", "__doc__", "__package__", "__loader__", "__spec__", "__builtins__"))


class Refused(Exception):
    """Says why a function cannot be saved."""


def describe(
    func: Any,
    saved_source: _SavedSource = lambda _: None,
    provided: Callable[[str, object], bool | dict[str, str]] = lambda *_: False,
) -> dict[str, Any]:
    """Return the parts of a saved tool. `saved_source` returns the source of an existing saved tool; `provided` tells whether every
    session has a global: True, or the server it stands for as {variable, name, alias}."""
    original = _unwrapped(func)
    node, source = _definition(original)
    name = node.name
    imports, servers, missing = [], [], []
    if original.__code__.co_flags & _FUTURE_ANNOTATIONS:
        imports.append("from __future__ import annotations")
    for needed in sorted(_global_names(source) - {name}):
        value = original.__globals__.get(needed, _NOTHING)
        if value is _NOTHING:
            if reason := _no_builtin(needed):
                missing.append(f"{needed} ({reason})")
            continue
        here = provided(needed, value)
        if isinstance(here, dict):
            servers.append(here)
        elif here is not True:
            lines = _import_lines(needed, value) or _saved_lines(needed, value, saved_source)
            imports.extend(line for line in lines if line not in imports)
            if not lines:
                missing.append(f"{needed} ({_kind(value)})")
    if missing:
        raise Refused(
            f"{name} uses values that only this session has: {', '.join(missing)}. Make it a parameter, or put it inside the function"
            + ("; a function can be saved first" if any("function" in one for one in missing) else "")
        )
    return {
        "name": name,
        "source": source,
        "imports": imports,
        "servers": servers,
        "signature": _signature(node),
        "description": ast.get_docstring(node) or "",
        "isAsync": bool(original.__code__.co_flags & 0x80),
    }


_NOTHING = object()


def _unwrapped(func: Any) -> FunctionType:
    """Returns the function of the `def`, inside decorators that use functools.wraps."""
    from functools import partial
    from inspect import unwrap

    if isinstance(func, type):
        raise Refused(f"{func.__name__} is a class; save a function that has the class inside it")
    if isinstance(func, MethodType):
        raise Refused(f"{func.__name__} is a method of an object; save a function instead")
    if isinstance(func, partial):
        raise Refused("a partial has no source; save a function that makes the call")
    original = unwrap(func) if callable(func) else func
    if not isinstance(original, FunctionType):
        name = getattr(func, "__name__", None)
        if callable(func) and isinstance(name, str) and type(func).__module__ == "builtins":
            raise Refused(f"{name} is built into Python and needs no saving; import it where it is used")
        raise Refused(f"a {type(func).__name__} is not a function; pass the function itself, not its result")
    name = original.__name__
    if original.__code__.co_name == "<lambda>":
        raise Refused("a lambda has no name; write it as a def")
    if original.__code__.co_freevars:
        names = ", ".join(original.__code__.co_freevars)
        raise Refused(
            f"{name} is a closure: {names} exist only in the call that made it. Make them parameters"
            "; if a decorator made it, let the decorator use functools.wraps"
        )
    where = original.__qualname__
    if "<locals>" in where:
        raise Refused(f"{name} is defined inside another function; define it at the top of a cell")
    if "." in where:
        raise Refused(f"{name} belongs to the class {where.rpartition('.')[0]}; save a function instead")
    return original


def _definition(func: FunctionType) -> tuple[_Definition, str]:
    filename = func.__code__.co_filename
    if not CELL.match(filename) and not filename.startswith(SAVED):
        if func.__module__ in (None, "__main__"):
            raise Refused(f"the source of {func.__name__} is not known; define it in a cell")
        raise Refused(
            f"{func.__name__} belongs to the module {func.__module__} and needs no saving; import it from there"
        )
    lines = linecache.getlines(filename)
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == func.__code__.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == func.__code__.co_firstlineno:
                return node, _dedented(node, lines, first)
    raise Refused(f"the source of {func.__name__} is not known; define it in a cell")


def _dedented(node: _Definition, lines: list[str], first: int) -> str:
    """Returns a definition's lines without indentation, except lines that begin inside a string."""
    inside = {number for start, end in text_lines(node) for number in range(start + 1, end + 1)}
    indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip(" \t\f"))]
    kept = []
    for number in range(first, (node.end_lineno or 0) + 1):
        line = lines[number - 1]
        if number not in inside:
            # A line with less indentation is a comment, or inside brackets.
            line = line[len(indent) :] if line.startswith(indent) else line.lstrip(" \t\f")
        kept.append(line)
    source = "".join(kept).rstrip() + "\n"
    try:
        is_same = ast.dump(ast.parse(source)) == ast.dump(ast.Module([node], []))
    except SyntaxError:
        is_same = False
    if not is_same:
        raise Refused(f"{node.name} cannot be taken out of the block that it is in; define it at the top of a cell")
    return source


def text_lines(node: Any) -> Iterator[tuple[int, int]]:
    """First and last line of every string. Before Python 3.12, the parts of an f-string have no line numbers of their own."""
    if isinstance(node, _TEXTS):
        yield node.lineno, node.end_lineno or node.lineno
    else:
        for child in ast.iter_child_nodes(node):
            yield from text_lines(child)


def _signature(node: _Definition) -> str:
    text = f"({ast.unparse(node.args)})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")
    return text if len(text) < 480 and text.isprintable() else "(...)"


def _kind(value: Any) -> str:
    return "function" if isinstance(getattr(value, "__wrapped__", value), FunctionType) else type(value).__name__


# ---- dependencies


def _no_builtin(name: str) -> str:
    """Returns why a name that is not a global is missing in other sessions; "" if it exists there."""
    now, first = (names.get(name, _NOTHING) for names in (vars(builtins), _BUILTINS))
    if name == "display" or now is first is not _NOTHING or (now is _NOTHING and name.startswith("__")):
        return ""
    return (
        "not defined"
        if now is _NOTHING
        else "the last value of a cell"
        if name == "_"
        else "a builtin of this session's own"
    )


def _global_names(source: str) -> set[str]:
    """Returns the names that the code of a definition looks up outside itself."""
    from symtable import symtable

    top = symtable(source, "tool", "exec")
    names = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced() and not symbol.is_assigned()}
    tables = top.get_children()
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        names.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
    return names - _OF_MODULES


def _import_lines(name: str, value: Any) -> list[str]:
    """Returns the import statements of earlier cells that give this name this value; several for `import a.b` and `import a.c`."""
    if getattr(value, "__module__", None) == MODULE:
        own = getattr(value, "__name__", name)
        return [f"from {MODULE} import {own}" + ("" if own == name else f" as {name}")]
    lines = []
    for filename in list(linecache.cache):
        if CELL.match(filename):
            for node in ast.walk(_parsed(filename)):
                if isinstance(node, ast.Import):
                    lines += [line for alias in node.names if (line := _plain_import(alias, name, value))]
                elif (
                    isinstance(node, ast.ImportFrom) and node.module and not node.level and node.module != "__future__"
                ):
                    lines += [line for alias in node.names if (line := _from_import(node.module, alias, name, value))]
    if not lines and isinstance(value, ModuleType) and sys.modules.get(value.__name__) is value:
        lines.append(f"import {value.__name__} as {name}")
    return lines


def _parsed(filename: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _plain_import(alias: ast.alias, name: str, value: Any) -> str | None:
    if alias.asname:
        matches = alias.asname == name and sys.modules.get(alias.name) is value
        return f"import {alias.name} as {name}" if matches else None
    top = alias.name.partition(".")[0]
    return f"import {alias.name}" if top == name and sys.modules.get(top) is value else None


def _from_import(module: str, alias: ast.alias, name: str, value: Any) -> str | None:
    if alias.name == "*":
        return f"from {module} import {name}" if _attribute(module, name) is value else None
    if (alias.asname or alias.name) != name or _attribute(module, alias.name) is not value:
        return None
    return f"from {module} import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")


def _attribute(module: str, name: str) -> object:
    found = sys.modules.get(module)
    # Without a module's own __getattr__, which may run any code.
    return (
        found.__dict__.get(name, sys.modules.get(f"{module}.{name}", _NOTHING))
        if isinstance(found, ModuleType)
        else _NOTHING
    )


def _saved_lines(name: str, value: Any, saved_source: _SavedSource) -> list[str]:
    """Returns an import for a cell's function that is already saved."""
    try:
        node, source = _definition(_unwrapped(value))
    except Refused:
        return []
    kept = saved_source(node.name)
    if kept is None:
        return []
    if kept != source:
        raise Refused(f"{node.name} has changed since it was saved; save it again first")
    return [f"from {MODULE} import {node.name}" + ("" if node.name == name else f" as {name}")]
