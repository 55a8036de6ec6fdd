"""Reports calls whose `await` was forgotten, in a note of the cell that made them, even if a later cell frees the call;
so for a cell's own coroutines. Python's warning stays for those dropped, or kept in a list, where a later cell may run
them."""

from __future__ import annotations

import builtins
import os
import sys
import warnings
from inspect import CORO_CREATED, getcoroutinestate
from types import CoroutineType
from typing import TYPE_CHECKING

from ..api import runtime
from ..api.servers import CALL_CODE
from ..source.function_source import SAVED

if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_MAX_SHOWN = 5
_COROUTINE = 0x80
_KERNEL = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

_OF_CELLS = ("Cell ", SAVED)  # what the file names of a cell's own code begin with

_forgotten: dict[str, int] = {}  # name of what was not awaited -> how often
_ours: dict[CodeType, str] = {}  # code of calls -> what their names begin with


class _Told(str):
    """The name of a coroutine that a note was about. It is no news when Python frees the coroutine."""


def install() -> None:
    """Replace the function of `warnings` that Python calls for a coroutine that was never started."""
    _ours[CALL_CODE] = ""
    for value in vars(runtime).values():
        code = getattr(value, "__code__", None)
        if code is not None and code.co_flags & _COROUTINE and value.__globals__ is vars(runtime):
            _ours[code] = "runtime."

    def note(coroutine: CoroutineType[Any, Any, Any]) -> None:
        if isinstance(coroutine.__qualname__, _Told):
            return
        if coroutine.cr_code in _ours:
            _forget(coroutine)
        else:
            _warn(coroutine, sys._getframe(1))  # noqa: SLF001

    # A warning then knows the cell that created the coroutine: another one may free it.
    sys.set_coroutine_origin_tracking_depth(1)
    warnings._warn_unawaited_coroutine = note  # type: ignore[attr-defined]  # noqa: SLF001


def _forget(coroutine: CoroutineType[Any, Any, Any]) -> None:
    name = f"{_ours[coroutine.cr_code]}{coroutine.__qualname__}"
    if name in _forgotten or len(_forgotten) <= _MAX_SHOWN:
        _forgotten[name] = _forgotten.get(name, 0) + 1


def _warn(coroutine: CoroutineType[Any, Any, Any], frame: FrameType | None) -> None:
    """Python's own warning, for the line that created the coroutine, else that dropped it, else of its definition."""
    while frame is not None and not frame.f_code.co_filename.startswith("Cell "):
        frame = frame.f_back
    code = coroutine.cr_code
    filename, number = (frame.f_code.co_filename, frame.f_lineno) if frame else (code.co_filename, code.co_firstlineno)
    origin = coroutine.cr_origin
    if origin and origin[0][0].startswith("Cell "):
        filename, number = origin[0][:2]
    if not filename.startswith(_KERNEL):
        warnings.warn_explicit(
            f"coroutine '{coroutine.__qualname__}' was never awaited", RuntimeWarning, filename, number, "__main__"
        )


def notes(namespace: dict[str, Any]) -> list[str]:
    """Returns notes about calls that were forgotten since the last time, or that a variable keeps unstarted."""
    kept: list[str] = []
    own: list[str] = []
    for name, value in list(namespace.items()):
        if _is_news(value):
            (kept if value.cr_code in _ours else own).append(name)
            _mark_told(value)
    shown_value: Any = getattr(builtins, "_", None)
    of_value = []
    if _is_news(shown_value):
        if shown_value.cr_code in _ours:
            _forget(shown_value)
        else:
            name = shown_value.__qualname__.rpartition("<locals>.")[2]
            of_value.append(f"{name}(…) was not awaited: it did not run. Write `await {name}(…)`.")
        _mark_told(shown_value)
    return (
        _of_kept(kept, "call", "nothing was called")
        + _of_kept(own, "coroutine", "it did not run" if len(own) == 1 else "they did not run")
        + of_value
        + _of_forgotten()
    )


def _mark_told(coroutine: CoroutineType[Any, Any, Any]) -> None:
    coroutine.__qualname__ = _Told(coroutine.__qualname__)


def _is_news(value: Any) -> bool:
    return (
        type(value) is CoroutineType
        and (value.cr_code in _ours or value.cr_code.co_filename.startswith(_OF_CELLS))
        and getcoroutinestate(value) == CORO_CREATED
        and not isinstance(value.__qualname__, _Told)
    )


def _of_kept(names: list[str], kind: str, effect: str) -> list[str]:
    """A note about variables, each of which keeps a call or a coroutine. `effect`: what that means."""
    if not names:
        return []
    if len(names) == 1:
        subject = f"`{names[0]}` is a {kind} that was not awaited"
    else:
        shown = ", ".join(f"`{name}`" for name in names[: min(_MAX_SHOWN, len(names) - 1)])
        last = f"`{names[-1]}`" if len(names) <= _MAX_SHOWN + 1 else f"{len(names) - _MAX_SHOWN} more"
        subject = f"{shown} and {last} are {kind}s that were not awaited"
    return [f"{subject}: {effect}. Write `await {names[0]}`."]


def _of_forgotten() -> list[str]:
    if not _forgotten:
        return []
    found = dict(_forgotten)
    _forgotten.clear()
    shown = [f"{name}(…) was never awaited{f' ({count} times)' if count > 1 else ''}" for name, count in found.items()]
    more = "; and others" if len(shown) > _MAX_SHOWN else ""
    return [f"{'; '.join(shown[:_MAX_SHOWN])}{more}: nothing was called. Write `await {next(iter(found))}(…)`."]
