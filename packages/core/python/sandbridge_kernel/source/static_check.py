"""Checks the calls in a cell's source before it runs. The bridge judges them, in one round trip and only if there are
any; certain mistakes become one error that shows the line. Never refuses Python for being dynamic."""

from __future__ import annotations

import ast
import builtins
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, NamedTuple

from ..api import bridge, runtime
from ..api.errors import MCPError, NotAwaited, ServerNotFound, ToolNotFound, ToolNotFoundImport, from_reply
from ..api.servers import LISTINGS, METHODS, Registry, ServerProxy, ToolProxy, registry, server_name, server_of
from .made_calls import made_calls
from .refused_cell import is_doubtful, refusal
from .seen_calls import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, Literal

    from .seen_calls import Binding, Call

    _Problem = tuple[ast.Call | ast.ImportFrom, MCPError]
    _Sent = tuple[ast.Call | ast.ImportFrom, bool, dict[str, Any]]

_MAX_CALLS = 500
_MAX_LITERAL_NODES = 2_000
_MAX_LITERAL_CHARS = 10_000
_COROUTINE = 0x80
_RUNTIME = vars(runtime)
_IN_VAIN = {
    "statement": "its result is not awaited, so nothing would be called",
    "attribute": "it is used before it is awaited",
    "iterated": "it is iterated over before it is awaited",
}


class Target(NamedTuple):
    """The meaning of an expression. A named tuple, because a dataclass would cost every kernel's start two milliseconds."""

    kind: Literal["server", "unknown server", "unreachable", "tool", "function", "module", "registry", "package"]
    name: str  # of the server, the package or the function
    tool: str = ""
    value: Any = None  # the function itself


class StaticCheck:
    """Kept for a session: remembers names that functions of earlier cells may bind later."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        self._globals: set[str] = set()

    def check(self, statements: list[ast.stmt], codes: Iterable[CodeType | None], filename: str) -> None:
        """`codes` were compiled from `statements`. Raises an MCPError from the cell's own line."""
        if not self._is_worthwhile(codes):
            return
        try:
            source = Source(statements)
            self._globals |= source.globals
            checker = _Checker(source, self._namespace, self._globals)
            problems = [] if source.dynamic else checker.problems(made_calls(statements))
        except RecursionError:  # an expression nested too deeply to inspect with Python's stack
            return
        if problems:
            _refuse(problems, filename)

    def _is_worthwhile(self, codes: Iterable[CodeType | None]) -> bool:
        """True if the cell names anything that a call could go through. Fast: most cells do not."""
        pending = [code for code in codes if code is not None]
        get = self._namespace.get
        for code in pending:
            for name in code.co_names:
                if name.startswith("mcp") or _kind(get(name)) is not None:
                    return True
            pending.extend(inner for inner in code.co_consts if type(inner) is CodeType)
        return False


def _kind(value: Any) -> Target | None:
    """Returns the meaning of a value, if known."""
    kind = type(value)
    if kind is ServerProxy:
        return Target("server", server_name(value))
    if kind is ToolProxy:
        return Target("tool", server_name(server_of(value)), value.__name__)
    if kind is FunctionType and value.__globals__ is _RUNTIME:
        return Target("function", value.__name__, value=value)
    if kind is Registry:
        return Target("registry", "") if value is registry else None
    return Target("module", "") if value is runtime else None


