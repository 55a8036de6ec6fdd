"""What results become: the cases that are easier to say in Python than through a kernel."""

import base64
import json
import unittest

from sandbridge_kernel.data import unparsed
from sandbridge_kernel.api import artifacts
from sandbridge_kernel.data.values import Media, Record, loads, media_in, native


def text(words):
    return {"content": [{"type": "text", "text": words}]}


class Native(unittest.TestCase):
    def test_an_image_without_a_type_is_known_by_its_bytes(self):
        for data, kind in (
            (b"\x89PNG\r\n\x1a\n...", "image/png"),
            (b"\xff\xd8\xff\xe0...", "image/jpeg"),
            (b'<?xml version="1.0"?>\n<svg xmlns="x"/>', "image/svg+xml"),
            (b"something", "application/octet-stream"),
        ):
            block = {"type": "image", "data": base64.b64encode(data * 9).decode()}
            for said in ({}, {"mimeType": ""}, {"mimeType": "application/octet-stream"}, {"mimeType": None}):
                self.assertEqual(native({"content": [{**block, **said}]}).mime_type, kind)
            named = native({"content": [{**block, "mimeType": "png"}]})
            self.assertEqual(named.mime_type, "png" if kind.startswith("application") else kind)
            self.assertRegex(list(named._repr_mimebundle_())[1], "^image/")
            self.assertEqual(native({"content": [{**block, "mimeType": "image/x"}]}).mime_type, "image/x")

    def test_a_data_url_in_place_of_base64_is_read(self):
        for head, kind in (("data:image/gif;base64,", "image/gif"), ("data:;base64,", "image/png")):
            url = head + base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
            for block in ({"type": "image", "data": url}, {"type": "resource", "resource": {"uri": "x:y", "blob": url}}):
                image = native({"content": [block]})
                self.assertEqual((image.mime_type, image.data), (kind, b"\x89PNG\r\n\x1a\n"))

    def test_a_record_stays_one_when_it_is_copied_or_joined(self):
        record = Record(a=1)
        for made in (record.copy(), record | {"b": 2}, {"b": 2} | record):
            self.assertEqual((type(made), made.a), (Record, 1))
        told = native({"structuredContent": {"a": 1}, "texts": ["more"]})
        self.assertEqual((told.copy().texts, told.a, told), (["more"], 1, {"a": 1}))
        self.assertEqual(native({"structuredContent": {"texts": 1}, "texts": ["more"]}).texts, 1)

    def test_a_promised_text_stays_a_text(self):
        for words in ('{"a": 1}', "[1]", "", "plain"):
            for result in ({"structuredContent": {"content": words}}, text(words)):
                self.assertEqual(native({**result, "isText": True}), words)
        self.assertEqual(native({**text("\ufeff{'a': 1}"), "isText": True}).json(), {"a": 1})

    def test_text_that_only_looks_like_json_stays_text(self):
        for words in ("{", "[1", "{'a', 1}", "(1)", "(none)", "[x(1)]", "{'a': 1}.", "['a' + 'b']", "[x](y)", "{}x", "[" * 100_000, '{"a": ' + "9" * 10 + "}x", "", " ", "null", '"s"'):
            self.assertEqual(native(text(words)), words)

    def test_a_python_list_tuple_or_dict_is_parsed(self):
        rows = native(text("[{'a': 1, 'b': None, 'c': (True, \"it's\")}]\n"))
        self.assertEqual(rows, [{"a": 1, "b": None, "c": (True, "it's")}])
        self.assertEqual(rows[0].a, 1)
        self.assertEqual(native(text("('x', 2.5)")), ("x", 2.5))
        self.assertEqual(native({"structuredContent": {"result": "{'a': {'b': '\\d'}}"}}).a.b, "\\d")

    def test_python_that_python_does_not_print_so_stays_text(self):
        for words in ("{'a': 'b' 'c', 'd': None}", r"{'a': '\x62', 'd': None}", r"{'a': b'\142', 'd': None}", r"{'a': '\N{BULLET}', 'd': None}", "{'a': 'b\\\nc', 'd': None}"):
            self.assertEqual(native(text(words)), words)
        printed = {"a": "caf\u00e9 \U0001f600 it's \"\xad\\\n", "b": b"\xff", "c": [1.5, None]}
        for words in (repr(printed), ascii(printed), repr(printed).replace(", ", ",\n  ")):
            self.assertEqual(native(text(words)), printed)

    def test_python_that_is_large_or_deep_stays_text(self):
        for words in ("['" + "x" * (1 << 18) + "', None]", "[None, " + "-" * 100_000 + "1]", "[None" + "+1" * 60_000 + "]"):
            self.assertEqual(native(text(words)), words)

    def test_a_note_says_once_that_text_which_looks_like_data_is_not_parsed(self):
        def notes(words, tool="mcp_db.query"):
            native(text(words), tool)
            return unparsed.notes()

        self.addCleanup(unparsed._told.clear)
        behind = '{"a": 1}\n\n2 rows'
        self.assertEqual(
            notes(behind),
            [
                "The text of mcp_db.query looks like data but stays a str: more text follows the JSON, from character 10."
                " json.JSONDecoder().raw_decode(text) parses it."
            ],
        )
        self.assertEqual(notes(behind), [])
        self.assertEqual(len(notes(behind, "mcp_other.query")), 1)
        self.assertEqual(len(notes("[" + "[]," * 400_000 + "1]")), 1)
        self.assertEqual(len(notes("['" + "x" * (1 << 18) + "', None]")), 1)
        for words in ("[1] See below", "{}x", "done", "[x](y)", "{'a': 1}", '{"a": 1}'):
            self.assertEqual(notes(words), [])
        self.assertEqual(notes(behind, ""), [])

    def test_a_note_about_json_on_each_line_says_how_to_parse_it_and_its_rows_are_records(self):
        self.addCleanup(unparsed._told.clear)
        lines = '{"id": 1, "in": {"a": [1]}}\r\n{"id": 2}\n'
        found = native(text(lines), "mcp_db.export")
        self.assertEqual(found, lines)
        self.assertEqual(
            unparsed.notes(),
            [
                "The text of mcp_db.export looks like data but stays a str: it has JSON on each line."
                " [json.loads(line) for line in text.splitlines() if line] parses it."
            ],
        )
        self.assertEqual(found.rows, [{"id": 1, "in": {"a": [1]}}, {"id": 2}])
        self.assertEqual(found.rows[0]["in"].a, [1])
        # Control: text behind JSON is something else.
        native(text('{"a": 1}\nnot JSON'), "mcp_db.other")
        self.assertIn("more text follows", unparsed.notes()[0])

    def test_json_of_more_structure_than_a_frame_may_have_stays_text(self):
        dense = "[" + "[]," * 400_000 + "1]"
        plain = json.dumps([{"text": "x" * 100}] * 20_000)
        self.assertEqual(native(text(dense)), dense)
        self.assertEqual(len(native(text(plain))), 20_000)
        half = "[" + "[]," * 200_000 + "1]"
        self.assertIsInstance(native(text(half)), list)
        together = native({"content": [{"type": "text", "text": half}] * 2})
        self.assertEqual(together, [half, half])

    def test_a_broken_result_is_given_as_it_is(self):
        for block in (5, None, [], {}, {"type": "text"}, {"type": "image"}, {"type": "resource", "resource": 5}):
            self.assertEqual(native({"content": [block]}), block)
        for result in (None, 5, "x", [1]):
            self.assertEqual(native(result), result)
        self.assertIsNone(native({"content": None}))
        self.assertIsNone(native({}))

    def test_what_is_parsed_already_is_no_text_for_json(self):
        for value in (native(text("(1, 2)")), native(text("[1]")), native(text('{"a": 1}'))):
            self.assertIs(loads(value), value)
        self.assertEqual(loads("[1]"), [1])

    def test_a_lone_surrogate_is_saved_in_data_as_in_text(self):
        self.assertEqual(artifacts._content("\ud83d"), b"\xed\xa0\xbd")
        self.assertEqual(json.loads(artifacts._content({"name": "\ud83d"})), {"name": "\ud83d"})

    def test_only_a_box_is_opened_and_only_once(self):
        self.assertEqual(native({"structuredContent": {"result": {"result": 1}}}), {"result": 1})
        self.assertEqual(native({"structuredContent": {"content": {"a": 1}}}), {"a": 1})
        self.assertEqual(native({"structuredContent": {"content": {"a": 1}}, "isWhole": True}), {"content": {"a": 1}})
        # A text may be a whole file.
        self.assertEqual(native(text('{"content": {"a": 1}}')), {"content": {"a": 1}})
        self.assertEqual(native({"structuredContent": {"results": []}}), {"results": []})
        self.assertEqual(native({"structuredContent": {}, "content": [{"type": "text", "text": "x"}]}), {})
        self.assertEqual(native({"structuredContent": {"result": None}}), None)

    def test_media(self):
        for size in range(0, 10):
            data = bytes(range(size))
            media = native({"content": [{"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/gif"}]})
            self.assertIsInstance(media, Media)
            self.assertEqual(media.data, data)
            self.assertEqual(repr(media), f"<image/gif, {size} bytes>")
        self.assertRaises(ValueError, lambda: Media("a", "image/png").data)


    def test_resources_that_are_images_or_sounds_are_media_and_other_bytes_are_bytes(self):
        def resource(**fields):
            return native({"content": [{"type": "resource", "resource": {"uri": "x:y", **fields}}]})

        for mime in ("image/png", "audio/wav"):
            media = resource(blob="AAEC", mimeType=mime)
            self.assertEqual((media.data, media.mime_type), (b"\0\1\2", mime))
        self.assertEqual(resource(blob="AAEC", mimeType="application/pdf"), b"\0\1\2")
        self.assertEqual(resource(blob="AAEC"), b"\0\1\2")
        self.assertEqual(resource(text="<svg/>", mimeType="image/svg+xml"), "<svg/>")
        for no_base64 in ("AAECx", "***", "AA.A", "ä" * 4):
            self.assertEqual(resource(blob=no_base64)["resource"]["blob"], no_base64)
            with self.assertRaises(ValueError):
                print(resource(blob=no_base64, mimeType="image/png").data)
        data = bytes([251, 255, 254, 1, 2])
        for variant in ("+//+AQI=", "-__-AQI=", "-__-AQI", "+//+\r\nAQI=\n"):
            self.assertEqual(resource(blob=variant), data)
        self.assertEqual(resource(blob=""), b"")


