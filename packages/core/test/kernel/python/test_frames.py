"""The Python half of the golden frames: what the kernel sends is what the bridge reads, and what it drops is what it must drop."""

import json
import os
import sys
import unittest

from sandbridge_kernel.wire import frames

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "frames.json")
FROM_BRIDGE = ("run", "reply")


class Frames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(GOLDEN, encoding="utf-8") as file:
            cls.golden = json.load(file)

    def test_what_the_bridge_sends_is_read(self):
        for kind in FROM_BRIDGE:
            self.assertTrue(self.golden["valid"][kind])
            for frame in self.golden["valid"][kind]:
                line = json.dumps(frame, ensure_ascii=False).encode()
                self.assertEqual(frames.decode(line), frame)

    def test_what_the_kernel_sends_is_one_line_of_ascii(self):
        for kind, examples in self.golden["valid"].items():
            for frame in examples if kind not in FROM_BRIDGE else ():
                line = frames.encode(frame)
                self.assertTrue(line.isascii())
                self.assertEqual(line.count(b"\n"), 1)
                self.assertEqual(line[-1:], b"\n")
                self.assertEqual(json.loads(line), frame)

    def test_what_the_kernel_sends_is_not_taken_from_the_bridge(self):
        for kind, examples in self.golden["valid"].items():
            for frame in examples if kind not in FROM_BRIDGE else ():
                self.assertRaises(frames.FrameError, frames.decode, json.dumps(frame).encode())

    def test_what_is_no_frame_is_refused(self):
        for case in self.golden["invalid"]:
            with self.subTest(case["why"]), self.assertRaises(frames.FrameError):
                frames.decode(case["line"].encode())
        with self.assertRaises(frames.FrameError):
            frames.decode(b'{"type":"reply","id":1,"value":"\xff"}')

    def test_an_integer_of_a_call_that_the_bridge_would_round_is_refused(self):
        def sent(value, default=list):
            return frames.encode({"type": "call", "id": 1, "cell": 1, "method": "m", "params": {"id": value}}, default)

        for value in (2**53, -(2**53), [1, {"a": (9007199254740993,)}], {9007199254740993}, 10**400):
            with self.subTest(value), self.assertRaisesRegex(ValueError, "integer.* in '(id|a)' is beyond .*pass it as a str"):
                sent(value)
        for value in (2**53 - 1, 1 - 2**53, 1e20, "x:9007199254740993,", {9007199254740993: 1}, True):
            sent(value)
        # Servers get all of them.
        call = {"type": "call", "id": 1, "cell": 1, "method": "call_tool", "params": {"kwargs": {"id": 2**64}}}
        self.assertIn(b'"id":18446744073709551616', frames.encode(call, list))
        # What is no call is text of the cell.
        frames.encode({"type": "result", "cell": 1, "value": 2**60})

    def test_lone_surrogates_and_separators_survive(self):
        text = "\ud800 \u2028 \u2029 \x00 \x85"
        line = frames.encode({"type": "output", "cell": 1, "stream": "stdout", "text": text})
        self.assertEqual(json.loads(line)["text"], text)
        self.assertEqual(len(line.decode().splitlines()), 1)

    def test_the_limit_is_exact(self):
        around = len(frames.encode({"t": ""}))
        fits = frames.encode({"t": "x" * (frames.MAX_FRAME_BYTES - around)})
        self.assertEqual(len(fits), frames.MAX_FRAME_BYTES)
        with self.assertRaises(frames.FrameError):
            frames.encode({"t": "x" * (frames.MAX_FRAME_BYTES - around + 1)})

    def test_what_costs_the_bridge_too_much_is_refused(self):
        def nested(depth):
            value = 1
            for _ in range(depth):
                value = [value]
            return value

        around = 3  # the braces of the frame, and a colon
        frames.encode({"t": [1] * (frames.MAX_STRUCTURE - around - 1)})
        with self.assertRaisesRegex(frames.FrameError, "brackets, colons and commas"):
            frames.encode({"t": [1] * (frames.MAX_STRUCTURE - around)})
        # The bridge reads each of these longer.
        for slow in (3.0, 1e22, 10**16, {"1": 1}):
            with self.assertRaisesRegex(frames.FrameError, "JSON beside numbers such as 3.0 are over the limit of 262"):
                frames.encode({"t": [slow] * frames.MAX_INEXACT_STRUCTURE})
        for quick in (3.5, 0.01e-07, 10**14, "3.0", {"a1": 1}):
            frames.encode({"t": [quick] * (frames.MAX_INEXACT_STRUCTURE // 2)})
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(4 * frames.MAX_NESTING)
        try:
            frames.encode({"t": nested(frames.MAX_NESTING - 1)})
            with self.assertRaisesRegex(frames.FrameError, "1,001 deep"):
                frames.encode({"t": nested(frames.MAX_NESTING)})
        finally:
            sys.setrecursionlimit(limit)
        # Inside strings they do not count.
        for text in ("[" * 2_000_000, '\\"[{' * 600_000, '\\' * 999 + '"{,' * 600_000):
            self.assertEqual(json.loads(frames.encode({"t": text}))["t"], text)

    def test_numbers_that_json_lacks_are_refused(self):
        for number in (float("nan"), float("inf"), -float("inf")):
            self.assertRaises(ValueError, frames.encode, {"t": number})


if __name__ == "__main__":
    unittest.main()
