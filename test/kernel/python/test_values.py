"""What results become: the cases that are easier to say in Python than through a kernel."""

import base64
import json
import unittest

from sandbridge_kernel.values import Media, Record, native


def text(words):
    return {"content": [{"type": "text", "text": words}]}


class Native(unittest.TestCase):
    def test_text_that_only_looks_like_json_stays_text(self):
        for words in ("{", "[1", "{'a': 1}", "[x](y)", "{}x", "[" * 100_000, '{"a": ' + "9" * 10 + "}x", "", " ", "null", '"s"'):
            self.assertEqual(native(text(words)), words)

    def test_a_broken_result_is_given_as_it_is(self):
        for block in (5, None, [], {}, {"type": "text"}, {"type": "image"}, {"type": "resource", "resource": 5}):
            self.assertEqual(native({"content": [block]}), block)
        for result in (None, 5, "x", [1]):
            self.assertEqual(native(result), result)
        self.assertIsNone(native({"content": None}))
        self.assertIsNone(native({}))

    def test_only_a_box_is_opened_and_only_once(self):
        self.assertEqual(native({"structuredContent": {"result": {"result": 1}}}), {"result": 1})
        self.assertEqual(native(text('{"content": {"a": 1}}')), {"a": 1})
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
