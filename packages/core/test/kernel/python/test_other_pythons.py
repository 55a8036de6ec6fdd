"""Advice for code of another Python. Codes of errors are those of this machine."""

import errno
import unittest
from unittest.mock import patch

from sandbridge_kernel.failure.other_pythons import of_other_pythons


def told(error):
    return (of_other_pythons(error) or {"hint": ""})["hint"]


def of_code(code):
    try:
        exec(compile(code, "Cell 1", "exec"), {})
    except Exception as error:
        return told(error)
    return ""


class OtherPythons(unittest.TestCase):
    def test_code_of_python_2_is_told_what_python_3_has(self):
        for code, hint in (
            ("xrange(3)", "write range"),
            ("{}.has_key(1)", "`key in d`"),
            ("{}.iteritems()", "write items"),
            ("raise ValueError, 'x'", "`raise Error"),
            ("try: pass\nexcept ValueError, e: pass", "`except Error as e:`"),
            ("1 <> 2", "`!=`"),
            ("10L", "without L"),
        ):
            with self.subTest(code):
                self.assertRegex(of_code(code), f"^This is Python 3: .*{hint}")
        for code, hint in (("s = ‘it’s’", "quotes as"), ("3 — 1", "a minus as -"), ("x = […]", "out what …")):
            self.assertIn(f"Write {hint}", of_code(code))
        self.assertEqual(of_code("x = = 1") + of_code("unknown"), "")

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
