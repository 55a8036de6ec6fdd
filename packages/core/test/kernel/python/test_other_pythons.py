"""Advice for code of another Python. Codes of errors are those of this machine."""

import errno
import unittest
from unittest.mock import patch

from sandbridge_kernel.failure.other_pythons import of_other_pythons


def told(error):
    return (of_other_pythons(error) or {"hint": ""})["hint"]


class OtherPythons(unittest.TestCase):
    def test_the_embedded_python_is_told_what_to_do_without_timers_and_processes(self):
        lacking = AttributeError("module 'signal' has no attribute 'alarm'", name="alarm")
        for error, hint in (
            (lacking, "asyncio.timeout"),
            (AttributeError("no tzset", name="tzset"), "zoneinfo"),
            (OSError(errno.ENOSYS, "Function not implemented"), "No process can be started"),
        ):
            self.assertEqual(told(error), "")
            with self.subTest(hint), patch("sys.platform", "emscripten"):
                self.assertIn(hint, told(error))
        with patch("sys.platform", "emscripten"):
            self.assertEqual(told(OSError(errno.ENOSYS, "no", "file.txt")), "")


if __name__ == "__main__":
    unittest.main()
