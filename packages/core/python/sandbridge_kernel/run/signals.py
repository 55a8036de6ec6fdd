"""Signal handlers of cells, which may run at any instruction of the main thread. Inside a gate they would break frames
and leave locks held, so they wait for its end; with no running cell, their exception must not end the kernel. Signals
that would end the kernel have its own handlers: `kill 0` must not cost the variables. Programs and forks do not inherit
them."""

from __future__ import annotations

import signal
import sys
from _thread import get_ident
from functools import wraps
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .interrupts import Interrupts


_real_signal, _real_getsignal = signal.signal, signal.getsignal
# What a cell sees, and a forked child has, in place of the kernel's handlers.
_DEFAULTS: dict[int, Any] = {
    number: signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if (number := getattr(signal, name, None)) is not None
}
_OF_BRIDGE = 63  # in Pyodide: it is not SIGINT, for which a cell may have a handler that goes on
_own: dict[int, Any] = {}
_masks: dict[int, Any] = {}  # by thread that forks


def guard(interrupts: Interrupts) -> None:
    """Set the kernel's handlers, and replace signal.signal and signal.getsignal with versions that wrap the cell's. Once, before the
    first cell."""

    def interrupt(_signum: int, frame: FrameType | None) -> None:
        interrupts.request()
        interrupts.handle(frame)

    for number in _DEFAULTS:
        _own[number] = interrupt if number == signal.SIGINT else lambda *_: None
        _real_signal(number, _own[number])
    if interrupts.put_back:
        _real_signal(_OF_BRIDGE, interrupt)

    def tell_ignored(told: sys.UnraisableHookArgs) -> None:
        """An interrupt that arrived where Python ignores errors, such as a `__del__`, comes again."""
        if told.exc_type is KeyboardInterrupt:
            interrupts.request()
            interrupts.put_off()
        else:
            tell_others(told)

    tell_others, sys.unraisablehook = sys.unraisablehook, tell_ignored

    @wraps(_real_signal)
    def set_handler(signalnum: int, handler: Any, /) -> Any:
        if signalnum in _own and handler == _DEFAULTS[signalnum]:
            handler = _own[signalnum]
        elif callable(handler):
            handler = _Wrapped(handler, interrupts)
        return _unwrapped(signalnum, _real_signal(signalnum, handler))

    @wraps(_real_getsignal)
    def get_handler(signalnum: int, /) -> Any:
        return _unwrapped(signalnum, _real_getsignal(signalnum))

    signal.signal, signal.getsignal = set_handler, get_handler  # type: ignore[assignment]


def before_fork() -> None:
    """Hold signals back, so that the child takes none with a handler that it loses."""
    _masks[get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, _own)


def after_fork_in_parent() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _masks.pop(get_ident(), ()))


def after_fork_in_child() -> None:
    """Signals end the child, as they do any program."""
    for number, handler in _own.items():
        if _real_getsignal(number) is handler:
            _real_signal(number, _DEFAULTS[number])
    _own.clear()
    after_fork_in_parent()


class _Wrapped:
    def __init__(self, handler: Any, interrupts: Interrupts) -> None:
        self.handler, self._interrupts = handler, interrupts

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        self._interrupts.run_or_defer(self.handler, signum, frame)


def _unwrapped(signalnum: int, handler: Any) -> Any:
    if handler is not None and handler is _own.get(signalnum):
        return _DEFAULTS[signalnum]
    return handler.handler if isinstance(handler, _Wrapped) else handler
