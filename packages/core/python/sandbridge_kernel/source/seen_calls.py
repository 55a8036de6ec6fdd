"""Finds the calls in a cell's source before it runs: how each is used, whether the cell would handle its failure (in
doubt it would), and where names are bound. Inspects no values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    # Whether a handler encloses a position: a bool, or names of context managers that may be one.
    _Guarded = bool | frozenset[str]
    # (guarded, deferred, in a branch, scopes)
    _Where = tuple[_Guarded, bool, bool, tuple[int, ...]]

# Exceptions that a handler can catch without catching an error of a call.
_UNRELATED = frozenset(
    "ValueError IndexError ZeroDivisionError ArithmeticError OverflowError OSError IOError FileNotFoundError FileExistsError"
    " PermissionError IsADirectoryError NotADirectoryError UnicodeError UnicodeDecodeError UnicodeEncodeError JSONDecodeError"
    " StopIteration StopAsyncIteration TimeoutError KeyboardInterrupt AssertionError RecursionError ConnectionError"
    " CancelledError SyntaxError MemoryError EOFError".split()
)
# Context managers that do not suppress errors.
_TRANSPARENT = frozenset(
    "open TaskGroup timeout timeout_at Semaphore BoundedSemaphore Lock RLock Condition TemporaryDirectory NamedTemporaryFile"
    " TemporaryFile ThreadPoolExecutor ProcessPoolExecutor closing aclosing redirect_stdout redirect_stderr catch_warnings"
    " ZipFile localcontext".split()
)
# With these, a cell can inspect a task's failure without `try`.
_INSPECTING = frozenset(("wait", "as_completed", "exception", "add_done_callback", "return_exceptions", "shield"))
# With these, a cell can change the meaning of a name without binding it.
_DYNAMIC = frozenset(
    "exec eval globals locals vars setattr delattr compile __import__ __dict__ __globals__ __builtins__ f_globals f_locals"
    " modules patch run_path run_module".split()
)
_DYNAMIC_MODULES = frozenset(("__main__", "builtins", "importlib", "gc", "inspect", "ctypes"))
# With these, a cell can find out what exists.
_LOOKING = frozenset(
    "dir hasattr callable discovered_servers list_servers list_servers_sync list_tools list_tools_sync query_tool_docs"
    " query_tool_docs_sync search_tool_docs search_tool_docs_sync describe_server list_loaded_server_metadata"
    " LOADED_MCP_SERVERS".split()
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_COROUTINE_ATTRIBUTES = frozenset(("close", "send", "throw"))


class Call:
    """A call. `use`: awaited, statement, attribute, iterated, or other."""

    __slots__ = ("node", "use", "scope", "branch", "deferred", "guarded")

    def __init__(self, node: ast.Call, use: str, where: _Where) -> None:
        self.node, self.use = node, use
        self.guarded, self.deferred, self.branch, self.scope = where


class Binding:
    """A place that binds a name; `node` is its import, if it is one."""

    __slots__ = ("node", "alias", "scope", "certain")

    def __init__(
        self,
        scope: tuple[int, ...],
        node: ast.Import | ast.ImportFrom | None = None,
        alias: ast.alias | None = None,
        certain: bool = False,
    ) -> None:
        self.scope, self.node, self.alias, self.certain = scope, node, alias, certain


class Source:
    """The parsed statements of a cell."""

    def __init__(self, statements: list[ast.stmt]) -> None:
        self.calls: list[Call] = []
        self.bindings: dict[str, list[Binding]] = {}
        self.globals: set[str] = set()  # names that a function may bind later
        self.dynamic = False  # names may change in ways that are not visible
        self.star = False  # an `import *` binds names
        self.looks = False
        self.branches = False
        self._catches = False
        self._managers: set[str] = set()  # names used as context managers
        self._transparent: dict[str, bool] = {}  # name -> only ever a context manager that lets errors through
        self._uses: dict[int, str] = {}
        self._indexed: set[int] = set()
        # In source order.
        self._stack: list[tuple[ast.AST, _Where]] = [(node, (False, False, False, ())) for node in reversed(statements)]
        self._top = set(map(id, statements))
        while self._stack:
            node, where = self._stack.pop()
            handler = _HANDLERS.get(type(node))
            inside = where if handler is None else handler(self, node, where)
            if inside is not None:
                self._push(ast.iter_child_nodes(node), inside)
        if not _UNRELATED.isdisjoint(self.bindings):
            self.dynamic = True

    def is_certain(self, call: Call) -> bool:
        """True if a failure of the call would end the cell."""
        if self._handles(call.guarded):
            return False
        # It is unknown where a function is called, or a task awaited: any handler in the cell may enclose it.
        return (
            call.use == "awaited"
            and not call.deferred
            or not (self._catches or self._handles(frozenset(self._managers)))
        )

    def _handles(self, guarded: _Guarded) -> bool:
        if isinstance(guarded, bool):
            return guarded
        return not all(self._transparent.get(name) and len(self.bindings[name]) == 1 for name in guarded)

    # ---- one method per kind of node: records it; returns its children, or None if they are on the stack already

    def _push(self, nodes: Iterable[ast.AST], where: _Where) -> None:
        self._stack.extend((node, where) for node in reversed(list(nodes)))

    def _bind(self, name: str | None, where: _Where, **more: Any) -> None:
        if name:
            self.bindings.setdefault(name, []).append(Binding(where[3], **more))

    def _call(self, node: ast.Call, where: _Where) -> _Where:
        self.calls.append(Call(node, self._uses.pop(id(node), "other"), where))
        if any(keyword.arg == "return_exceptions" for keyword in node.keywords):
            self._catches = True
            return (True, *where[1:])
        return where

    def _name(self, node: ast.Name, where: _Where) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id, where)
        elif node.id == "mcp_servers" and id(node) not in self._indexed:
            self.looks = True
        self._word(node.id)

    def _attribute(self, node: ast.Attribute, where: _Where) -> None:
        self._word(node.attr)
        if not (node.attr in _COROUTINE_ATTRIBUTES or node.attr.startswith(("_", "cr_"))):
            self._note(node.value, "attribute")
        self._stack.append((node.value, where))

    def _word(self, word: str) -> None:
        if word in _DYNAMIC:
            self.dynamic = True
        elif word in _INSPECTING:
            self._catches = True
        elif word in _LOOKING:
            self.looks = True

    def _note(self, node: ast.AST, use: str) -> None:
        if isinstance(node, ast.Call):
            self._uses[id(node)] = use

    def _subscript(self, node: ast.Subscript, where: _Where) -> _Where:
        self._note(node.value, "attribute")
        self._indexed.add(id(node.value))
        return where

    def _statement(self, node: ast.Expr, where: _Where) -> _Where:
        self._note(node.value, "statement")
        return where

    def _await(self, node: ast.Await, where: _Where) -> _Where:
        self._note(node.value, "awaited")
        return where

    def _starred(self, node: ast.Starred, where: _Where) -> _Where:
        self._note(node.value, "iterated")
        return where

    def _loop(self, node: ast.For | ast.AsyncFor | ast.comprehension, where: _Where) -> _Where:
        self._note(node.iter, "iterated")
        if isinstance(node, ast.comprehension) and node.ifs:
            self.branches = True
        return where

    def _assign(self, node: ast.Assign, where: _Where) -> _Where:
        target = node.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)):
            self._note(node.value, "iterated")
        elif isinstance(target, ast.Name):
            self._transparent[target.id] = _is_transparent(node.value)
        return where

    def _branch(self, node: Any, where: _Where) -> None:
        self.branches = True
        first: Any = (
            node.values[0]
            if isinstance(node, ast.BoolOp)
            else getattr(node, "test", None) or getattr(node, "subject", None)
        )
        others = [child for child in ast.iter_child_nodes(node) if child is not first]
        self._push(others, (where[0], where[1], True, where[3]))
        self._push([first], where)

    def _assert(self, node: ast.Assert, where: _Where) -> _Where:
        self.branches = True
        return where

    def _function(self, node: Any, where: _Where) -> None:
        self._bind(getattr(node, "name", None), where)
        inside = (where[0], True, where[2], (*where[3], id(node)))
        body = node.body if isinstance(node.body, list) else [node.body]
        inner = {id(child) for child in body}
        self._push(body, inside)
        self._push([child for child in ast.iter_child_nodes(node) if id(child) not in inner], where)

    def _class(self, node: ast.ClassDef, where: _Where) -> _Where:
        self._bind(node.name, where)
        return (*where[:3], (*where[3], id(node)))

    def _argument(self, node: ast.arg, where: _Where) -> _Where:
        self._bind(node.arg, where)
        return where

    def _import(self, node: ast.Import | ast.ImportFrom, where: _Where) -> None:
        if isinstance(node, ast.ImportFrom) and node.module in _DYNAMIC_MODULES:
            self.dynamic = True
        for alias in node.names:
            if isinstance(node, ast.Import) and alias.name.split(".")[0] in _DYNAMIC_MODULES:
                self.dynamic = True
            elif alias.name == "*":
                self.star = True
                self.dynamic = self.dynamic or not _is_harmless(node)  # type: ignore[arg-type]
            else:
                certain = id(node) in self._top
                self._bind(alias.asname or alias.name.split(".")[0], where, node=node, alias=alias, certain=certain)

    def _global(self, node: ast.Global | ast.Nonlocal, where: _Where) -> None:
        self.globals.update(node.names)
        for name in node.names:
            self._bind(name, where)

    def _named(self, node: Any, where: _Where) -> _Where:
        self._bind(getattr(node, "name", None) or getattr(node, "rest", None), where)
        return where

    def _try(self, node: Any, where: _Where) -> None:
        swallows = any(
            isinstance(child, (ast.Return, ast.Break, ast.Continue))
            for part in node.finalbody
            for child in ast.walk(part)
        )
        catches = swallows or any(_may_catch(handler.type) for handler in node.handlers)
        self._catches = self._catches or catches
        outer = (True, *where[1:]) if swallows else where
        self._push(node.finalbody, where)
        self._push([*node.handlers, *node.orelse], outer)
        self._push(node.body, (True, *where[1:]) if catches else where)

    def _with(self, node: ast.With | ast.AsyncWith, where: _Where) -> None:
        guarded = where[0]
        for item in node.items:
            if _is_transparent(item.context_expr) or guarded is True:
                continue
            if not isinstance(item.context_expr, ast.Name):
                guarded = True
                continue
            self._managers.add(item.context_expr.id)
            guarded = (guarded or frozenset()) | {item.context_expr.id}
        self._catches = self._catches or guarded is True
        self._push(node.body, (guarded, *where[1:]))
        self._push(node.items, where)


def _is_transparent(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) in _TRANSPARENT


def _may_catch(node: ast.expr | None) -> bool:
    kinds = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(last_name(kind) not in _UNRELATED for kind in kinds)


def _is_harmless(node: ast.ImportFrom) -> bool:
    """True if an `import *` binds no name that matters here."""
    import sys

    root = (node.module or "").split(".")[0]
    return not node.level and (root == "mcp" or root in sys.stdlib_module_names)


def last_name(node: ast.AST | None) -> str | None:
    """Returns `c` for `a.b.c`, or None."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _handlers() -> dict[type, Callable[..., _Where | None]]:
    found: dict[type, Callable[..., _Where | None]] = {
        ast.Call: Source._call,
        ast.Name: Source._name,
        ast.Attribute: Source._attribute,
        ast.Subscript: Source._subscript,
        ast.Expr: Source._statement,
        ast.Await: Source._await,
        ast.Starred: Source._starred,
        ast.For: Source._loop,
        ast.AsyncFor: Source._loop,
        ast.comprehension: Source._loop,
        ast.Assign: Source._assign,
        ast.Assert: Source._assert,
        ast.ClassDef: Source._class,
        ast.arg: Source._argument,
        ast.Import: Source._import,
        ast.ImportFrom: Source._import,
        ast.Global: Source._global,
        ast.Nonlocal: Source._global,
        ast.With: Source._with,
        ast.AsyncWith: Source._with,
        ast.Constant: lambda *_: None,
        ast.ExceptHandler: Source._named,
    }
    found |= dict.fromkeys((ast.If, ast.While, ast.IfExp, ast.BoolOp, ast.Match), Source._branch)
    found |= dict.fromkeys(_FUNCTIONS, Source._function)
    found |= dict.fromkeys(_TRIES, Source._try)
    for name in ("MatchAs", "MatchStar", "MatchMapping", "TypeVar", "ParamSpec", "TypeVarTuple"):
        if hasattr(ast, name):
            found[getattr(ast, name)] = Source._named
    return found


_HANDLERS = _handlers()
