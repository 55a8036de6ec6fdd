"""Reports calls that are certainly wrong before a cell runs: one error that names the lines. The same for every language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..api.errors import ArgumentsError, MCPError, ServerNotFound, ToolNotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    # (line, column, error)
    Problem = tuple[int, int, MCPError]

_MAX_SHOWN = 10


def is_doubtful(error: MCPError, branch: bool, may_know_better: bool) -> bool:
    """True if the call may never be made: a cell that inspects what exists may avoid it."""
    return (
        isinstance(error, ServerNotFound)
        and branch
        or isinstance(error, (ServerNotFound, ToolNotFound))
        and may_know_better
    )


def refusal(problems: Sequence[Problem]) -> MCPError:
    """Returns one error for all of them, in source order."""
    shown = problems[:_MAX_SHOWN]
    lines = [f"line {line}: {_said(error)}" for line, _, error in shown]
    if len(problems) > len(shown):
        lines.append(f"and {len(problems) - len(shown)} more")
    classes = {type(error) for _, _, error in problems}
    first = problems[0][2]
    kind, code = (type(first), first.code) if len(classes) == 1 else (ArgumentsError, None)
    head = f"Not run. {lines[0].replace('line', 'Line', 1)}" if len(lines) == 1 else "\n  ".join(("Not run:", *lines))
    places = [
        {"line": line, "column": column, "code": error.code, "message": error.message} for line, column, error in shown
    ]
    return kind(head, code=code, data={**(first.data or {}), "problems": places})


def _said(error: MCPError) -> str:
    # The message about arguments already contains the signature, and its hint would only refer to that.
    return error.message if isinstance(error, ArgumentsError) else str(error)
