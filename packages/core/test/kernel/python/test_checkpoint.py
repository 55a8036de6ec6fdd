"""What a checkpoint promises, and what comes back in the end, also where a value does not load."""

import collections
import copyreg
import os
import pickle
import signal
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import urllib.error
from base64 import b64decode

from sandbridge_kernel.run import checkpoint
from sandbridge_kernel.data.values import Record


def carried(namespace):
    """(what was promised, what was restored, what was said about it)"""
    taken = checkpoint.take(namespace)
    restored = {}
    return taken, restored, checkpoint.restore(restored, taken["data"])


class Buffered:
    """As large arrays of numpy do."""

    def __init__(self, data):
        self.data = data

    def __reduce_ex__(self, protocol):
        return Buffered, (pickle.PickleBuffer(self.data),)


def http_error():
    return urllib.error.HTTPError("u", 404, "nf", {}, None)


class Restored(unittest.TestCase):
    def setUp(self):
        checkpoint._tried.clear()

    def test_a_value_that_pickles_and_does_not_load_is_named_and_takes_no_other_with_it(self):
        shared = [1, 2]
        taken, restored, said = carried({"x": shared, "herr": http_error(), "box": {"inner": shared}, "os": os})
        self.assertEqual(taken["kept"], ["x", "box", "os"])
        self.assertRegex(taken["lost"][0], r"^herr \(HTTPError: it cannot be loaded again: HTTPError.__init__\(\) missing 5")
        self.assertEqual(restored, {"x": [1, 2], "box": {"inner": [1, 2]}, "os": os})
        self.assertIs(restored["x"], restored["box"]["inner"])
        self.assertEqual(said, "Restored from before the restart: x, box, os.")

    def test_one_that_loads_here_and_not_there_is_named_when_it_is_missed(self):
        handle, path = tempfile.mkstemp()
        os.close(handle)
        copyreg.pickle(types.SimpleNamespace, lambda value: (os.stat, (path,)))
        self.addCleanup(copyreg.dispatch_table.pop, types.SimpleNamespace)
        taken = checkpoint.take({"a": [1], "gone": [types.SimpleNamespace()], "b": Record(k=1)})
        self.assertEqual((taken["kept"], taken["lost"]), (["a", "gone", "b"], []))
        os.unlink(path)
        restored = {}
        said = checkpoint.restore(restored, taken["data"])
        self.assertEqual(restored, {"a": [1], "b": {"k": 1}})
        copies = "Objects that several of them shared are separate copies now."
        self.assertRegex(said, rf"^Restored from before the restart: a, b\. Not: gone \(.*No such file.*\)\. {copies}$")

    def test_two_names_of_one_object_are_told_to_be_copies_where_another_value_does_not_load(self):
        handle, path = tempfile.mkstemp()
        os.close(handle)
        copyreg.pickle(types.SimpleNamespace, lambda value: (os.stat, (path,)))
        self.addCleanup(copyreg.dispatch_table.pop, types.SimpleNamespace)
        shared = [1]
        variables = {"x": shared, "y": shared, "gone": types.SimpleNamespace()}
        taken = checkpoint.take(variables)
        whole = {}
        checkpoint.restore(whole, taken["data"])
        self.assertIs(whole["x"], whole["y"])
        os.unlink(path)
        parts = {}
        said = checkpoint.restore(parts, taken["data"])
        self.assertEqual(parts, {"x": [1], "y": [1]})
        self.assertIsNot(parts["x"], parts["y"])
        self.assertIn("separate copies now", said)

    def test_code_of_a_value_that_ends_the_program_ends_nothing(self):
        for leave in (lambda value: sys.exit(), lambda value: (sys.exit, ())):
            copyreg.pickle(types.SimpleNamespace, leave)
            self.addCleanup(copyreg.dispatch_table.pop, types.SimpleNamespace, None)
            taken, restored, _ = carried({"a": 1, "leaves": types.SimpleNamespace()})
            self.assertEqual((taken["kept"], restored), (["a"], {"a": 1}))

    @unittest.skipUnless(hasattr(signal, "setitimer"), "this system cannot bound the code of a value")
    def test_a_value_whose_own_code_takes_too_long_is_named_and_takes_no_other_with_it(self):
        def wait(value):
            try:
                time.sleep(600)
            except Exception:
                pass

        copyreg.pickle(types.SimpleNamespace, wait)
        self.addCleanup(copyreg.dispatch_table.pop, types.SimpleNamespace)
        before = signal.signal(signal.SIGALRM, lambda *_: None)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        mine = signal.getsignal(signal.SIGALRM)
        signal.setitimer(signal.ITIMER_REAL, 500)
        with unittest.mock.patch.object(checkpoint, "_MAX_SECONDS", 0.2):
            taken, restored, _ = carried({"a": 1, "slow": types.SimpleNamespace(), "b": [2]})
        self.assertEqual((taken["kept"], restored), (["a", "b"], {"a": 1, "b": [2]}))
        self.assertEqual(taken["lost"], ["slow (SimpleNamespace: it takes too long)"])
        self.assertIs(signal.getsignal(signal.SIGALRM), mine)
        self.assertGreater(signal.getitimer(signal.ITIMER_REAL)[0], 400)

    def test_code_of_values_ends_without_a_timer_too(self):
        def forever():
            while True:
                pass

        def mine(_frame, _event, _argument):
            return None

        self.addCleanup(sys.settrace, sys.gettrace())
        sys.settrace(mine)
        with self.assertRaises(checkpoint._TooSlow):
            checkpoint._watched(time.monotonic() + 0.05, forever)
        self.assertIs(sys.gettrace(), mine)
        self.assertEqual(checkpoint._watched(time.monotonic() + 50, lambda: 1), 1)

    def test_values_of_common_types_are_pickled_once_and_others_twice(self):
        def size(value):
            return len(b64decode(checkpoint.take({"value": value})["data"]))

        text = "x" * 100_000
        for value in (text, [text], Record(k=text), collections.Counter([text])):
            self.assertLess(size(value), 101_000)
        self.assertGreater(size(types.SimpleNamespace(text=text)), 200_000)

    def test_what_has_no_room_twice_comes_with_all_others_only(self):
        large = types.SimpleNamespace(data=bytes(10 << 20))
        taken, restored, _ = carried({"a": types.SimpleNamespace(n=1), "large": large, "again": [large]})
        self.assertEqual(taken["lost"], [])
        self.assertLess(len(taken["data"]), 23_000_000)
        self.assertIs(restored["again"][0], restored["large"])
        self.assertEqual(restored["a"].n, 1)

    def test_a_type_is_tried_once_in_a_kernel(self):
        loads = []

        def load():
            loads.append(1)
            return []

        load.__module__, load.__qualname__ = "tempfile", "load"
        tempfile.load = load
        self.addCleanup(delattr, tempfile, "load")
        copyreg.pickle(types.SimpleNamespace, lambda value: (load, ()))
        self.addCleanup(copyreg.dispatch_table.pop, types.SimpleNamespace)
        for _ in range(3):
            checkpoint.take({"value": types.SimpleNamespace()})
        self.assertEqual(len(loads), 1)

    def test_a_value_that_pickles_as_a_buffer_comes_back(self):
        taken, restored, said = carried({"array": Buffered(bytearray(b"x" * 100_000)), "small": 1})
        self.assertEqual((taken["lost"], said), ([], "Restored from before the restart: array, small."))
        self.assertEqual(bytes(restored["array"].data), b"x" * 100_000)

    def test_what_no_bridge_should_take_is_cut(self):
        taken, restored, _ = carried({"n" * 300: 1, **{f"f{index}": open for index in range(3)}})
        self.assertEqual(taken["kept"][0], "n" * 200)
        self.assertEqual(restored["n" * 300], 1)
        self.assertRegex(checkpoint.restore({}, "AAAA"), "^The variables of the session before could not be restored")


if __name__ == "__main__":
    unittest.main()
