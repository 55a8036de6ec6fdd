"""`runtime.save_workflow`, `runtime.workflows` and the name `workflows`: functions that are kept to be run again, here or without a model."""

import ast
import json
import keyword
import re
from collections.abc import Callable, Coroutine
from typing import Any

from ..data.values import Listed
from ..source import function_source
from . import bridge
from .errors import ArgumentsError, MCPError
from .saved_tools import SavedTool, attribute, describe_tool

__all__ = ["save_workflow", "workflows"]


class Workflow(SavedTool):
    """A workflow. Prints as the line that calls it."""

    __slots__ = ()


class WorkflowList(Listed[Workflow]):
    _none = "(no workflows)"


def save_workflow(name: str, func: Callable[..., Any], description: str | None = None) -> Workflow:
    """Keep a function as a workflow: `await workflows.weekly_report(week=47)` in any cell, `sandbridge run-workflow weekly-report
    --week 47` without a model. Its parameters come from the signature, its description from the docstring."""
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9-]*", name):
        raise ArgumentsError(
            "the name of a workflow has lower-case letters, digits and - only, and starts with a letter",
            hint="Such as weekly-report.",
        )
    if keyword.iskeyword(name):
        raise ArgumentsError(f"a workflow cannot be called {name!r}, which is a keyword of Python")
    tool = describe_tool(func, description)
    own, alias = str(tool["name"]), name.replace("-", "_")
    if alias != own:
        tool["name"] = alias
        tool["source"] = f"{tool['source']}\n\n{alias} = {own}\n"
    tree = ast.parse(str(tool["source"]))
    try:
        workflow = {"title": name, "parameters": _parameters(func), "calls": _calls(tree, tool["servers"])}
    except function_source.Refused as reason:
        raise MCPError(f"This workflow cannot be saved: {reason}", code="STATE_REFUSED") from None
    return Workflow(bridge.ask_sync("save_workflow", tool=tool, workflow=workflow))


def workflows() -> WorkflowList:
    """All workflows in their newest version."""
    return WorkflowList(map(Workflow, bridge.ask_sync("list_workflows")))


def _parameters(func: Callable[..., Any]) -> list[dict[str, object]]:
    import inspect  # slow to load, and few cells save something

    found = []
    for parameter in inspect.signature(inspect.unwrap(func)).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise function_source.Refused(
                f"the parameter {parameter.name} has no name that it could be passed by; a workflow is called by names"
            )
        about: dict[str, object] = {"name": parameter.name, "type": _type(parameter.annotation)}
        if parameter.default is parameter.empty:
            about["required"] = True
        else:
            try:
                about["default"] = json.loads(json.dumps(parameter.default, allow_nan=False))
            except (TypeError, ValueError, RecursionError):
                pass  # its own default is used; it cannot be shown
        found.append(about)
    return found


def _type(annotation: object) -> str:
    import inspect

    if annotation is inspect.Parameter.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return text.replace("typing.", "")[:200]


def _calls(tree: ast.Module, servers: list[dict[str, str]]) -> list[dict[str, str]]:
    """The tools whose names stand in the source, as `mcp_github.create_issue`."""
    by_variable = {server["variable"]: server["name"] for server in servers}
    found = {
        (by_variable[node.value.id], node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in by_variable
    }
    return [{"server": server, "tool": tool} for server, tool in sorted(found)]


class Workflows:
    """`workflows`: every workflow is an attribute; `await workflows.name(…)` runs it."""

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if name.startswith("_"):
            raise AttributeError(name)
        func = attribute(name)

        async def run(*args: object, **kwargs: object) -> object:
            result = func(*args, **kwargs)
            return await result if hasattr(result, "__await__") else result

        run.__name__ = run.__qualname__ = name
        run.__doc__ = getattr(func, "__doc__", None)
        run.__wrapped__ = func  # type: ignore[attr-defined]
        return run

    def __dir__(self) -> list[str]:
        return [str(workflow["name"]) for workflow in workflows()]

    def __repr__(self) -> str:
        return repr(workflows())
