"""`runtime.progress`: how far a cell says it is. Numbers that the bridge could not read are refused here, where the cell can hear of it."""

import math
from typing import TYPE_CHECKING, Any

from . import bridge
from .errors import ArgumentsError

if TYPE_CHECKING:
    from ..wire.frame_types import ProgressFrame

__all__ = ["progress"]


def progress(done: float, total: float | None = None, message: str | None = None) -> None:
    """Tell the client how far this cell is: two numbers and a text."""
    if message is not None and not isinstance(message, str):
        raise ArgumentsError(f"progress: message is a str, not {type(message).__name__}")
    frame: ProgressFrame = {"type": "progress", "cell": bridge.cell(), "done": _number("done", done)}
    if total is not None:
        frame["total"] = _number("total", total)
    if message is not None:
        frame["message"] = message
    bridge.tell(frame)


def _number(name: str, value: Any) -> float:
    """As JSON and JavaScript can have it, also one of numpy or Decimal."""
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        if math.isfinite(number := float(value)):
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
    except (TypeError, ValueError, OverflowError):
        pass
    shown = repr(value) if isinstance(value, (bool, float)) else type(value).__name__
    raise ArgumentsError(
        f"progress: {name} is a finite number, not {shown}", hint="For example: runtime.progress(3, 12, 'reading')"
    )
