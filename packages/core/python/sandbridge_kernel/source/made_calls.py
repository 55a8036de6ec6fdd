"""Finds the calls in a cell's source that are made whenever it runs, about which the user is asked before."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# Fields whose code may not run, by the kind of node.
_OPEN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("If", "While", "For", "AsyncFor", "IfExp"), ("body", "orelse")),
    **dict.fromkeys(("Try", "TryStar"), ("handlers", "orelse")),
    **dict.fromkeys(("FunctionDef", "AsyncFunctionDef", "Lambda"), ("body",)),
    **dict.fromkeys(("ListComp", "SetComp", "GeneratorExp"), ("elt",)),
    "DictComp": ("key", "value"),
    "comprehension": ("ifs",),
    "Match": ("cases",),
}
# Fields of which only the first part runs for certain.
_FIRST = {"BoolOp": "values"}
_ENDS = (ast.Raise, ast.Return, ast.Break, ast.Continue)


def made_calls(statements: list[ast.stmt]) -> set[int]:
    """Returns the ids of the nodes of such calls."""
    made = set()
    pending = list(_reached(statements))
    while pending:
        node = pending.pop()
        kind = type(node).__name__
        if isinstance(node, ast.Call):
            made.add(id(node))
        for field, value in ast.iter_fields(node):
            if field not in _OPEN.get(kind, ()):
                children = value if isinstance(value, list) else [value]
                pending.extend(_reached(children[:1] if field == _FIRST.get(kind, "generators") else children))
    return made


def _reached(nodes: list[Any]) -> Iterator[ast.AST]:
    for node in nodes:
        if isinstance(node, ast.AST):
            yield node
        if isinstance(node, _ENDS):
            return