class MediaBesideStructuredContent(unittest.TestCase):
    image = {"type": "image", "data": "AAEC", "mimeType": "image/png"}

    def native(self, structured, *blocks):
        return native({"structuredContent": structured, "content": list(blocks)})

    def test_is_in_media_of_the_value_whose_type_stays(self):
        sound = {"type": "resource", "resource": {"uri": "x:y", "blob": "AAAA", "mimeType": "audio/wav"}}
        shown = [("image/png", "AAEC"), ("audio/wav", "AAAA")]
        for structured, value in (
            ({"title": "t"}, {"title": "t"}),
            ({"result": [1, 2]}, [1, 2]),
            ({"result": "taken"}, "taken"),
            ({"result": []}, []),
        ):
            found = self.native(structured, {"type": "text", "text": '{"title": "t"}'}, self.image, sound)
            self.assertEqual(found, value)
            self.assertEqual([one.mime_type for one in found.media], ["image/png", "audio/wav"])
            self.assertEqual(media_in(found, 9), shown)
            self.assertEqual(media_in([{"at": found}], 9), shown)
        self.assertEqual(self.native({"result": 5}, self.image), 5)
        self.assertEqual(self.native({"media": 7}, self.image).media, 7)

    def test_nothing_else_is_media(self):
        link = {"type": "resource_link", "uri": "x:y", "name": "n", "mimeType": "image/png"}
        text = {"type": "text", "text": "said beside it"}
        self.assertEqual(self.native({"title": "t"}, text, link, None), {"title": "t"})
        self.assertEqual(self.native({"result": 5}), 5)

    def test_content_that_the_structure_repeats_is_there_once(self):
        repeated = {**self.image, "annotations": None, "_meta": None}
        value = self.native({"result": [{"type": "text", "text": "t"}, repeated]}, self.image)
        self.assertEqual(value, ["t", native({"content": [self.image]})])
        self.assertIsInstance(self.native(repeated, self.image), Media)


