"""Adds hints to exceptions that a cell catches itself. Python has no hook for these: the compiler inserts a call of
`advise` at the start of each `except` in a cell."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .hints import ATTACHED, found_for

_NAME = "__sandbridge_advise__"


def install() -> None:
    """Make it a builtin: functions of a cell may run anywhere."""
    setattr(builtins, _NAME, advise)


@contextmanager
def advised(tree: ast.AST, source: str) -> Iterator[None]:
    """Insert the call into every `except` in the tree, and remove it at the end."""
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)] if "except" in source else []
    for handler in handlers:
        call = ast.Expr(ast.Call(ast.Name(_NAME, ast.Load()), [], []))
        handler.body.insert(0, ast.fix_missing_locations(ast.copy_location(call, handler)))
    try:
        yield
    finally:
        for handler in handlers:
            del handler.body[0]


def advise() -> None:
    """Add the hint to the exception being handled. Never raises."""
    error = sys.exc_info()[1]
    try:
        if error is None or hasattr(error, ATTACHED) or not (told := found_for(error)):
            return
        hint = told.get("hint", "")
        if search := told.get("search"):
            hint += f" A tool may do it: await runtime.search_tool_docs({search!r})"
        if _attach(error, hint):
            setattr(error, ATTACHED, True)
    except Exception:  # the cell's own exception class may raise
        pass


def _attach(error: BaseException, hint: str) -> bool:
    """Returns whether its text now has the hint. Attributes that code checks, such as errno, filename or name, stay unchanged."""
    if isinstance(error, ImportError) and isinstance(error.msg, str):
        error.msg = _joined(error.msg, hint)
    elif isinstance(error, OSError) and isinstance(error.strerror, str):
        error.strerror = f"{error.strerror} ({hint})"  # Python appends the file name
    elif isinstance(reason := getattr(error, "reason", None), BaseException) and str(reason) in str(error):
        return _attach(reason, hint)
    elif error.args and str(error) == str(error.args[0]):
        error.args = (_joined(str(error), hint), *error.args[1:])
    return hint in str(error)


def _joined(text: str, hint: str) -> str:
    return f"{text.rstrip('. ')}. {hint}"
