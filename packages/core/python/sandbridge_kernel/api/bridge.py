"""Asking the bridge, from the API's side: send what was printed, make a call, return its value or raise its error."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextvars import ContextVar
from enum import Enum
from io import IOBase
from typing import TYPE_CHECKING

from ..data.media import Media
from ..run.interrupts import ROOM, need_room
from ..wire.frames import FrameError
from .errors import ArgumentsError, MCPError, from_reply

if TYPE_CHECKING:
    from typing import Any

    from ..show.output import Output
    from ..wire.channel import Channel
    from ..wire.frame_types import KernelFrame, ReplyFrame

# True within `runtime.again`.
is_again = ContextVar("is_again", default=False)

_channel: Channel
_output: Output


def connect(channel: Channel, output: Output) -> None:
    """Called once, before the first cell."""
    global _channel, _output
    _channel, _output = channel, output


async def ask(method: str, **params: object) -> Any:
    return await ask_with(method, _given(params))


async def ask_with(method: str, params: dict[str, Any]) -> Any:
    """The same for params that are all there."""
    if method == "call_tool" and is_again.get():
        params = {**params, "again": True}
    _prepare()
    try:
        try:
            reply = await _channel.call(method, params, plain)
        except TypeError as problem:
            if not _is_about_keys(problem):
                raise
            reply = await _channel.call(method, _with_plain_keys(params), plain)
    except (FrameError, TypeError, ValueError, RecursionError) as problem:
        raise _unsendable(problem) from None
    return _value(reply)


def ask_sync(method: str, **params: object) -> Any:
    _prepare()
    given = _given(params)
    try:
        try:
            reply = _channel.call_sync(method, given, plain)
        except TypeError as problem:
            if not _is_about_keys(problem):
                raise
            reply = _channel.call_sync(method, _with_plain_keys(given), plain)
    except (FrameError, TypeError, ValueError, RecursionError) as problem:
        raise _unsendable(problem) from None
    return _value(reply)


def _prepare() -> None:
    # Room for everything until the reply arrives. Given this, a RecursionError is caused by the arguments.
    need_room(ROOM + 15)
    _output.flush()


def cell() -> int:
    """The number of the cell that runs."""
    return _channel.cell


def tell(frame: KernelFrame) -> None:
    """Send a frame that has no reply."""
    _output.flush()
    _channel.send(frame)


def _value(reply: ReplyFrame) -> Any:
    if "error" in reply:
        raise from_reply(reply["error"])
    return reply["value"]


def _given(params: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def _unsendable(problem: BaseException) -> MCPError:
    if isinstance(problem, FrameError):
        return MCPError(f"The arguments are too large: {problem}", code="FRAME_TOO_LARGE", hint="Send less at a time.")
    if isinstance(problem, RecursionError):
        return ArgumentsError(
            "Python's recursion limit was reached while the arguments were encoded", hint="They are nested too deeply."
        )
    hint = "Send str, finite numbers, bool, None, lists and dicts: None for what is missing."
    return ArgumentsError(f"The arguments cannot be sent as JSON: {problem}", hint="" if ". " in str(problem) else hint)


def _in_microseconds(value: Any) -> Any:
    """Of times of numpy, because those in nanoseconds would be listed as integers."""
    dtype = getattr(value, "dtype", None)
    kind = {"M": "datetime64", "m": "timedelta64"}.get(getattr(dtype, "kind", ""))
    return value if kind is None or getattr(dtype, "tz", None) is not None else value.astype(f"{kind}[us]")


def _is_about_keys(problem: TypeError) -> bool:
    return str(problem).startswith("keys must be ")


def _with_plain_keys(value: Any) -> Any:
    """The same with keys that JSON lacks as what they are as values."""
    if isinstance(value, (list, tuple)):
        return [_with_plain_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    found: dict[Any, Any] = {}
    for key, item in value.items():
        name = key if isinstance(key, (str, int, float, tuple, type(None))) else plain(key)
        if isinstance(name, (list, dict, tuple)):
            raise TypeError(f"a {type(key).__name__} cannot be a key. Use str(key), or a list of records")
        if name in found:
            raise ValueError(f"two keys are both {name!r}")
        found[name] = _with_plain_keys(item)
    return found


# By an attribute of their class, or by the class: the first that fits.
_WAYS: tuple[tuple[str | type | tuple[type, ...], str], ...] = (
    ("model_dump", 'x.model_dump(mode="json")'),
    ("__dataclass_fields__", "dataclasses.asdict(x)"),
    ("to_dicts", "x.to_dicts()"),
    (Mapping, "dict(x)"),
    (IOBase, "x.read()"),
    ("to_dict", "x.to_dict()"),
    (Media, "base64.b64encode(x.data).decode(), as the tool wants it"),
    ((bytes, bytearray, memoryview), "base64.b64encode(x).decode()"),
    ("_asdict", "x._asdict()"),
    (Enum, "x.value"),
    ("__await__", "await x"),
    ("__float__", "float(x) or str(x)"),
    ("total_seconds", "x.total_seconds() or str(x)"),
)


def _way(kind: type) -> str:
    """What a cell writes to send a value of a kind that is refused."""
    if kind.__name__ == "NAType":
        return "None"
    for sign, way in _WAYS:
        if hasattr(kind, sign) if isinstance(sign, str) else issubclass(kind, sign):
            return 'x.to_dict("records")' if (sign, kind.__name__) == ("to_dict", "DataFrame") else way
    if any("__str__" in vars(base) for base in kind.__mro__[:-1]):
        return "str(x)"
    if hasattr(kind, "__iter__"):
        return "list(x)"
    return "vars(x)" if kind.__dictoffset__ and "__call__" not in dir(kind) else "str(x)"


def plain(value: Any) -> object:
    """Values that have one obvious form in JSON."""
    kind = type(value)  # an object such as a server may have every attribute
    if isinstance(value, (set, frozenset)):
        return list(value)
    if hasattr(kind, "isoformat"):  # dates and times; pandas has a missing one
        return value.isoformat() if value == value else None
    if hasattr(kind, "__fspath__"):
        return value.__fspath__()
    if hasattr(kind, "tolist") and kind is not memoryview:  # numpy arrays and scalars
        listed = _in_microseconds(value).tolist()
        if type(listed) is not kind:  # as a longdouble is
            return listed
    if (uuid := sys.modules.get("uuid")) and isinstance(value, uuid.UUID):
        return str(value)
    raise TypeError(f"{kind.__name__} has no form in JSON. Pass {_way(kind)}")
