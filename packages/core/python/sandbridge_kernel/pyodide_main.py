"""Starts a kernel in Pyodide after a snapshot was restored: the sandbox calls serve() and never regains control.
Removes ways to reach JavaScript for better error messages; isolation does not depend on it."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
import warnings
from typing import TYPE_CHECKING

from . import serve as kernel
from .run.loop import DeviceLoop
from .wire.port_device import DevicePort

if TYPE_CHECKING:
    from collections.abc import Callable


def serve() -> None:
    """Serve frames on /dev/sandbridge. Never returns."""
    random.seed()  # all sandboxes start from the same snapshot, with the same random state
    _remove_javascript()
    port = DevicePort()
    interrupts, channel, output, capture = kernel.connect(port)
    interrupts.put_back = port.put_back

    def new_loop() -> DeviceLoop:
        return DeviceLoop(port, channel, output, interrupts)

    _use_loop(new_loop)

    def sleep(seconds: float, /) -> None:
        output.flush()
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        end = time.monotonic() + seconds
        left = seconds
        while left > 0:
            if port.wait(left):  # a reply has arrived: keep it, and continue to sleep
                channel.pump()
            left = end - time.monotonic()

    time.sleep = kernel.like(time.sleep, sleep)

    def system(command: object) -> int:
        sys.stderr.write("sh: no program can be started in this sandbox: do it in Python\n")
        return -1

    os.system = kernel.like(os.system, system)
    capture.wrap_write()  # no thread empties these pipes: what is printed next would come before it
    kernel.serve_cells(interrupts, channel, output, capture, new_loop)


def _use_loop(new_loop: Callable[[], DeviceLoop]) -> None:
    """Make asyncio use our loop: Pyodide's own would wait for a JavaScript event loop that never runs."""

    class Policy(asyncio.events._BaseDefaultEventLoopPolicy):  # type: ignore[name-defined, misc]  # noqa: SLF001
        def _loop_factory(self) -> DeviceLoop:
            return new_loop()

    asyncio.run = getattr(asyncio.run, "__wrapped__", asyncio.run)
    asyncio._set_running_loop(None)  # noqa: SLF001
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        asyncio.set_event_loop_policy(Policy())


def _remove_javascript() -> None:
    for name in list(sys.modules):
        if name in ("js", "pyodide_js") or name.split(".")[0] in ("pyodide", "_pyodide", "_pyodide_core"):
            del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not hasattr(finder, "jsproxies")]
