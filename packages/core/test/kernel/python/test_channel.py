"""The channel over a port made of lists: how bytes become frames, and replies find those who wait."""

import asyncio
import json
import threading
import time
import unittest

from sandbridge_kernel.wire.channel import Channel
from sandbridge_kernel.wire.frames import MAX_FRAME_BYTES
from sandbridge_kernel.run.interrupts import Gate, Interrupts


class FakePort:
    CHUNK = 1  # every read counts as full, so there may be more

    def __init__(self):
        self.incoming, self.sent, self.bytes = [], [], b""

    def read_available(self):
        return self.incoming.pop(0) if self.incoming else b""

    def wait(self, seconds):
        if not self.incoming:
            raise EOFError("the test waits for what never comes")
        return True

    def announce(self, on):
        pass

    def write(self, data):
        # Accepts a few bytes at a time, like a full pipe.
        self.bytes += bytes(data[:7])
        while b"\n" in self.bytes:
            line, self.bytes = self.bytes.split(b"\n", 1)
            self.sent.append(json.loads(line))
        return min(7, len(data))


def line(**frame):
    return json.dumps(frame).encode() + b"\n"


class WholePort(FakePort):
    """Takes whatever is written at once."""

    def __init__(self):
        super().__init__()
        self.writes = []

    def write(self, data):
        self.writes.append([json.loads(line) for line in bytes(data).splitlines()])
        return len(data)


class CallingAtOnce(unittest.TestCase):
    def setUp(self):
        self.port, self.interrupts = WholePort(), Interrupts()
        self.channel = Channel(self.port, self.interrupts)
        self.channel.begin_cell(1)

    def run_turn(self, work):
        """Run until nothing is left to do in this turn of the loop, as the session's loop does before it waits."""

        async def main():
            self.interrupts.loop = asyncio.get_running_loop()
            tasks = [asyncio.ensure_future(one) for one in work(self.channel)]
            await asyncio.sleep(0)
            await asyncio.sleep(0)  # tasks that these have started
            self.channel.send_rest()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run(main())

    def test_the_calls_of_one_turn_are_few_writes_and_the_first_goes_at_once(self):
        self.run_turn(lambda channel: [channel.call("m", {"n": n}) for n in range(500)])
        calls = [frame for write in self.port.writes for frame in write if frame["type"] == "call"]
        self.assertEqual([frame["params"]["n"] for frame in calls], list(range(500)))
        counts = [sum(frame["type"] == "call" for frame in write) for write in self.port.writes]
        self.assertEqual(counts[0], 1)
        self.assertEqual(sum(counts[:4]), 500)

    def test_whatever_else_is_sent_comes_after_the_calls_before_it(self):
        async def call_then_tell(channel):
            first, second = channel.call("m", {"n": 1}), channel.call("m", {"n": 2})
            tasks = [asyncio.ensure_future(first), asyncio.ensure_future(second)]
            await asyncio.sleep(0)
            channel.send({"type": "cancel", "id": 2})
            for task in tasks:
                task.cancel()

        self.run_turn(lambda channel: [call_then_tell(channel)])
        sent = [frame for write in self.port.writes for frame in write]
        ids = [(frame["type"], frame["id"]) for frame in sent]
        self.assertEqual(ids[:3], [("call", 1), ("call", 2), ("cancel", 2)])

    def test_a_call_of_another_threads_loop_ends_with_its_cell(self):
        outcome, sent = [], threading.Event()

        async def call():
            task = asyncio.ensure_future(self.channel.call("m", {}))
            await asyncio.sleep(0)
            sent.set()
            outcome.append(await task)

        thread = threading.Thread(target=lambda: asyncio.run(call()), daemon=True)
        thread.start()
        sent.wait()
        self.channel.end_cell()
        thread.join(10)
        self.assertEqual([reply["error"]["code"] for reply in outcome], ["CANCELLED"])


