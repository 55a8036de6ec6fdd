"""`runtime.progress`: how far a cell says it is. Numbers that the bridge could not read are refused here, where the cell can hear of it."""

import math

from . import bridge
from .errors import ArgumentsError


def progress(done, total=None, message=None):
    """Tell the client how far this cell is: two numbers and a text."""
    if message is not None and not isinstance(message, str):
        raise ArgumentsError(f"progress: message is a str, not {type(message).__name__}")
    frame = {"type": "progress", "done": _number("done", done), "total": _number("total", total), "message": message}
    bridge.tell({key: value for key, value in frame.items() if value is not None})


def _number(name, value):
    """As JSON and JavaScript can have it, also one of numpy or Decimal."""
    if value is None and name == "total":
        return None
    try:
        if isinstance(value, (bool, str, bytes)):
            raise TypeError
        if math.isfinite(number := float(value)):
            return int(number) if number.is_integer() and abs(number) < 2**53 else number
    except (TypeError, ValueError, OverflowError):
        pass
    shown = repr(value) if isinstance(value, (bool, float)) else type(value).__name__
    raise ArgumentsError(f"progress: {name} is a finite number, not {shown}", hint="For example: runtime.progress(3, 12, 'reading')")
