"""Reports calls whose `await` was forgotten: a note with their names, instead of Python's warning in the cell's stderr.

Python's warning stays for a cell's own coroutines, with the place in the cell.
A variable may keep a call beyond its cell. The note belongs to that cell, and not to the later one that frees the call.
"""

from __future__ import annotations

import builtins
import os
import sys
import warnings
from inspect import CORO_CREATED, getcoroutinestate
from types import CoroutineType
from typing import TYPE_CHECKING

from .api import runtime
from .api.servers import CALL_CODE

if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_MAX_SHOWN = 5
_COROUTINE = 0x80
_KERNEL = os.path.dirname(os.path.abspath(__file__)) + os.sep

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
        if coroutine.cr_code not in _ours:
            _warn(coroutine, sys._getframe(1))  # noqa: SLF001
        elif not isinstance(coroutine.__qualname__, _Told):
            _forget(coroutine)

    warnings._warn_unawaited_coroutine = note  # type: ignore[attr-defined]  # noqa: SLF001


def _forget(coroutine: CoroutineType[Any, Any, Any]) -> None:
    name = f"{_ours[coroutine.cr_code]}{coroutine.__qualname__}"
    if name in _forgotten or len(_forgotten) <= _MAX_SHOWN:
        _forgotten[name] = _forgotten.get(name, 0) + 1


def _warn(coroutine: CoroutineType[Any, Any, Any], frame: FrameType | None) -> None:
    """Python's own warning, for the cell's line that dropped the coroutine, else for its definition."""
    while frame is not None and not frame.f_code.co_filename.startswith("Cell "):
        frame = frame.f_back
    code = coroutine.cr_code
    filename, number = (frame.f_code.co_filename, frame.f_lineno) if frame else (code.co_filename, code.co_firstlineno)
    if not filename.startswith(_KERNEL):
        warnings.warn_explicit(
            f"coroutine '{coroutine.__qualname__}' was never awaited", RuntimeWarning, filename, number, "__main__"
        )


def notes(namespace: dict[str, Any]) -> list[str]:
    """Returns notes about calls that were forgotten since the last time, or that a variable keeps and nothing has
    started."""
    kept = []
    for name, value in list(namespace.items()):
        if _is_news(value):
            value.__qualname__ = _Told(value.__qualname__)
            kept.append(name)
    shown_value: Any = getattr(builtins, "_", None)
    if _is_news(shown_value):
        _forget(shown_value)
        shown_value.__qualname__ = _Told(shown_value.__qualname__)
    return _of_kept(kept) + _of_forgotten()


def _is_news(value: Any) -> bool:
    return (
        type(value) is CoroutineType
        and value.cr_code in _ours
        and getcoroutinestate(value) == CORO_CREATED
        and not isinstance(value.__qualname__, _Told)
    )


def _of_kept(names: list[str]) -> list[str]:
    if not names:
        return []
    if len(names) == 1:
        subject = f"`{names[0]}` is a call that was not awaited"
    else:
        shown = ", ".join(f"`{name}`" for name in names[: min(_MAX_SHOWN, len(names) - 1)])
        last = f"`{names[-1]}`" if len(names) <= _MAX_SHOWN + 1 else f"{len(names) - _MAX_SHOWN} more"
        subject = f"{shown} and {last} are calls that were not awaited"
    return [f"{subject}: nothing was called. Write `await {names[0]}`."]


def _of_forgotten() -> list[str]:
    if not _forgotten:
        return []
    found = dict(_forgotten)
    _forgotten.clear()
    shown = [f"{name}(…) was never awaited{f' ({count} times)' if count > 1 else ''}" for name, count in found.items()]
    more = "; and others" if len(shown) > _MAX_SHOWN else ""
    return [f"{'; '.join(shown[:_MAX_SHOWN])}{more}: nothing was called. Write `await {next(iter(found))}(…)`."]
