"""One cell: compile it, run it in the session's namespace, and report how it ended."""

from __future__ import annotations
import __future__

import ast
import linecache
import sys
from typing import TYPE_CHECKING

from ..failure.caught_hints import advised

if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_COROUTINE = 0x80  # inspect.CO_COROUTINE, without importing inspect
_FUTURES = {name: getattr(__future__, name).compiler_flag for name in __future__.all_feature_names}


class Compiler:
    """Compiles cells. `from __future__ import …` also applies to later cells, as in a REPL."""

    def __init__(self) -> None:
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        self.is_silent = False  # a semicolon hides the value of the cell that was compiled last, as in IPython

    def parses(self, source: str) -> bool:
        try:
            compile(source, "", "exec", self._flags | ast.PyCF_ONLY_AST, True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        return True

    def compile(self, source: str, filename: str) -> tuple[CodeType | None, CodeType | None, list[ast.stmt]]:
        """Returns (body, last, statements): the code of all statements except a last expression, and of that expression, either of which may be
        None; and the statements themselves."""
        # Kept for tracebacks and inspect.getsource. Without a modification time, linecache never looks for a file.
        lines = [f"{line}\n" for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        linecache.cache[filename] = (len(source), None, lines, filename)
        tree = compile(source, filename, "exec", self._flags | ast.PyCF_ONLY_AST, True)
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                for alias in node.names:
                    self._flags |= _FUTURES.get(alias.name, 0)
        last, statements, self.is_silent = None, list(tree.body), False
        if tree.body and isinstance(end := tree.body[-1], ast.Expr):
            self.is_silent = _is_silent(end, lines)
            last = ast.Expression(end.value)
            tree.body.pop()
        shell = sys.modules.get("IPython.core.interactiveshell")
        if shell and shell.InteractiveShell.ast_node_interactivity == "all":
            _show_all(tree.body)
        # Compile both before either runs: a syntax error in the last line must not leave a cell half done.
        with advised(tree, source):
            body = compile(tree, filename, "exec", self._flags, True) if tree.body else None
        value = None if last is None else compile(last, filename, "eval", self._flags, True)
        return body, value, statements


def _is_silent(end: ast.Expr, lines: list[str]) -> bool:
    """A value before a semicolon is not shown, as in IPython."""
    after = lines[(end.end_lineno or 1) - 1].encode()[end.end_col_offset :]
    return after.lstrip().startswith(b";")


def _show_all(nodes: list[ast.stmt]) -> None:
    for node in nodes:
        if isinstance(node, ast.Expr):
            shown = ast.Call(ast.Name("__sandbridge_shown__", ast.Load()), [node.value], [])
            node.value = ast.fix_missing_locations(ast.copy_location(shown, node))


def holds_code(statements: list[ast.stmt]) -> bool:
    """True for a cell that is only a text with Python in it, a list of such lines, or JSON that has it as "code"."""
    node = statements[0].value if len(statements) == 1 and isinstance(statements[0], ast.Expr) else None
    if isinstance(node, ast.Dict):
        named = [
            value for key, value in zip(node.keys, node.values) if isinstance(key, ast.Constant) and key.value == "code"
        ]
        node = named[0] if named else None
    texts = [
        one.value for one in (node.elts if isinstance(node, ast.List) else [node]) if isinstance(one, ast.Constant)
    ]
    if not texts or not all(isinstance(text, str) for text in texts):
        return False
    try:
        tree = ast.parse("".join(map(str, texts)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    does = (ast.Assign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.For)
    return any(isinstance(one, does) or isinstance(getattr(one, "value", None), ast.Call) for one in tree.body)


def is_async(code: CodeType | None) -> bool:
    return code is not None and bool(code.co_flags & _COROUTINE)


def run_sync(body: CodeType | None, last: CodeType | None, namespace: dict[str, Any]) -> object:
    """Run a cell without top-level await. Returns the value of its last expression."""
    if body is not None:
        exec(body, namespace)
    return None if last is None else eval(last, namespace)


async def run_async(body: CodeType | None, last: CodeType | None, namespace: dict[str, Any]) -> object:
    """Run a cell with top-level await."""
    if body is not None:
        pending = eval(body, namespace)
        if is_async(body):
            await pending
    if last is None:
        return None
    value = eval(last, namespace)
    return await value if is_async(last) else value
