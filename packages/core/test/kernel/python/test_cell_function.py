"""Cells that become one function: which text it has, what it is called with, and what is refused."""

import unittest

from sandbridge_kernel.source.cell_function import from_cells
from sandbridge_kernel.source.function_source import Refused


def source(*cells, parameters=()):
    return from_cells(cells, "made", parameters)["source"]


class FromCells(unittest.TestCase):
    def test_a_function_that_is_called_with_plain_values_stays_what_it_is(self):
        made = from_cells(["import json\nasync def f(a, b=1):\n    return a", "x = await f(2, b=[3])"], "made")
        self.assertEqual(made["function"], "f")
        self.assertEqual(made["arguments"], {"a": 2, "b": [3]})
        self.assertNotIn("await", made["source"])

    def test_a_function_that_is_not_called_has_no_arguments(self):
        self.assertIsNone(from_cells(["def f(a): return a"], "made")["arguments"])

    def test_a_call_with_what_json_does_not_have_is_part_of_the_body(self):
        self.assertEqual(source("def f(x): return x\nf({1})"), "async def made():\n    def f(x): return x\n    return f({1})")

    def test_several_cells_are_one_body_and_the_last_expression_is_returned(self):
        self.assertEqual(source("a = 1; b = 2", "(a +\n b)"), "async def made():\n    a = 1; b = 2\n\n    return (a +\n     b)")

    def test_lines_inside_a_text_stay_where_they_are(self):
        self.assertEqual(source('t = """é\n b"""; len(t)'), 'async def made():\n    t = """é\n b"""; return len(t)')

    def test_cells_in_another_dress_are_what_ran(self):
        for cell in (
            "```python\na = 1\na\n```",
            ">>> a = 1\n>>> a\n1",
            "    a = 1\n    a",
            "a = 1\\na",
            "%matplotlib inline\na = 1\na",
        ):
            body = "\n".join(line for line in source(cell).split("\n") if line.strip() not in ("", "pass"))
            self.assertEqual(body, "async def made():\n    a = 1\n    return a", cell)

    def test_a_magic_of_a_cell_brings_what_it_needs(self):
        made = source("%%time\na = 1")
        self.assertIn("import notebook as", made)
        compile(made, "", "exec")

    def test_a_text_that_looks_like_another_dress_stays(self):
        self.assertIn("'%time'", source("a = '%time'\na"))

    def test_the_first_value_of_a_name_is_the_parameter(self):
        made = source("a = 1; week = 47; b = 2\nweek = 48", "week", parameters=["week"])
        self.assertEqual(made, "async def made(week: int = 47):\n    a = 1; b = 2\n    week = 48\n\n    return week")

    def test_what_cannot_be_inside_of_a_function_is_refused(self):
        for cell in ("global x", "from os import *", "", "# nothing"):
            with self.assertRaises(Refused):
                source(cell)
        with self.assertRaisesRegex(Refused, "week cannot be a parameter.*Such values: a"):
            source("a = 1", parameters=["week"])

    def test_an_import_from_the_future_stays_at_the_top(self):
        made = source("from __future__ import annotations\nx: A = 1\nx")
        self.assertTrue(made.startswith("from __future__ import annotations\nasync def made"))
        compile(made, "made", "exec", dont_inherit=True)
