"""What values of libraries become in the arguments of calls. The classes here answer as those of numpy and pandas do."""

import dataclasses
import datetime
import enum
import io
import json
import unittest
import uuid
from collections import UserDict
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace

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


class Scalar:
    def __init__(self, number):
        self.number = number

    def tolist(self):
        return self.number


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

    def test_what_converts_as_a_value_converts_as_a_key(self):
        keys = {uuid.UUID(int=1): 1, DAY: {datetime.date(2026, 1, 2): [2]}, 3: Scalar(4)}
        self.assertEqual(
            json.loads(json.dumps(bridge._with_plain_keys(keys), default=bridge.plain)),
            {str(uuid.UUID(int=1)): 1, "2026-01-01T00:00:00": {"2026-01-02": [2]}, "3": 4},
        )
        self.assertEqual(bridge._with_plain_keys({Scalar(1): 2}), {1: 2})
        for key in ((1, 2), frozenset([1])):
            with self.assertRaisesRegex(TypeError, "str\\(key\\)"):
                bridge._with_plain_keys([{key: 1}])
        with self.assertRaisesRegex(ValueError, "two keys are both '2026-01-01T00:00:00'"):
            bridge._with_plain_keys({DAY: 1, "2026-01-01T00:00:00": 2})

    def test_a_refused_value_names_the_way(self):
        @dataclasses.dataclass
        class Data:
            a: int

        class Colour(enum.Enum):
            RED = 1

        refused = [
            (Data(1), "dataclasses.asdict"),
            (type("Model", (), {"model_dump": dict})(), "model_dump"),
            (type("DataFrame", (), {"to_dict": dict})(), 'to_dict."records".'),
            (b"x", "b64encode"),
            (Colour.RED, "x.value"),
            (Decimal("1.5"), "float.x. or str.x."),
            (datetime.timedelta(1), "x.total_seconds"),
            (SimpleNamespace(a=1), "vars.x."),
            (print, "str.x."),
            (iter([1]), "list.x."),
            (UserDict(a=1), "dict.x."),
            (MappingProxyType({}), "dict.x."),
            (io.StringIO("x"), "x.read"),
            (memoryview(b"x"), "b64encode"),
            (type("NAType", (), {})(), "Pass None"),
        ]
        for value, way in refused:
            with self.assertRaisesRegex(TypeError, way):
                bridge.plain(value)

    def test_a_number_that_lists_itself_has_no_form(self):
        with self.assertRaisesRegex(TypeError, "LongDouble has no form in JSON"):
            bridge.plain(LongDouble())
