"""Programs that run cells: started with no interrupt in between, and ended with all that they have started."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .interrupts import Interrupts


@contextmanager
def held_back(interrupts: Interrupts) -> Iterator[None]:
    """For the start of a process: no interrupt between its start and its being known."""
    # A signal that the kernel ignores would be ignored by all that it starts; one that it handles is not.
    ignored = signal.signal(signal.SIGINT, lambda *_: None)
    interrupts.enter()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, ignored)
        interrupts.leave()


def signal_all(group: int, number: int) -> None:
    """Send a signal to a process that leads a group, and to all others of it."""
    try:
        os.killpg(group, number)
    except OSError:
        pass  # all of it has ended
