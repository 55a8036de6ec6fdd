"""Interrupts at each line of a cell that calls and waits: it ends, and the next one runs."""

import asyncio
import contextvars
import gc
import json
import math
import sys
import unittest

from sandbridge_kernel.run.interrupts import Interrupts
from sandbridge_kernel.run.loop import DeviceLoop
from sandbridge_kernel.session import Session
from sandbridge_kernel.show.output import Output
from sandbridge_kernel.wire.channel import Channel


class Kernel:
    """Runs cells as the embedded sandbox does, and is their port: replies to each call, and sends a signal at one of the
    lines. One that is put back comes again at the next line."""

    CHUNK = 1 << 16

    def __init__(self, at, spare):
        self.left = at
        self._spare = spare  # signals that arrive while everything waits
        self._is_back = False
        self._incoming, self._cut, self.frames = b"", b"", []
        self.interrupts = Interrupts()
        self.interrupts.put_back = lambda: setattr(self, "_is_back", True)
        self.channel = Channel(self, self.interrupts)
        self.output = Output(self.channel, self.interrupts)
        self.session = object.__new__(Session)
        self.session._context = contextvars.copy_context()
        self.session._stubborn, self.session._ends, self.session._read_notes = set(), math.inf, []
        self.session._loop = self.interrupts.loop = DeviceLoop(self, self.channel, self.output, self.interrupts)

    def announce(self, on):
        pass

    def write(self, data):
        *lines, self._cut = (self._cut + data[:40]).split(b"\n")
        for frame in map(json.loads, lines):
            self.frames.append(frame)
            if frame["type"] == "call":
                self._incoming += json.dumps({"type": "reply", "id": frame["id"], "value": 1}).encode() + b"\n"
        return len(data[:40])

    def read_available(self):
        data, self._incoming = self._incoming, b""
        return data

    def wait(self, seconds):
        if self._incoming:
            return True
        if self._is_back:
            self._arrive(sys._getframe())
        elif seconds is None:
            self._spare -= 1
            if self._spare < 0:
                raise AssertionError("a task waits for ever")
            self._arrive(sys._getframe())
        return False

    def _arrive(self, frame):
        self._is_back = False
        self.interrupts.request()
        self.interrupts.handle(frame)

    def _trace(self, frame, event, _):
        if frame.f_code.co_filename == __file__ and not frame.f_code.co_flags & 0x80:
            return None  # this class
        if event == "line":
            self.left -= 1
            if self.left == 0 or self._is_back:
                self._arrive(frame)
        return self._trace

    def run(self, cell, traced):
        """Returns the cell's value, its interrupt, and what it printed."""
        self.frames.clear()
        self.channel.begin_cell(1)
        self.interrupts.arm()
        if traced:
            sys.settrace(self._trace)
        try:
            value, interrupt = self.session._await(cell(self), grace=None)
            if self._is_back:
                self._arrive(sys._getframe())
        except KeyboardInterrupt as error:
            value, interrupt = None, error
        finally:
            sys.settrace(None)
        self.session._stop_tasks()
        self.interrupts.disarm()
        self.output.flush()
        self.channel.end_cell()
        texts = [frame["text"] for frame in self.frames if frame["type"] == "output"]
        return value, interrupt is None, "".join(texts)


async def works(kernel):
    """Prints, calls, and has tasks that wait for a timer, for each other, and for one future together."""
    call, write = kernel.channel.call, kernel.output.stdout.write
    write("one\n")
    await call("m", {})
    kernel.channel.call_sync("m", {})
    write("two\n")
    came = asyncio.Event()
    asyncio.get_running_loop().call_later(0, came.set)
    first = asyncio.ensure_future(came.wait())
    await asyncio.wait((first, asyncio.ensure_future(came.wait())))
    await asyncio.gather(first, asyncio.shield(first))
    return "done"


class AtEachLine(unittest.TestCase):
    def setUp(self):
        gc.disable()  # what one run has left is not freed in the lines of another
        self.addCleanup(gc.enable)

    def each(self, cell, step=1, spare=0):
        whole, at = ("done", True, "one\ntwo\n"), 0
        while True:
            at += step
            kernel = Kernel(at, spare)
            value, is_whole, text = kernel.run(cell, traced=True)
            if kernel.left > 0:
                break
            with self.subTest(at=at):
                self.assertEqual((value, is_whole, text), (None, False, whole[2][: len(text)]))
                self.assertEqual((kernel.session._stubborn, kernel.interrupts._depth), (set(), {}))
                self.assertEqual(kernel.run(works, traced=False), whole)
            kernel.session._loop.close()
        self.assertEqual((value, is_whole, text), whole)
        self.assertGreater(at, 500)

    def test_the_cell_ends_and_the_next_one_runs(self):
        self.each(works)

    def test_a_second_interrupt_ends_what_outlives_the_first(self):
        async def stays(kernel):
            try:
                return await works(kernel)
            except BaseException:
                await asyncio.Event().wait()

        self.each(stays, step=7, spare=1)

    def test_a_second_interrupt_ends_a_wait_that_nothing_ends(self):
        async def never(_):
            while True:
                try:
                    await asyncio.Event().wait()
                except BaseException as error:
                    if isinstance(error, GeneratorExit):
                        raise

        kernel = Kernel(0, spare=2)
        self.assertEqual(kernel.run(never, traced=False)[:2], (None, False))
        self.assertEqual(kernel.run(works, traced=False)[0], "done")


if __name__ == "__main__":
    unittest.main()
