"""Turns recorded cells into one function, for a workflow, and runs none of their code. Cells that only define one
function become it. Others become a body: it returns their last expression, and values set once are its parameters."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, NamedTuple

from ..run.cell import Compiler
from ..run.notebook import NAME
from .function_source import Refused, text_lines
from .repairs import reading
from .scan import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    _Function = ast.FunctionDef | ast.AsyncFunctionDef

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.Import, ast.ImportFrom)
_MAX_CANDIDATES = 20
_INDENT = "    "


def from_cells(cells: Sequence[str], name: str, parameters: Sequence[str] = ()) -> dict[str, Any]:
    """Returns {source, function, arguments, candidates}: source that defines the function, its name there, its arguments in these
    cells (None if it was not called), and values that could be parameters. Raises Refused, and SyntaxError."""
    cells = [_as_it_ran(cell.replace("\r\n", "\n").replace("\r", "\n").rstrip()) for cell in cells]
    statements = [node for cell in cells for node in ast.parse(cell).body]
    if not statements:
        raise Refused("there is no code in it")
    if not parameters and (own := _own_function(statements)):
        function, call = own
        # A call can only be the last statement of the last cell.
        kept = [*cells[:-1], _replaced(cells[-1], call, "")] if call else cells
        arguments = _arguments(call, function.args) if call else None
        return {"source": "\n\n".join(kept), "function": function.name, "arguments": arguments, "candidates": []}
    return _wrapped(cells, name, parameters)


def _as_it_ran(cell: str) -> str:
    """The record has a cell as it was written, which may be Python in another dress."""
    parses = Compiler().parses
    if parses(cell) or not isinstance(found := reading(cell, parses), Reading):
        return cell
    needed = f"from sandbridge_kernel.run import notebook as {NAME}\n" if NAME in found.source else ""
    return needed + found.source.strip("\n")


# ---- cells that define one function


def _own_function(statements: list[ast.stmt]) -> tuple[_Function, ast.stmt | None] | None:
    """Returns the function, and the statement that calls it."""
    functions = [node for node in statements if isinstance(node, _FUNCTIONS)]
    others = [node for node in statements if not isinstance(node, _DEFINITIONS) and not _is_text(node)]
    if len(functions) != 1:
        return None
    if not others:
        return functions[0], None
    is_call = others == statements[-1:] and _arguments(others[0], functions[0].args, functions[0].name) is not None
    return (functions[0], others[0]) if is_call else None


def _arguments(node: ast.stmt, parameters: ast.arguments, name: str | None = None) -> dict[str, Any] | None:
    """Returns the arguments of `f(…)` or `await f(…)`, also in an assignment; None unless they are plain JSON values."""
    value = node.value if isinstance(node, (ast.Expr, ast.Assign)) else None
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or name not in (None, call.func.id):
        return None
    names = [one.arg for one in [*parameters.posonlyargs, *parameters.args]]
    if len(call.args) > len(names) or any(keyword.arg is None for keyword in call.keywords):
        return None
    given = {**dict(zip(names, call.args)), **{str(keyword.arg): keyword.value for keyword in call.keywords}}
    try:
        found = {key: ast.literal_eval(argument) for key, argument in given.items()}
        return found if json.loads(json.dumps(found, allow_nan=False)) == found else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


# ---- other cells


def _wrapped(cells: Sequence[str], name: str, parameters: Sequence[str]) -> dict[str, Any]:
    trees = [ast.parse(cell) for cell in cells]
    values: dict[str, _Value] = {}
    for tree in trees:
        _refuse_globals(tree)
        for node in tree.body:
            if value := _value_of(node):
                values.setdefault(value.name, value)
    if missing := [parameter for parameter in parameters if parameter not in values]:
        raise Refused(
            f"{', '.join(missing)} cannot be a parameter: it is not set to a plain value at the top of a cell"
            + (f". Such values: {', '.join([*values][:_MAX_CANDIDATES])}" if values else "")
        )
    taken = [values[parameter].node for parameter in parameters]
    bodies, futures = [], []
    for tree, cell in zip(trees, cells):
        # From the end, so that earlier statements keep their positions.
        for node in reversed(tree.body):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                futures.append(ast.unparse(node))
                cell = _replaced(cell, node, "")
            elif node in taken:
                cell = _replaced(cell, node, "")
            elif node in trees[-1].body[-1:] and isinstance(node, ast.Expr):
                cell = _replaced(cell, node, f"return {ast.get_source_segment(cell, node)}")
        bodies.append(_indented(cell))
    body = "\n\n".join(text for text in bodies if text.strip()) or f"{_INDENT}pass"
    signature = ", ".join(f"{one}{values[one].annotation} = {ast.unparse(values[one].value)}" for one in parameters)
    others = [value for value in values.values() if value.node not in taken]
    return {
        "source": "\n".join([*futures, f"async def {name}({signature}):", body]),
        "function": name,
        "arguments": {},
        "candidates": [f"{one.name} = {ast.unparse(one.value)}" for one in others[:_MAX_CANDIDATES]],
    }


def _refuse_globals(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            raise Refused(f"line {node.lineno} has `{ast.unparse(node)}`, which cannot be inside of a function")
    for statement in ast.walk(tree):
        if isinstance(statement, ast.ImportFrom) and any(alias.name == "*" for alias in statement.names):
            raise Refused(f"line {statement.lineno} imports *, which cannot be inside of a function")


class _Value(NamedTuple):
    """A name that is set to a plain value."""

    node: ast.stmt
    name: str
    annotation: str  # includes the colon
    value: ast.expr


def _value_of(node: ast.stmt) -> _Value | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value, annotation = node.targets[0], node.value, None
    elif isinstance(node, ast.AnnAssign) and node.value:
        target, value, annotation = node.target, node.value, node.annotation
    else:
        return None
    if not isinstance(target, ast.Name):
        return None
    try:
        known = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if annotation is not None:
        return _Value(node, target.id, f": {ast.unparse(annotation)}", value)
    kind = type(known).__name__
    is_named = kind in ("int", "float", "str", "bool", "list", "dict")
    return _Value(node, target.id, f": {kind}" if is_named else "", value)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replaced(cell: str, node: ast.stmt, text: str) -> str:
    """Returns the cell with a statement replaced."""
    lines = cell.split("\n")
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    # Columns are in bytes.
    before = lines[first].encode()[: node.col_offset].decode()
    after = lines[last].encode()[node.end_col_offset :].decode()
    if not text:
        after = after.lstrip(" \t;")
    is_gone = not text and not before.strip() and not after.partition("#")[0]
    lines[first : last + 1] = [] if is_gone else f"{before}{text}{after}".split("\n")
    return "\n".join(lines)


def _indented(cell: str) -> str:
    """Indent the lines, except those that begin inside a string."""
    try:
        tree = ast.parse(cell)
        inside = {number for start, end in text_lines(tree) for number in range(start + 1, end + 1)}
    except SyntaxError:  # parsing accepts `return`, so the cell was cut incorrectly
        raise Refused("its statements cannot be taken apart") from None
    lines = cell.split("\n")
    return "\n".join(
        line if number in inside or not line.strip() else _INDENT + line for number, line in enumerate(lines, 1)
    )
