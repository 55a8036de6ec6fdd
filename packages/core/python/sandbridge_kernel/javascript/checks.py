"""Checks the calls that Node found in a cell's source before it runs. The bridge judges them, as those of Python cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..api import bridge
from ..api.errors import MCPError, ServerNotFound, from_reply
from ..api.servers import registry
from ..source.refused_cell import is_doubtful, refusal
from .signatures import in_javascript

if TYPE_CHECKING:
    from typing import Any

    from ..source.refused_cell import Problem
    from ..wire.frame_types import CellError

_MAX_CALLS = 500
_ASKED = ("server", "tool", "args", "kwargs", "partial", "exact", "made")


async def problem(message: dict[str, Any], source: str, number: int) -> CellError | None:
    """Returns an error for the calls that are certainly wrong."""
    found: list[Problem] = []
    sent: list[dict[str, Any]] = []
    knows_better = message.get("mayKnowBetter") is True
    calls = message.get("calls")
    for call in calls[:_MAX_CALLS] if isinstance(calls, list) else ():
        if not _is_call(call):
            continue
        if registry.get(call["server"]) is not None:
            sent.append(call)
        elif not call.get("branch") and not knows_better:
            found.append((*_place(call), registry.not_found(call["server"], ServerNotFound)))
    found += [
        (*_place(sent[at]), error)
        for at, error in await _judged([{key: call[key] for key in _ASKED if key in call} for call in sent])
        if not is_doubtful(error, sent[at].get("branch") is True, knows_better)
    ]
    return _cell_error(sorted(found, key=lambda one: one[:2]), source, number) if found else None


async def _judged(calls: list[dict[str, Any]]) -> list[tuple[int, MCPError]]:
    if not calls:
        return []
    try:
        problems = await bridge.ask("check_calls", calls=calls)
    except MCPError:
        return []  # a call that cannot be checked now is checked when it is made
    return [(one["call"], from_reply(one)) for one in problems] if isinstance(problems, list) else []


def _is_call(call: object) -> bool:
    return isinstance(call, dict) and isinstance(call.get("server"), str) and isinstance(call.get("tool"), str)


def _place(call: dict[str, Any]) -> tuple[int, int]:
    line, column = call.get("line"), call.get("column")
    return (line, column) if isinstance(line, int) and isinstance(column, int) else (0, 0)


def _cell_error(problems: list[Problem], source: str, number: int) -> CellError:
    error = refusal(problems)
    line = problems[0][0]
    lines = source.split("\n")
    shown = f"    {lines[line - 1].strip()[:200]}\n" if 0 < line <= len(lines) else ""
    name, message = type(error).__name__, in_javascript(str(error))
    return {"name": name, "message": message, "traceback": f"Cell {number}, line {line}\n{shown}{name}: {message}\n"}
