"""Arguments of the mcp command, read by schemas that a hostile server wrote."""

import unittest
from unittest.mock import patch

from sandbridge_kernel.shell import arguments

PLAIN = {"type": "object", "properties": {"count": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/text"}]}}}
PLAIN["$defs"] = {"text": {"oneOf": [{"type": "string"}, {"type": "null"}]}}
LOOP = {"anyOf": [{"$ref": "#/$defs/loop"}] * 50}
DEEP = {"anyOf": [{"anyOf": [{"anyOf": [{"type": "integer"}] * 50}] * 50}] * 50}


class ShellArguments(unittest.TestCase):
    def test_types_are_found_in_options_of_options(self):
        self.assertEqual(arguments.parse(["--count", "3"], PLAIN, ["count"]), ([], {"count": "3"}))
        number = {"properties": {"count": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
        self.assertEqual(arguments.parse(["--count", "3"], number, ["count"]), ([], {"count": 3}))

    def test_a_schema_whose_options_refer_to_each_other_is_read_once(self):
        resolved = arguments._Reader._resolved
        for one in (LOOP, DEEP):
            schema = {"properties": {"x": one}, "$defs": {"loop": one}}
            calls = []

            def count(self, part):
                calls.append(part)
                if len(calls) > 100_000:
                    raise AssertionError("the schema is read again and again")
                return resolved(self, part)

            with patch.object(arguments._Reader, "_resolved", count):
                arguments.parse(["--x", "1", "--x", "2"], schema, ["x"])
