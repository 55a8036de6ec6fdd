"""Signal handlers of cells: many programs limit time with `signal.alarm` and a handler that raises.

Such a handler may run at any instruction of the main thread. Inside a gate it would break frames in two and leave locks
held, so it waits for the gate's end. If no cell is running, its exception belongs to no cell and must not end the kernel.
"""

from __future__ import annotations

import signal
from functools import wraps
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .interrupts import Interrupts


def guard(interrupts: Interrupts) -> None:
    """Replace signal.signal and signal.getsignal with versions that wrap the cell's handlers. Once, before the first cell."""
    real_signal, real_getsignal = signal.signal, signal.getsignal

    @wraps(real_signal)
    def set_handler(signalnum: int, handler: Any, /) -> Any:
        return _unwrapped(real_signal(signalnum, _Wrapped(handler, interrupts) if callable(handler) else handler))

    @wraps(real_getsignal)
    def get_handler(signalnum: int, /) -> Any:
        return _unwrapped(real_getsignal(signalnum))

    signal.signal, signal.getsignal = set_handler, get_handler  # type: ignore[assignment]


class _Wrapped:
    def __init__(self, handler: Any, interrupts: Interrupts) -> None:
        self.handler, self._interrupts = handler, interrupts

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        self._interrupts.run_or_defer(self.handler, signum, frame)


def _unwrapped(handler: Any) -> Any:
    return handler.handler if isinstance(handler, _Wrapped) else handler
