"""Starts programs that run cells, without an interrupt in between, and ends them with everything they have started."""

from __future__ import annotations

import os
import signal
import time
from _thread import get_ident
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .interrupts import Interrupts


@contextmanager
def held_back(interrupts: Interrupts) -> Iterator[None]:
    """Delay interrupts while a process is started and recorded."""
    interrupts.enter(get_ident())
    # Child processes inherit an ignored signal, but not a handler.
    ignored = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, ignored)
        interrupts.leave(get_ident())


def signal_all(group: int, number: int) -> None:
    """Send a signal to a process that leads a group, and to the whole group."""
    try:
        os.killpg(group, number)
    except OSError:
        pass  # the whole group has ended


LEAST_TURNS = 12


def turns(seconds: float) -> Iterator[int]:
    """Count turns for so long, and to LEAST_TURNS in any case: the machine may have stood still meanwhile."""
    start, count = time.monotonic(), 0
    while count < LEAST_TURNS or time.monotonic() < start + seconds:
        yield count
        count += 1
