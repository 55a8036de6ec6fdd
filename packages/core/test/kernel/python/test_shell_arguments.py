"""Arguments of the mcp command, read by schemas that a hostile server wrote."""

import unittest
from unittest.mock import patch

from sandbridge_kernel.shell import arguments, command

PLAIN = {"type": "object", "properties": {"count": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/text"}]}}}
PLAIN["$defs"] = {"text": {"oneOf": [{"type": "string"}, {"type": "null"}]}}
LOOP = {"anyOf": [{"$ref": "#/$defs/loop"}] * 50}
DEEP = {"anyOf": [{"anyOf": [{"anyOf": [{"type": "integer"}] * 50}] * 50}] * 50}


class ShellArguments(unittest.TestCase):
    def test_types_are_found_in_options_of_options(self):
        self.assertEqual(arguments.parse(["--count", "3"], PLAIN, ["count"]), ([], {"count": "3"}))
        number = {"properties": {"count": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
        self.assertEqual(arguments.parse(["--count", "3"], number, ["count"]), ([], {"count": 3}))

    def test_null_is_the_value_of_a_list_that_may_be_null(self):
        texts = {"type": "array", "items": {"type": "string"}}
        for schema in ({"anyOf": [texts, {"type": "null"}]}, {**texts, "type": ["array", "null"]}):
            for words, value in ((["null"], None), (["a"], ["a"]), (["null", "a"], ["null", "a"]), (['["null"]'], ["null"])):
                given = [word for one in words for word in ("--x", one)]
                self.assertEqual(arguments.parse(given, {"properties": {"x": schema}}, ["x"]), ([], {"x": value}))

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

    def test_a_flag_takes_the_word_behind_it_that_reads_as_its_value(self):
        schema = {"properties": {"title": {"type": "string"}, "draft": {"type": "boolean"}, "notify": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}}

        def parsed(*words):
            return arguments.parse(list(words), schema, ["title", "draft", "notify"])

        for word in ("False", "no", "0", "off", "FALSE", "n"):
            self.assertEqual(parsed("--draft", word), ([], {"draft": False}))
            self.assertEqual(parsed(f"--draft={word}"), ([], {"draft": False}))
        self.assertEqual(parsed("--draft", "Yes"), ([], {"draft": True}))
        self.assertEqual(parsed("--notify", "None", "--draft"), ([], {"notify": None, "draft": True}))
        self.assertEqual(parsed("a title", "--draft"), (["a title"], {"draft": True}))
        for words in (("--draft", "maybe"), ("--draft", "None"), ("--title", "a", "b")):
            with self.subTest(words), self.assertRaisesRegex(arguments.UsageError, "has no option"):
                parsed(*words)

    def test_an_option_is_not_taken_for_a_value(self):
        schema = {"properties": {"title": {"type": "string"}, "draft": {"type": "boolean"}, "ratio": {"type": "number"}}}
        names = ["title", "draft"]
        for words in (["--title", "--draft"], ["--title", "--draft=no"]):
            with self.subTest(words), self.assertRaisesRegex(arguments.UsageError, "--title needs a value.*--title=--draft"):
                arguments.parse(words, schema, names)
        with self.assertRaisesRegex(arguments.UsageError, "'-t' is not an option"):
            arguments.parse(["-t", "a"], schema, names)
        self.assertEqual(arguments.parse(["--title=--draft", "--ratio", "-.5"], schema, names), ([], {"title": "--draft", "ratio": -0.5}))
        self.assertEqual(arguments.parse(["--", "--draft"], schema, names), (["--draft"], {}))

    def test_types_are_found_wherever_a_schema_says_them(self):
        schema = {
            "properties": {
                "all": {"allOf": [{"$ref": "#/$defs/a~1b"}]},
                "percent": {"$ref": "#/$defs/%3CA%3E"},
                "index": {"$ref": "#/$defs/union/anyOf/0"},
                "level": {"oneOf": [{"const": 1}, {"const": 2}]},
                "mixed": {"enum": [1, "1.5", None, True, "a"]},
                "pages": {"allOf": [{"type": "array", "items": {"type": "integer"}}]},
                "dryRun": {"type": "boolean"},
            },
            "$defs": {"a/b": {"type": "integer"}, "<A>": {"type": "boolean"}, "union": {"anyOf": [{"type": "number"}]}},
        }
        words = "--all 3 --percent no --index 1.5 --level 2 --pages 1 --pages 2 --dry-run --mixed"
        for word, value in (("1", 1), ("1.5", "1.5"), ("null", None), ("true", True), ("a", "a"), ("b", "b")):
            self.assertEqual(
                arguments.parse([*words.split(), word], schema, []),
                ([], {"all": 3, "percent": False, "index": 1.5, "level": 2, "pages": [1, 2], "dryRun": True, "mixed": value}),
            )

    def test_a_number_that_json_cannot_carry_is_refused(self):
        schema = {"properties": {"x": {"type": "number"}, "s": {"type": "string"}}}
        for words in (["--x", "NaN"], ["--x", "1e999"], ["--json", '{"x": Infinity}']):
            with self.subTest(words), self.assertRaisesRegex(arguments.UsageError, "no form in JSON"):
                arguments.parse(words, schema, [])
        self.assertEqual(arguments.parse(["--s", "NaN"], schema, []), ([], {"s": "NaN"}))

    def test_half_a_character_in_a_printed_record_stays_what_it_is(self):
        self.assertEqual(command._json({"x": "ü\ud83d"}), '{"x": "ü\\ud83d"}\n')