class _Checker:
    def __init__(self, source: Source, namespace: dict[str, Any], made: set[str]) -> None:
        self._source, self._namespace, self._made = source, namespace, made

    def problems(self, made: set[int]) -> list[_Problem]:
        """Returns (node, error) of every call that is certainly wrong, in source order. `made`: see `made_calls`."""
        found: list[_Problem] = []
        sent: list[_Sent] = []
        for call in self._source.calls:
            target = self._resolve(call.node.func, call)
            if target is None:
                continue
            if call.use in _IN_VAIN and _is_coroutine(target):
                found.append(
                    (call.node, NotAwaited(f"{_IN_VAIN[call.use]}: write `await {_written(call.node.func)}(…)`"))
                )
            if not self._source.is_certain(call):
                continue
            if target.kind == "unreachable":
                if not call.branch and not self._may_not_exist():
                    found.append((call.node, registry.not_found(target.name, ServerNotFound)))
            elif (seen := _described(call.node, target)) and len(sent) < _MAX_CALLS:
                sent.append((call.node, call.branch, {**seen, "made": id(call.node) in made}))
        sent.extend(self._imports()[: _MAX_CALLS - len(sent)])
        found.extend(self._judged(sent))
        return sorted(found, key=lambda problem: (problem[0].lineno, problem[0].col_offset))

    def _judged(self, sent: list[_Sent]) -> Iterator[_Problem]:
        if not sent:
            return
        try:
            problems = bridge.ask_sync("check_calls", calls=[seen for _, _, seen in sent])
        except MCPError:
            return  # a call that cannot be checked now is checked when it is made
        for problem in problems if isinstance(problems, list) else ():
            node, branch, _ = sent[problem["call"]]
            error = from_reply(problem)
            if is_doubtful(error, branch, self._may_not_exist()):
                continue
            if isinstance(node, ast.ImportFrom):
                if not isinstance(error, ToolNotFound):
                    continue  # the problem is about a call
                error = ToolNotFoundImport(error.message, hint=error.hint, data=error.data)
            yield node, error

    def _imports(self) -> list[_Sent]:
        """Returns tools imported by name, where a failure would end the cell. Any name can be imported; the bridge checks that it exists."""
        bindings = [binding for found in self._source.bindings.values() for binding in found if binding.certain]
        imports = [
            (binding.node, _imported(binding.node, binding.alias))
            for binding in bindings
            if isinstance(binding.node, ast.ImportFrom) and binding.alias is not None
        ]
        return [
            (node, False, {"server": target.name, "tool": target.tool, "partial": True})
            for node, target in imports
            if target is not None and target.kind == "tool"
        ]

    def _may_not_exist(self) -> bool:
        return self._source.looks and self._source.branches

    # ---- the meaning of an expression

    def _resolve(self, node: ast.AST, call: Call) -> Target | None:
        if isinstance(node, ast.Name):
            return self._resolve_name(node.id, call)
        if isinstance(node, ast.Attribute):
            return _attribute(self._resolve(node.value, call), node.attr)
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            base = self._resolve(node.value, call)
            return _server(node.slice.value) if base is not None and base.kind == "registry" else None
        return None

    def _resolve_name(self, name: str, call: Call) -> Target | None:
        if name in self._made:
            return None
        bindings = self._source.bindings.get(name)
        if bindings is not None:
            return self._resolve_import(name, bindings, call)
        value = self._namespace.get(name, self)
        if value is not self:
            return _kind(value) or _package(value)
        # A star import may bind tools, but no `mcp_…`.
        is_missing = name.startswith("mcp_") and not hasattr(builtins, name)
        return _server(name[4:]) if is_missing else None

    def _resolve_import(self, name: str, bindings: list[Binding], call: Call) -> Target | None:
        """A name that the cell binds is checked if an import from `mcp` is its only binding, and comes first."""
        if len(bindings) != 1 or self._source.star:
            return None
        [binding] = bindings
        if binding.node is None or binding.alias is None or call.scope[: len(binding.scope)] != binding.scope:
            return None
        target = _imported(binding.node, binding.alias)
        before = (binding.node.lineno, binding.node.col_offset) < (call.node.lineno, call.node.col_offset)
        if before and (binding.certain or name not in self._namespace):
            return target
        known = self._namespace.get(name, self)
        return target if known is not self and target == (_kind(known) or _package(known)) else None


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Target | None:
    if isinstance(node, ast.Import):
        if alias.name.split(".")[0] != "mcp":
            return None
        path = alias.name.split(".") if alias.asname else ["mcp"]
    elif node.level or (node.module or "").split(".")[0] != "mcp":
        return None
    else:
        path = [*(node.module or "").split("."), alias.name]
    target: Target | None = Target("package", "mcp")
    for part in path[1:]:
        target = _attribute(target, part)
    return target


def _package(value: Any) -> Target | None:
    """Recognises the modules `mcp` and `mcp.servers`."""
    from sys import modules

    name = getattr(value, "__name__", None) if type(value).__name__ in ("module", "_ServersModule") else None
    return Target("package", name) if name in ("mcp", "mcp.servers") and modules.get(name) is value else None


