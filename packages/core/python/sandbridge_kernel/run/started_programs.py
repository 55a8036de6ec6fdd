"""Ends the programs that an interrupted cell has started: as Ctrl-C does, then with more force. Those of earlier cells
run on. Without /proc there is nothing to end."""

from __future__ import annotations

import os
import signal
from time import monotonic, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..wire.channel import Channel
    from .interrupts import Interrupts

# Seconds after the interrupt. All together is less than the bridge's grace. At last, the cell is interrupted once more:
# its cleanup may wait for what a program took with it, such as the lock of a pool.
_FORCE = ((0.0, signal.SIGINT), (0.7, signal.SIGTERM), (1.2, signal.SIGKILL), (1.5, None))
_UNHEARD_SECONDS = 0.3
# At the end of the cell.
_LEFT_SECONDS = 0.2
_LOOK_SECONDS = 0.01
_MAX_NAMED = 5


class StartedPrograms:
    def __init__(self, channel: Channel, interrupts: Interrupts, is_unheard: Callable[[], bool]) -> None:
        """`is_unheard` tells whether an interrupt has arrived that the main thread does not take in, because C code waits."""
        self._channel, self._interrupts, self._is_unheard = channel, interrupts, is_unheard
        self.of_python = True  # cells of other languages end their programs themselves
        self._before: set[int] = set()  # the processes there were when the cell started its first program
        self._cell = 0  # which that was
        self._unheard_since = 0.0
        self._since = 0.0  # the interrupt
        self._sent = 0  # how many signals of _FORCE

    def note_start(self) -> None:
        """The cell is about to start a program."""
        if self.of_python and self._cell != self._channel.cell and self._channel.running:
            self._cell, self._before = self._channel.cell, set(_parents())
            self._forget()

    def _forget(self) -> None:
        """The interrupt was of an earlier cell, which may be over for less time than `look` is called in."""
        self._since, self._unheard_since, self._sent = 0.0, 0.0, 0

    def look(self) -> None:
        """Called regularly by another thread."""
        if self._cell != self._channel.cell or not self._channel.running:
            self._forget()
            return
        now = monotonic()
        if not self._since:
            if not self._is_unheard():
                self._unheard_since = 0.0
            elif not self._unheard_since:
                self._unheard_since = now
            if not self._interrupts.raised and not 0 < self._unheard_since < now - _UNHEARD_SECONDS:
                return
            self._since = now
        while self._sent < len(_FORCE) and now >= self._since + _FORCE[self._sent][0]:
            number = _FORCE[self._sent][1]
            self._sent += 1
            if number is None:
                self._interrupts.request()
            else:
                _signal(self._left(), number)

    def end(self) -> list[str]:
        """The cell was interrupted and is over: end what is left of its programs. Returns a note about them."""
        if self._cell != self._channel.cell or not (left := self._left()):
            return []
        names = sorted(filter(None, map(_name, left)))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            _signal(left, number)
            ends = monotonic() + _LEFT_SECONDS
            while (left := self._left()) and monotonic() < ends:
                sleep(_LOOK_SECONDS)
            if not left:
                break
        shown = ", ".join(dict.fromkeys(names[:_MAX_NAMED])) + (", …" if len(names) > _MAX_NAMED else "")
        return [f"Programs that the cell had started and that still ran were ended: {shown}."]

    def _left(self) -> list[int]:
        """The processes that came from the cell, and not from a program of an earlier one."""
        parents = _parents()
        roots = {os.getpid()}
        if os.getppid() == 1:
            roots.add(1)  # the sandbox's own first process, which orphans belong to
        found = []
        for pid in parents.keys() - self._before - roots:
            ancestor = parents[pid]
            while ancestor not in roots and ancestor not in self._before and ancestor in parents:
                ancestor = parents[ancestor]
            if ancestor in roots:
                found.append(pid)
        return found


def _parents() -> dict[int, int]:
    """The parent of each process that has not ended."""
    found: dict[int, int] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if name.isdigit():
            state, parent = _state(name)
            if state not in ("", "Z", "X"):
                found[int(name)] = parent
    return found


def _state(pid: str) -> tuple[str, int]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return fields[0].decode(), int(fields[1])
    except (OSError, ValueError, IndexError):
        return "", 0  # it has ended


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass  # it has ended
