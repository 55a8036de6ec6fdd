"""The session's event loop: kept from cell to cell, so that locks, queues and connections of earlier cells still work.

Two kinds: an ordinary selector loop on CPython, one that waits on the channel's device in Pyodide. Both send what was
printed before they block, and are the place where an interrupt that came inside the loop's own code is raised.
"""

import asyncio
import selectors
from asyncio import base_events, events


class _Guard:
    """What both loops do before they block."""

    def __init__(self, channel, output, interrupts):
        self._channel, self._output, self._interrupts = channel, output, interrupts

    def before_select(self, timeout):
        if timeout is None or timeout > 0:
            self._output.flush()
            if self._channel.unread:
                self._channel.take_in()
                timeout = 0
        self._interrupts.check()
        return timeout


class _GuardedSelector(selectors.DefaultSelector):
    def __init__(self, guard, channel):
        super().__init__()
        self._guard, self._channel = guard, channel

    def select(self, timeout=None):
        timeout = self._guard.before_select(timeout)
        # A reply ends this wait by itself, and the loop then takes it in: the signal handler need not, at several times the cost.
        self._channel.waiting = True
        try:
            return super().select(timeout)
        finally:
            self._channel.waiting = False


def selector_loop(port, channel, output, interrupts):
    """CPython: while the loop works, replies reach it through the port's signal handler; while it waits, through this reader."""
    loop = asyncio.SelectorEventLoop(_GuardedSelector(_Guard(channel, output, interrupts), channel))
    loop.add_reader(port.fd, channel.take_in)
    return loop


class _DeviceSelector:
    def __init__(self, port, channel, guard):
        self._port, self._channel, self._guard = port, channel, guard

    def select(self, timeout=None):
        if self._port.wait(self._guard.before_select(timeout)):
            self._channel.take_in()
        return ()

    def close(self):
        pass


class DeviceLoop(base_events.BaseEventLoop):
    """Pyodide: nothing to wait for but time and the device."""

    def __init__(self, port, channel, output, interrupts):
        super().__init__()
        self._selector = _DeviceSelector(port, channel, _Guard(channel, output, interrupts))

    def wait_in_place(self):
        """For a task that is about to wait for the bridge. When nothing can happen before something comes from there, what it
        waits for is often here when it looks, and two turns of the loop are saved: a tenth of what a tool call takes."""
        if not self._ready and not self._scheduled:
            self._selector.select(None)

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass  # there is one thread: whoever adds a callback is not asleep in select


# The code in which a loop may hold a task that is in no queue, and the files it is in.
LOOP_CODE = frozenset(
    function.__code__
    for function in (
        base_events.BaseEventLoop._run_once,
        base_events.BaseEventLoop.run_forever,
        base_events.BaseEventLoop.run_until_complete,
    )
)
LOOP_FILES = (base_events.BaseEventLoop._run_once.__code__.co_filename, events.Handle._run.__code__.co_filename)
