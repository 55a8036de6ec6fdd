"""Width and height from headers as encoders write them, and from headers that are cut off or lie."""

import unittest
from struct import pack

from sandbridge_kernel.show.picture_size import picture_size

PNG = b"\x89PNG\r\n\x1a\n" + pack(">I", 13) + b"IHDR" + pack(">II", 20_000, 30_000) + b"\x01\0\0\0\0"
GIF = b"GIF89a" + pack("<HH", 640, 480) + b"\x80\0\0"
VP8 = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0" + b"\x30\x01\0\x9d\x01\x2a" + pack("<HH", 1600 | 1 << 14, 1200)
VP8L = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + pack("<I", 1599 | 1199 << 14 | 1 << 28)
VP8X = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\x10\0\0\0" + (9999).to_bytes(3, "little") + (4).to_bytes(3, "little")


def segment(marker, body):
    return bytes((0xFF, marker)) + pack(">H", len(body) + 2) + body


def jpeg(*segments):
    return b"\xff\xd8" + b"".join(segments)


FRAME = segment(0xC2, b"\x08" + pack(">HH", 480, 640) + b"\x03" + b"\x01\x22\0" * 3)
# What looks like a frame inside a thumbnail, a table whose marker is one of the frames', and padding.
THUMBNAIL = segment(0xE1, b"Exif\0\0" + jpeg(segment(0xC0, b"\x08" + pack(">HH", 9, 9) + b"\x01")))
JPEG = jpeg(segment(0xE0, b"JFIF\0" + bytes(9)), THUMBNAIL, segment(0xC4, bytes(20)), b"\xff\xff", FRAME, segment(0xDA, b""))


class ImageSize(unittest.TestCase):
    def test_every_format(self):
        for data, size in ((PNG, (20_000, 30_000)), (GIF, (640, 480)), (VP8, (1600, 1200)), (VP8L, (1600, 1200)), (VP8X, (10_000, 5)), (JPEG, (640, 480))):
            self.assertEqual(picture_size(data), size)
            self.assertEqual(picture_size(data + b"rest"), size)

    def test_nothing_is_made_up_of_what_is_cut_off(self):
        for data in (PNG, GIF, VP8, VP8L, VP8X, JPEG):
            whole = picture_size(data)
            for end in range(len(data)):
                self.assertIn(picture_size(data[:end]), (None, whole))
            self.assertIsNone(picture_size(data[:8]))

    def test_what_is_no_image(self):
        for data in (b"", b"\xff", b"\xff\xd8\xff", b"BM" + bytes(60), b"RIFF\0\0\0\0WAVEfmt ", b"\x89PNG\r\n\x1a\n" + bytes(30), jpeg(segment(0xDA, b"") + FRAME)):
            self.assertIsNone(picture_size(data))
        self.assertIsNone(picture_size(b"\xff\xd8\xff" + b"\xff" * 1000))
        self.assertIsNone(picture_size(b"\xff\xd8\xff\xe0\0\0" * 1000))


if __name__ == "__main__":
    unittest.main()
