"""Waiting awake: only while replies come quickly, and only where another CPU is left for who answers."""

import os
import unittest
from unittest.mock import patch

from sandbridge_kernel.wire import spin


class Waiting(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        clock = patch.object(spin, "perf_counter", lambda: self.now)
        clock.start()
        self.addCleanup(clock.stop)
        self.spin = self.with_cpus(2)

    def with_cpus(self, count, given=None):
        environment = {} if given is None else {"OMP_NUM_THREADS": given}
        there = patch.object(os, "sched_getaffinity", lambda _pid: set(range(count)), create=True)
        with there, patch.dict(os.environ, environment, clear=True):
            return spin.Spin()

    def wait(self, seconds):
        """Returns whether the reply was seen, and how often the wait looked for it."""
        looks, arrives = [], self.now + seconds

        class FakePort:
            def wait(_, at_most):
                self.assertEqual(at_most, 0)
                looks.append(self.now)
                self.now += 0.0001
                return looks[-1] >= arrives

        return self.spin.until_input(FakePort()), len(looks)

    def test_a_quick_reply_is_seen_without_sleep(self):
        for _ in range(100):
            self.assertEqual(self.wait(0.0002)[0], True)

    def test_a_slow_reply_is_left_to_sleep_and_so_are_the_next_ones(self):
        looked = []
        for _ in range(300):
            seen, looks = self.wait(1)
            self.assertFalse(seen)
            self.assertLess(looks, 10)
            looked.append(looks > 0)
        self.assertEqual([at for at, one in enumerate(looked) if one], [0, 2, 6, 14, 30, 62, 126, 190, 254])

    def test_a_quick_reply_ends_the_sleep(self):
        for _ in range(7):
            self.wait(1)
        self.assertEqual([self.wait(0.0002)[0] for _ in range(9)], [False] * 7 + [True] * 2)

    def test_a_reply_that_is_there_after_another_process_had_the_cpu_counts_as_slow(self):
        def yielded():
            self.now += 0.003

        with patch.object(os, "sched_yield", yielded, create=True):
            self.assertEqual([self.wait(0.0002) for _ in range(2)], [(False, 1), (False, 0)])

    def test_one_cpu_is_never_kept_from_the_bridge(self):
        for one in (self.with_cpus(1), self.with_cpus(1, "4"), self.with_cpus(8, "1")):
            self.spin = one
            self.assertEqual(self.wait(0.0002), (False, 0))
        for more in (self.with_cpus(2), self.with_cpus(8, "2"), self.with_cpus(8, "")):
            self.spin = more
            self.assertEqual(self.wait(0.0002)[0], True)


if __name__ == "__main__":
    unittest.main()
