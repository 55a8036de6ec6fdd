"""Polls for a reply for half a millisecond before it sleeps: waking a process takes a tenth of a millisecond of each
call. After polling in vain, the next waits sleep at once: 1, then 3, 7, up to 63. A reply in time resets this."""

from __future__ import annotations

import os
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .port import Port

_SECONDS = 0.0005
_MOST_SKIPPED = 63


class Spin:
    def __init__(self) -> None:
        self._possible = _cpus() > 1  # else the bridge and the server would wait for this process
        self._to_skip = 0
        self._skipped = 0  # after the last wait in vain

    def until_input(self, port: Port) -> bool:
        """Wait for a short time. Returns True if there is input."""
        if not self._possible:
            return False
        if self._to_skip:
            self._to_skip -= 1
            return False
        end = perf_counter() + _SECONDS
        while not port.wait(0):
            os.sched_yield()  # to a process that waits for this CPU, such as the bridge
            if perf_counter() > end:
                self._to_skip = self._skipped = min(2 * self._skipped + 1, _MOST_SKIPPED)
                return False
        self._skipped = 0
        return True


def _cpus() -> int:
    """Returns the number of CPUs that this process may use. The bridge knows best: a limit on their time is not visible here."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    given = os.environ.get("OMP_NUM_THREADS", "")
    return min(there, int(given)) if given.isdecimal() else there
