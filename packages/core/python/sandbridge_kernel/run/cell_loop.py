"""Lets code of a cell without `await` use the session's loop as if it ran. Only the cell's own code and asyncio's
functions that it calls see it: others get Python's answer, so that they can run a loop of their own."""

from __future__ import annotations

import asyncio
import sys
from asyncio import events
from functools import wraps
from typing import TYPE_CHECKING

from .interrupts import ASYNCIO

if TYPE_CHECKING:
    from .interrupts import Interrupts

_real = events.get_running_loop


def install(interrupts: Interrupts) -> None:
    """Once, before the first cell."""

    @wraps(_real)
    def get_running_loop() -> asyncio.AbstractEventLoop:
        loop = events._get_running_loop()  # noqa: SLF001
        if loop is not None:
            return loop
        if interrupts.loop is not None and interrupts.is_main() and _is_of_cell():
            return interrupts.loop
        return _real()  # raises

    events.get_running_loop = asyncio.get_running_loop = get_running_loop


def _is_of_cell() -> bool:
    """True for a call by asyncio for a cell, and by a cell itself at its top level: its functions ask what runs."""
    frame = caller = sys._getframe(2)  # noqa: SLF001
    while frame.f_back and frame.f_code.co_filename.startswith(ASYNCIO):
        frame = frame.f_back
    code = frame.f_code
    return code.co_filename.startswith("Cell ") and (frame is not caller or code.co_name == "<module>")
