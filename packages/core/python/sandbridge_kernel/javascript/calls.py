"""Serves the requests of JavaScript cells as for Python cells: tool calls, and functions of `runtime`."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sys
from base64 import b64decode, b64encode
from io import BytesIO
from secrets import token_hex
from typing import TYPE_CHECKING

from ..api import bridge, memories, runtime
from ..api.errors import ArgumentsError, MCPError, SavedToolError
from ..api.saved_tools import load
from ..data.media import Media
from ..data.values import beside, native
from .signatures import in_javascript

if TYPE_CHECKING:
    from typing import Any

# Of `runtime`, by their names there. Those of _SAVING only say that they keep functions of Python.
FUNCTIONS = [
    name for name in runtime.__all__ if name[0].islower() and not name.endswith("_sync") and name != "complete"
]
_OWN = frozenset(("update_memory", "call_tool", "again"))
_SAVING = ("save_tool", "save_workflow")
# Index of an argument that is a value even if it is an object, and not the options at the end.
_VALUE_AT = {"save_memory": 1, "load_memory": 1, "save_artifact": 1}
_OPTIONS_OF_APP = frozenset(("data", "name"))
_CAMEL = re.compile(r"(?<=[a-z0-9])([A-Z])")


async def reply(message: dict[str, Any]) -> bytes:
    """Returns the line that answers a message."""
    number = message.get("id")
    try:
        value = await _ANSWERS[message["type"]](message)
        return _encoded(number, value)
    except MCPError as error:
        return _refused(number, error)
    except (TypeError, ValueError, LookupError, OSError, RecursionError) as error:
        return _refused(number, ArgumentsError(str(error)))
    except (Exception, SystemExit) as error:
        # Without a reply, the cell would wait until its time limit.
        return _refused(number, MCPError(_told(error)))


async def _call(message: dict[str, Any]) -> object:
    server, tool, args, kwargs = (message.get(key) for key in ("server", "tool", "args", "kwargs"))
    params: dict[str, Any] = {"server": server, "tool": tool, "args": args or [], "kwargs": kwargs or {}}
    params.update((key, True) for key in ("exact", "again") if message.get(key) is True)
    if message.get("raw") is True:
        return await bridge.ask_with("call_tool", {**params, "raw": True})
    return native(await bridge.ask_with("call_tool", params))


async def _runtime(message: dict[str, Any]) -> object:
    name, args = message.get("name"), message.get("args")
    if name in _SAVING:
        raise ArgumentsError(
            f"runtime.{name} keeps functions of Python",
            hint=f"Define the function in run_python and call runtime.{name} there. JavaScript cells can then call it.",
        )
    if not isinstance(name, str) or name not in FUNCTIONS or name in _OWN or not isinstance(args, list):
        raise ArgumentsError(f"runtime has no function {str(name)[:80]!r} here", hint="Python cells have all of them.")
    function = getattr(runtime, name)
    binary = message.get("binary")
    for at in binary if isinstance(binary, list) else ():
        args[at] = b64decode(args[at])
    options: dict[str, Any] = {}
    if args and isinstance(args[-1], dict) and not _is_value(name, args):
        options = {_CAMEL.sub(r"_\1", key).lower(): value for key, value in args.pop().items()}
    value = function(*args, **options)
    return await value if inspect.isawaitable(value) else value


def _is_value(name: str, args: list[Any]) -> bool:
    """True if the object at the end is a value, and not options."""
    if name == "show_app" and len(args) == 2:
        return not args[1] or not _OPTIONS_OF_APP.issuperset(args[1])
    return _VALUE_AT.get(name) == len(args) - 1


async def _memory(message: dict[str, Any]) -> object:
    """Half of `updateMemory`: reads a memory, or replaces the revision that was read."""
    key, revision = str(message.get("key")), message.get("revision")
    if isinstance(revision, str):
        return memories.replace(key, message.get("value"), revision)
    value, revision = memories.read(key, message.get("initial"))
    return {"value": value, "revision": revision}


async def _function(message: dict[str, Any]) -> object:
    """Calls a saved tool or a workflow, which are Python. `weeklyReport` is `weekly_report` there."""
    name, args, kwargs = (message.get(key) for key in ("name", "args", "kwargs"))
    if (
        not isinstance(name, str)
        or not name.isidentifier()
        or not isinstance(args, list)
        or not isinstance(kwargs, dict)
    ):
        raise ArgumentsError("A saved function is called by its name")
    function = _loaded(name)
    try:
        value = function(*args, **kwargs)
        return await value if inspect.isawaitable(value) else value
    except MCPError:
        raise
    except asyncio.CancelledError as error:
        if _is_ending():
            raise
        raise MCPError(f"{name} failed: {_told(error)}") from None
    except (Exception, SystemExit) as error:
        raise MCPError(f"{name} failed: {_told(error)}") from None


def _is_ending() -> bool:
    """True if the cell has ended and cancels this reply. Python 3.10 cannot tell that from a function's own
    cancellation."""
    task = asyncio.current_task()
    return sys.version_info < (3, 11) or task is None or task.cancelling() > 0


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def _loaded(name: str) -> Any:
    snake = _CAMEL.sub(r"_\1", name).lower()
    try:
        return load(name)
    except SavedToolError:
        if snake == name:
            raise
        return load(snake)


_ANSWERS = {"call": _call, "runtime": _runtime, "function": _function, "memory": _memory}


def _encoded(number: object, value: object) -> bytes:
    mark, media = f"\0{token_hex(8)}:", list[dict[str, str]]()

    def put_aside(one: object) -> object:
        if isinstance(one, Media):
            media.append({"data": b64encode(one.data).decode(), "mime": one.mime_type})
        elif isinstance(one, (bytes, BytesIO)):
            media.append({"data": b64encode(one if isinstance(one, bytes) else one.getvalue()).decode()})
        else:
            return bridge.plain(one)
        return f"{mark}{len(media) - 1}"

    line: dict[str, Any] = {"type": "reply", "id": number, "value": value, "beside": beside(value)}
    try:
        text = json.dumps(line, default=put_aside, allow_nan=False)
        is_marked = len(media) > 0
    except ValueError:
        # Python's JSON may have NaN and Infinity, such as in a tool's text. JavaScript's own has no form for them.
        media.clear()
        numbers = json.loads(json.dumps(line, default=put_aside), parse_constant=lambda name: mark + name)
        text, is_marked = json.dumps(numbers), True
    if is_marked:
        text = f'{text[:-1]}, "mark": {json.dumps(mark)}, "media": {json.dumps(media)}}}'
    return text.encode()


def _refused(number: object, error: MCPError) -> bytes:
    told = {
        "name": type(error).__name__,
        "code": error.code,
        "message": in_javascript(str(error)),
        "hint": error.hint,
        "data": error.data,
    }
    return json.dumps({"type": "reply", "id": number, "error": told}).encode()
