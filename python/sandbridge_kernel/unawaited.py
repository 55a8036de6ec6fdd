"""Reports calls whose `await` was forgotten: a note with their names, instead of Python's warning in the cell's stderr.

Python's warning stays for a cell's own coroutines, with the place in the cell.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING

from .api import runtime
from .api.servers import CALL_CODE

if TYPE_CHECKING:
    from types import CoroutineType, FrameType
    from typing import Any

_MAX_SHOWN = 5
_COROUTINE = 0x80
_KERNEL = os.path.dirname(os.path.abspath(__file__)) + os.sep

_forgotten: dict[str, int] = {}  # name of what was not awaited -> how often


def install() -> None:
    """Replace the function of `warnings` that Python calls for a coroutine that was never started."""
    ours = {CALL_CODE: ""}
    for value in vars(runtime).values():
        code = getattr(value, "__code__", None)
        if code is not None and code.co_flags & _COROUTINE and value.__globals__ is vars(runtime):
            ours[code] = "runtime."

    def note(coroutine: CoroutineType[Any, Any, Any]) -> None:
        if coroutine.cr_code not in ours:
            return _warn(coroutine, sys._getframe(1))  # noqa: SLF001
        name = f"{ours[coroutine.cr_code]}{coroutine.__qualname__}"
        if name in _forgotten or len(_forgotten) <= _MAX_SHOWN:
            _forgotten[name] = _forgotten.get(name, 0) + 1

    warnings._warn_unawaited_coroutine = note  # type: ignore[attr-defined]  # noqa: SLF001


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


def notes() -> list[str]:
    """Returns notes about forgotten calls since the last time."""
    if not _forgotten:
        return []
    found = dict(_forgotten)
    _forgotten.clear()
    shown = [f"{name}(…) was never awaited{f' ({count} times)' if count > 1 else ''}" for name, count in found.items()]
    more = "; and others" if len(shown) > _MAX_SHOWN else ""
    return [f"{'; '.join(shown[:_MAX_SHOWN])}{more}: nothing was called. Write `await {next(iter(found))}(…)`."]
