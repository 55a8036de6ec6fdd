"""Interrupts at each line of a cell that waits: the cell ends, and no task of it waits for ever."""

import asyncio
import contextvars
import gc
import math
import sys
import unittest
from types import SimpleNamespace

from sandbridge_kernel.run.interrupts import Interrupts
from sandbridge_kernel.run.loop import DeviceLoop
from sandbridge_kernel.session import Session


class Kernel:
    """Runs a cell as the embedded sandbox does, with a signal at one of the lines that its loop runs. One that is put back
    comes again at the next one."""

    def __init__(self, at):
        self.left = at
        self._is_back = False
        self.spare = 0  # signals that arrive while everything waits
        self.interrupts = Interrupts()
        self.interrupts.put_back = lambda: setattr(self, "_is_back", True)
        self.interrupts.arm()
        channel = SimpleNamespace(unread=False, send_rest=lambda: None)
        loop = DeviceLoop(self, channel, SimpleNamespace(flush=lambda: None), self.interrupts)
        self.session = object.__new__(Session)
        self.session._context = contextvars.copy_context()
        self.session._loop = self.interrupts.loop = loop
        self.session._stubborn, self.session._ends = set(), math.inf

    def wait(self, seconds):
        """As a port that nothing arrives at."""
        if seconds is None and self.spare == 0 and not self._is_back:
            raise AssertionError("a task waits for ever")
        if seconds is None or self._is_back:
            self.spare -= not self._is_back
            self._arrive(sys._getframe())
        return False

    def _arrive(self, frame):
        self._is_back = False
        self.interrupts.request()
        self.interrupts.handle(frame)

    def _trace(self, frame, event, _):
        if event == "line":
            self.left -= asyncio._get_running_loop() is not None
            if self.left == 0 or self._is_back:
                self._arrive(frame)
        return self._trace

    def run(self, cell):
        """Returns the cell's value, its interrupt, and the tasks that do not end."""
        sys.settrace(self._trace)
        try:
            value, interrupt = self.session._await(cell(), grace=None)
        except KeyboardInterrupt as error:
            value, interrupt = None, error
        finally:
            sys.settrace(None)
        self.session._stop_tasks()
        self.session._loop.close()
        return value, interrupt, self.session._stubborn


async def waits():
    """Tasks that wait for a timer, for each other, and for one future together."""
    came = asyncio.Event()
    asyncio.get_running_loop().call_later(0, came.set)
    first = asyncio.ensure_future(came.wait())
    await asyncio.gather(first, came.wait(), asyncio.wait_for(asyncio.shield(first), 5))
    return "done"


class AtEachLine(unittest.TestCase):
    def setUp(self):
        gc.disable()  # what one run has left is not freed in the lines of another
        self.addCleanup(gc.enable)

    def each(self, cell, spare=0):
        at = 0
        while True:
            at += 1
            kernel = Kernel(at)
            kernel.spare = spare
            value, interrupt, left = kernel.run(cell)
            if kernel.left > 0:
                break
            with self.subTest(at=at):
                self.assertEqual((interrupt is None, value, left), (False, None, set()))
        self.assertEqual(value, "done")
        self.assertGreater(at, 100)

    def test_no_task_waits_for_ever(self):
        self.each(waits)

    def test_a_second_interrupt_ends_what_outlives_the_first(self):
        async def stays():
            try:
                return await waits()
            except BaseException:
                await asyncio.Event().wait()

        self.each(stays, spare=1)


if __name__ == "__main__":
    unittest.main()