class MediaIn(unittest.TestCase):
    def test_finds_them_in_lists_and_dicts_only_and_not_for_ever(self):
        one, two = Media("AAAA", "image/png"), Media("BBBB", "audio/wav")
        both = [("image/png", "AAAA"), ("audio/wav", "BBBB")]
        self.assertEqual(media_in(["text", one, {"sound": (two, 5)}], 9), both)
        self.assertEqual(media_in(Record(shot=[[one]], sound=two), 9), both)
        self.assertEqual(media_in([one] * 50, 3), both[:1] * 3)
        for value in (one, None, "text", {one}, [[[[[one]]]]], [0] * 1_000_000 + [one], iter([one])):
            self.assertEqual(media_in(value, 9), [])
        cycle = [one]
        cycle.append(cycle)
        self.assertEqual(set(media_in(cycle, 9)), set(both[:1]))


class Records(unittest.TestCase):
    def test_behaves_as_a_dict(self):
        record = json.loads('{"a": {"b": 1}, "get": 2}', object_hook=Record)
        self.assertEqual(record.a.b, 1)
        self.assertEqual(record["get"], 2)
        self.assertEqual(record.get("get"), 2)
        self.assertEqual({**record}, record)
        self.assertEqual(repr(record), "{'a': {'b': 1}, 'get': 2}")
        record.c = 3
        del record.a
        self.assertEqual(record, {"get": 2, "c": 3})
        self.assertRaises(AttributeError, lambda: record.missing)
        self.assertRaises(AttributeError, delattr, record, "missing")


if __name__ == "__main__":
    unittest.main()
