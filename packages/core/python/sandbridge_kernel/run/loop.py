"""The session's event loop, kept from cell to cell: a selector loop, or in Pyodide one that waits on the channel's
device. Both send printed text before they block, and raise interrupts that arrived inside asyncio's code."""

from __future__ import annotations

import asyncio
import selectors
from asyncio import base_events
from typing import TYPE_CHECKING

from ..wire.spin import Spin

if TYPE_CHECKING:
    from ..show.output import Output
    from ..wire.channel import Channel
    from ..wire.port import Port
    from ..wire.port_pipe import PipePort
    from .interrupts import Interrupts


class _Guard:
    """The work of both loops before they block."""

    def __init__(self, channel: Channel, output: Output, interrupts: Interrupts) -> None:
        self._channel, self._output, self._interrupts = channel, output, interrupts

    def before_select(self, timeout: float | None) -> float | None:
        self._channel.send_rest()
        if timeout is None or timeout > 0:
            self._output.flush()
            if self._channel.unread:
                self._channel.take_in()
                timeout = 0
        self._interrupts.check()
        return timeout


class _PipeSelector(selectors.DefaultSelector):
    """Waits for the port, too, and takes in what arrives there."""

    def __init__(self, port: PipePort, channel: Channel, guard: _Guard) -> None:
        super().__init__()
        self._port, self._channel, self._guard = port, channel, guard
        self._spin = Spin()
        self._port_key = self.register(port.fd, selectors.EVENT_READ)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        timeout = self._guard.before_select(timeout)
        # A reply ends this wait and is processed here: several times cheaper than the signal handler.
        self._channel.waiting = True
        try:
            events = super().select(timeout)
        finally:
            self._channel.waiting = False
        for event in events:
            if event[0] is self._port_key:
                events.remove(event)
                self._channel.take_in()
                break
        return events

    def spin(self) -> bool:
        """Wait for the port without sleeping. Returns True if input came, and was taken in."""
        if self._guard.before_select(None) == 0:
            return True
        self._channel.waiting = True
        try:
            if not self._spin.until_input(self._port):
                return False
        finally:
            self._channel.waiting = False
        self._channel.take_in()
        return True


class _DeviceSelector:
    def __init__(self, port: Port, channel: Channel, guard: _Guard) -> None:
        self._port, self._channel, self._guard = port, channel, guard

    def select(self, timeout: float | None = None) -> tuple[()]:
        if self._port.wait(self._guard.before_select(timeout)):
            self._channel.take_in()
        return ()

    def close(self) -> None:
        pass


class _WaitsInPlace(base_events.BaseEventLoop):
    def wait_in_place(self) -> None:
        """Called by a task that is about to wait for the bridge. If nothing else can happen first, waits here: the reply is then often
        present when the task checks for it. Saves two turns of the loop, a tenth of a tool call's time."""
        if self._is_idle():
            self._process_events(self._selector.select())  # type: ignore[attr-defined]

    def _is_idle(self) -> bool:
        # A task factory of the cell, such as an eager one, may run this task inside another, which goes on after it.
        return not self._ready and not self._scheduled and self.get_task_factory() is None  # type: ignore[attr-defined]


class PipeLoop(_WaitsInPlace, asyncio.SelectorEventLoop):
    """CPython: while the loop works, replies arrive through the port's signal handler; while it waits, through its selector."""

    _selector: _PipeSelector

    def __init__(self, port: PipePort, channel: Channel, output: Output, interrupts: Interrupts) -> None:
        super().__init__(_PipeSelector(port, channel, _Guard(channel, output, interrupts)))

    def wait_in_place(self) -> None:
        if self._is_idle() and not self._selector.spin():
            super().wait_in_place()


class DeviceLoop(_WaitsInPlace):
    """Pyodide: waits only for time and the device."""

    def __init__(self, port: Port, channel: Channel, output: Output, interrupts: Interrupts) -> None:
        super().__init__()
        self._selector = _DeviceSelector(port, channel, _Guard(channel, output, interrupts))

    def _process_events(self, event_list: object) -> None:
        pass

    def _write_to_self(self) -> None:
        pass  # there is one thread, which does not wait in select while it adds a callback
