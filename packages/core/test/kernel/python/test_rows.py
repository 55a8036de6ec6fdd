"""Rows of texts that tools return: the formats, what is none of them, and how such texts behave."""

import json
import pickle
import sys
import time
import unittest
from pathlib import Path

from sandbridge_kernel.failure.concealment import is_secret, kind_of, known_secrets
from sandbridge_kernel.data.rows import rows_in
from sandbridge_kernel.data.values import Record, Text, native


def text(words):
    return native({"content": [{"type": "text", "text": words}]})


class Rows(unittest.TestCase):
    def test_the_cases_that_the_bridge_learns_types_by(self):
        for case in json.loads((Path(__file__).parents[2] / "fixtures" / "rows.json").read_text()):
            rows = rows_in(case["text"])
            columns = rows and list(dict.fromkeys(name for row in rows for name in row))
            # The order of optional columns is that of their first row.
            self.assertEqual(sorted(columns or []), sorted(case["columns"] or []), case)

    def test_tagged_lines(self):
        self.assertEqual(
            rows_in("[FILE] a  b.txt\n[DIR] src\n"),
            [{"type": "FILE", "name": "a  b.txt"}, {"type": "DIR", "name": "src"}],
        )
        sized = "[DIR] src                            \n[FILE] a.txt                               12 B\n[FILE] b c.md                           1.50 KB\n\nTotal: 2 files, 1 directories\nCombined size: 1.51 KB"
        self.assertEqual(
            rows_in(sized),
            [
                {"type": "DIR", "name": "src"},
                {"type": "FILE", "name": "a.txt", "size": "12 B"},
                {"type": "FILE", "name": "b c.md", "size": "1.50 KB"},
            ],
        )
        self.assertEqual(rows_in("[FILE] a  1 B\n[FILE] b")[0], {"type": "FILE", "name": "a  1 B"})

    def test_blocks_of_keys_and_values(self):
        self.assertEqual(rows_in("size: 5\ncreated: Thu Nov 26 10:00:00\nisFile: true"), [{"size": "5", "created": "Thu Nov 26 10:00:00", "isFile": "true"}])
        self.assertEqual(
            rows_in("- Title: One\n- URL: http://a/\n\n---\nTitle: Two\nURL: http://b/\nNote:"),
            [{"Title": "One", "URL": "http://a/"}, {"Title": "Two", "URL": "http://b/", "Note": ""}],
        )

    def test_markdown_tables(self):
        said = "Found two:\n\n| name | price |\n|:-----|------:|\n| a \\| b | 1 |\n| c |\nThat is all."
        self.assertEqual(rows_in(said), [{"name": "a | b", "price": "1"}, {"name": "c", "price": ""}])
        self.assertEqual(rows_in("a|b\n-|-"), None)
        self.assertEqual(rows_in("a|b\n---|---\n1|2"), [{"a": "1", "b": "2"}])

    def test_csv(self):
        self.assertEqual(rows_in('id,name\n1,"a, b"\n2,"c\nd"\n'), [{"id": "1", "name": "a, b"}, {"id": "2", "name": "c\nd"}])
        self.assertEqual(rows_in("id\tname\n1\tx"), [{"id": "1", "name": "x"}])
        self.assertEqual(rows_in("id,name"), None)

    def test_other_texts_have_none(self):
        for words in ("done", "Hello, world\nGood, bye", "[1] See below\n[2] Above", "Note: this.", "a: 1\na: 2", "Title: x\nand prose", "id,name\n1", "id,id\n1,2", "x | y", "Dear all,\n\nthe sum: 5"):
            self.assertIsNone(rows_in(words), words)
        for words in ("", "\n", "  "):
            self.assertEqual(rows_in(words), [])

    def test_no_text_takes_long(self):
        for words in ("|" * 200_000 + "\n" + "|-" * 100_000, "[A] " + "x " * 200_000, "a,b\n" * 100_000 + '"', "a: b\n" * 100_000, "a" * 400_000 + ":", "| a |\n| --- |\n" + "| \\" * 100_000, "-" * 300_000 + "|\n" + "-" * 300_000 + "x", "a|b\n---" + " " * 300_000 + "x", "a|b\n---" + ("|" + " " * 1_000 + "-" + " " * 1_000) * 400 + "x"):
            begun = time.process_time()
            rows_in(words)
            self.assertLess(time.process_time() - begun, 5, words[:20])

    def test_no_table_has_more_cells_than_a_text_has_characters(self):
        wide = "|".join(f"c{at}" for at in range(1_000)) + "\n" + "|".join(["---"] * 1_000) + "\n"
        self.assertEqual(len(rows_in(wide + "|\n" * 1_000)), 1_000)
        self.assertIsNone(rows_in(wide + "|\n" * 500_000))


class Texts(unittest.TestCase):
    def test_a_text_is_what_it_was_and_has_rows_beside(self):
        listed = text("[FILE] a.txt\n[DIR] b")
        self.assertEqual((listed, repr(listed), json.dumps(listed)), ("[FILE] a.txt\n[DIR] b", "'[FILE] a.txt\\n[DIR] b'", '"[FILE] a.txt\\n[DIR] b"'))
        self.assertIsInstance(listed.rows[0], Record)
        self.assertEqual([one.name for one in listed.rows], ["a.txt", "b"])
        self.assertEqual(pickle.loads(pickle.dumps(listed)).rows, listed.rows)
        self.assertEqual(text("").rows, [])

    def test_a_text_without_a_format_says_so(self):
        self.assertFalse(hasattr(text("done"), "rows"))
        with self.assertRaisesRegex(AttributeError, "no rows"):
            text("done").rows

    def test_texts_in_content_are_treated_as_those_in_result(self):
        for box in ("content", "result"):
            self.assertEqual(native({"structuredContent": {box: '{"a": [1]}'}}).a, [1])
            self.assertEqual(native({"structuredContent": {box: "[DIR] b"}}).rows, [{"type": "DIR", "name": "b"}])
            self.assertEqual(native({"structuredContent": {box: "{not json"}}), "{not json")

    def test_a_secret_in_a_tools_text_is_one(self):
        secret = text("hunter2-9f8a7b6c5d4e3f2a1b0c")
        self.assertIs(type(secret), Text)
        self.assertIs(kind_of(secret), str)
        self.assertTrue(is_secret("key", secret))
        self.assertFalse(is_secret("password", text("")))
        password = text("hunter2 of the vault")  # noqa: F841
        self.assertIn("hunter2 of the vault", known_secrets([sys._getframe()]))


if __name__ == "__main__":
    unittest.main()