def _attribute(base: Target | None, name: str) -> Target | None:
    if base is None:
        return None
    kind = base.kind
    if kind == "package" and base.name == "mcp":
        return {"runtime": Target("module", ""), "servers": Target("package", "mcp.servers")}.get(name)
    if kind == "package":
        return None if name.startswith("_") else _server(name)
    if kind == "module":
        return _kind(_RUNTIME.get(name))
    if kind == "server" and name in LISTINGS:
        return None
    if kind == "server":
        return Target("tool", base.name, name) if not name.startswith("_") or name[1:] in METHODS else None
    if kind == "tool" and name == "raw":
        return base
    return Target("unreachable", base.name) if kind == "unknown server" else None


def _server(name: str) -> Target:
    proxy = registry.get(name)
    return Target("server", server_name(proxy)) if proxy is not None else Target("unknown server", name)


def _is_coroutine(target: Target) -> bool:
    return target.kind == "tool" or target.kind == "function" and bool(target.value.__code__.co_flags & _COROUTINE)


def _written(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 80 else "…"


# ---- the description of a call for the bridge


def _described(node: ast.Call, target: Target) -> dict[str, Any] | None:
    if target.kind == "tool":
        return _arguments(node.args, node.keywords, target.name, target.tool)
    if target.kind != "function" or target.name not in ("call_tool", "call_tool_sync"):
        return None
    given: dict[str | None, Any] = dict(zip(("server", "tool", "arguments"), node.args))
    given.update((keyword.arg, keyword.value) for keyword in node.keywords)
    if None in given or any(isinstance(arg, ast.Starred) for arg in node.args) or len(node.args) > 3:
        return None
    names = [given.get("server"), given.get("tool")]
    if not all(map(_is_text, names)):
        return None
    server, tool = given["server"].value, given["tool"].value
    arguments = given.get("arguments")
    if arguments is None or isinstance(arguments, ast.Constant) and arguments.value is None:
        return {**_arguments((), (), server, tool), "exact": True}
    if not isinstance(arguments, ast.Dict) or not all(map(_is_text, arguments.keys)):
        return {"server": server, "tool": tool, "partial": True}
    pairs: Iterable[tuple[Any, ast.expr]] = zip(arguments.keys, arguments.values)
    keywords = [ast.keyword(key.value, value) for key, value in pairs]
    return {**_arguments((), keywords, server, tool), "exact": True}


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _arguments(args: Sequence[ast.expr], keywords: Sequence[ast.keyword], server: str, tool: str) -> dict[str, Any]:
    seen: dict[str, Any] = {"server": server, "tool": tool}
    if any(isinstance(arg, ast.Starred) for arg in args) or any(keyword.arg is None for keyword in keywords):
        seen["partial"] = True
    positions = []
    for arg in args:
        if isinstance(arg, ast.Starred):
            break
        positions.append(_value(arg))
    seen["args"] = positions
    seen["kwargs"] = {keyword.arg: _value(keyword.value) for keyword in keywords if keyword.arg is not None}
    return seen


def _value(node: ast.AST) -> dict[str, Any]:
    budget = [_MAX_LITERAL_NODES]
    try:
        return {"value": _literal(node, budget)}
    except ValueError:
        return {}


def _literal(node: Any, budget: list[int]) -> Any:
    """Returns the value of a literal with a JSON form. Raises ValueError for anything else."""
    budget[0] -= 1
    if budget[0] < 0:
        raise ValueError
    if isinstance(node, ast.Constant):
        value = node.value
        if (
            value is None
            or isinstance(value, (bool, int))
            or isinstance(value, str)
            and len(value) <= _MAX_LITERAL_CHARS
        ):
            return value
        if isinstance(value, float) and value - value == 0:
            return value
    elif isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(item, budget) for item in node.elts]
    elif isinstance(node, ast.Dict):
        if all(map(_is_text, node.keys)):
            pairs: Iterable[tuple[Any, ast.expr]] = zip(node.keys, node.values)
            return {key.value: _literal(value, budget) for key, value in pairs}
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _literal(node.operand, budget)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return -value
    raise ValueError


# ---- the error


def _refuse(problems: list[_Problem], filename: str) -> None:
    error = refusal([(node.lineno, node.col_offset, problem) for node, problem in problems])
    # Raised from the cell's own line, so that it is shown like any error of that line.
    at = {name: getattr(problems[0][0], name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
    module = ast.Module([ast.Raise(ast.Name("error", ast.Load(), **at), None, **at)], [])
    exec(compile(module, filename, "exec", 0, True), {"error": error})
