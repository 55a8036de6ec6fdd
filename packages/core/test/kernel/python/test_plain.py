"""What values of libraries become in the arguments of calls. The classes here answer as those of numpy and pandas do."""

import datetime
import unittest
from types import SimpleNamespace

from sandbridge_kernel.api import bridge

DAY = datetime.datetime(2026, 1, 1)


class Times:
    """An array of times, of which numpy lists those in nanoseconds as integers."""

    def __init__(self, kind, unit="ns", tz=None):
        self.dtype = SimpleNamespace(kind=kind, unit=unit, **({} if tz is None else {"tz": tz}))

    def astype(self, name):
        return Times(self.dtype.kind, name.partition("[")[2].rstrip("]"))

    def tolist(self):
        if self.dtype.unit == "ns":
            return [1767225600000000000]
        return [DAY] if self.dtype.kind == "M" else [datetime.timedelta(days=1)]


class LongDouble:
    def tolist(self):
        return self


class Missing(datetime.datetime):
    def __eq__(self, other):
        return False

    def isoformat(self):
        return "NaT"


class Plain(unittest.TestCase):
    def test_times_of_arrays_are_listed_as_times(self):
        self.assertEqual(bridge.plain(Times("M")), [DAY])
        self.assertEqual(bridge.plain(Times("m")), [datetime.timedelta(days=1)])

    def test_an_array_with_a_zone_lists_them_itself(self):
        self.assertEqual(bridge.plain(Times("M", "us", tz="UTC")), [DAY])

    def test_a_missing_time_is_none(self):
        self.assertIsNone(bridge.plain(Missing(2026, 1, 1)))
        self.assertEqual(bridge.plain(DAY), "2026-01-01T00:00:00")

    def test_a_number_that_lists_itself_has_no_form(self):
        with self.assertRaisesRegex(TypeError, "LongDouble has no form in JSON"):
            bridge.plain(LongDouble())