class Reading(unittest.TestCase):
    def setUp(self):
        self.port, self.interrupts = FakePort(), Interrupts()
        self.channel = Channel(self.port, self.interrupts)

    def runs(self):
        self.channel.pump()
        found = []
        while self.channel._runs:
            found.append(self.channel.next_run()["cell"])
        return found

    def test_frames_may_be_cut_anywhere(self):
        whole = b"".join(line(type="run", cell=n, code="ü\u2028") for n in (1, 2, 3))
        for size in (1, 2, 3, 7, 50, len(whole)):
            self.port.incoming = [whole[i : i + size] for i in range(0, len(whole), size)]
            self.assertEqual(self.runs(), [1, 2, 3])

    def test_a_bad_line_costs_itself_only(self):
        self.port.incoming = [b"\n\xff\xfe\n{}\n[1]\n" + line(type="output", cell=1) + line(type="run", cell=2, code="")]
        self.assertEqual(self.runs(), [2])

    def test_a_line_that_is_too_long_is_dropped_without_being_kept(self):
        chunk = b"x" * (1 << 20)
        self.port.incoming = [b'{"type":"run","cell":1,"code":"'] + [chunk] * (MAX_FRAME_BYTES >> 20) + [b'"}\n']
        self.port.incoming.append(line(type="run", cell=2, code=""))
        self.assertEqual(self.runs(), [2])
        self.assertEqual(self.channel._incomplete, b"")

    def test_a_line_that_memory_does_not_suffice_for_ends_its_call(self):
        class Full(bytearray):
            def __iadd__(self, piece):
                raise MemoryError

        slot = []
        self.channel._waiters[7] = (None, slot.append)
        self.channel._incomplete = Full(b'{"type":"reply","id":7,"value":"')
        self.port.incoming = [b"x", b"x", b'"}\n' + line(type="run", cell=2, code="")]
        self.assertEqual(self.runs(), [2])
        self.assertEqual(slot[0]["error"]["code"], "FRAME_TOO_LARGE")
        self.assertEqual(self.channel._incomplete, b"")

    def test_reading_is_linear(self):
        def seconds(count, bytes_each):
            body = line(type="run", cell=1, code="x" * bytes_each)
            data = body * count
            self.port.incoming = [data[i : i + 4096] for i in range(0, len(data), 4096)]
            start = time.process_time()
            self.assertEqual(len(self.runs()), count)
            return time.process_time() - start

        # Quadratic reading would take 64 times as long for 8 times the bytes. The limit is generous: only the growth
        # matters.
        seconds(1, 1 << 20)
        self.assertLess(seconds(1, 32 << 20), 40 * seconds(1, 4 << 20))
        self.assertLess(seconds(40_000, 50), 40 * seconds(5_000, 50))

    def test_an_interrupt_is_taken_out_wherever_it_stands(self):
        data = line(type="run", cell=1, code="ab")
        for at in range(len(data) + 1):
            self.port.incoming = [data[:at] + b"\x03" + data[at:]]
            self.assertEqual(self.runs(), [1])
            self.interrupts.disarm()

    def test_an_interrupt_belongs_to_the_run_before_it(self):
        self.port.incoming = [b"\x03\x03" + line(type="run", cell=1, code="")]
        self.runs()
        self.interrupts.arm()
        self.interrupts.disarm()

        self.port.incoming = [line(type="run", cell=1, code="") + b"\x03"]
        self.runs()
        self.assertRaises(KeyboardInterrupt, self.interrupts.arm)
        self.interrupts.disarm()
        self.interrupts.arm()

    def test_an_interrupt_waits_for_the_end_of_a_gate(self):
        gate, after = Gate(self.interrupts), []
        self.interrupts.arm()
        with self.assertRaises(KeyboardInterrupt):
            with gate:
                self.interrupts.request()
                after.append("still inside")
            after.append("never")
        self.assertEqual(after, ["still inside"])
        self.interrupts.check()  # it is cleared now


class Calling(unittest.TestCase):
    def setUp(self):
        self.port = FakePort()
        self.channel = Channel(self.port, Interrupts())
        self.channel.begin_cell(4)

    def test_a_blocking_call_gets_its_own_reply(self):
        self.port.incoming = [line(type="reply", id=9, value="late") + line(type="reply", id=1, value="mine")]
        self.assertEqual(self.channel.call_sync("m", {"a": 1})["value"], "mine")
        self.assertEqual(self.port.sent, [{"type": "call", "id": 1, "cell": 4, "method": "m", "params": {"a": 1}}])

    def test_a_call_that_fails_while_waiting_is_cancelled(self):
        self.assertRaises(EOFError, self.channel.call_sync, "m", {})
        self.assertEqual(self.port.sent[1], {"type": "cancel", "id": 1})
        self.assertEqual(self.channel._waiters, {})

    def test_what_cannot_be_sent_leaves_nothing_behind(self):
        self.assertRaises(TypeError, self.channel.call_sync, "m", {"a": object()})
        self.assertEqual((self.port.sent, self.channel._waiters), ([], {}))

    def test_without_a_cell_there_is_no_call(self):
        self.channel.end_cell()
        self.assertRaises(RuntimeError, self.channel.call_sync, "m", {})

    def test_a_reply_nested_too_deeply_ends_its_call(self):
        for deep in (b'{"type":"reply","id":1,"value":%s}\n', b'{"value":%s,"type":"reply","id":2}\n'):
            self.port.incoming = [deep % (b"[" * 200_000 + b"]" * 200_000)]
            self.assertIn("recursion limit", self.channel.call_sync("m", {})["error"]["message"])


if __name__ == "__main__":
    unittest.main()
