"""Reads the width and height of an image from its first bytes: PNG, JPEG, GIF and WebP. Decodes no pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Literal


def picture_size(data: bytes) -> tuple[int, int] | None:
    """Returns (width, height) in pixels from the header; None if the bytes do not contain it."""
    try:
        if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
            return _pair(data, 16, 4, "big")
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return _pair(data, 6, 2, "little")
        if data[:3] == b"\xff\xd8\xff":
            return _jpeg(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp(data)
    except IndexError:  # truncated
        pass
    return None


def _pair(data: bytes, start: int, count: int, order: Literal["big", "little"]) -> tuple[int, int]:
    """Two numbers of `count` bytes each."""
    return _number(data, start, count, order), _number(data, start + count, count, order)


def _number(data: bytes, start: int, count: int, order: Literal["big", "little"]) -> int:
    if start + count > len(data):
        raise IndexError
    return int.from_bytes(data[start : start + count], order)


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Finds the frame header by walking the segments (ITU T.81, annex B)."""
    at = 2
    while (at := data.find(b"\xff", at)) >= 0:
        while data[at] == 0xFF:
            at += 1
        marker = data[at]
        at += 1
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # except tables
            height, width = _pair(data, at + 3, 2, "big")
            return width, height
        if marker in (0xD9, 0xDA):  # the end, or the pixels
            break
        if marker != 0x01 and not 0xD0 <= marker <= 0xD8:  # except markers without a length
            at += max(2, _number(data, at, 2, "big"))
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    """RFC 9649: the canvas of the extended format, else the frame of the lossy or lossless one."""
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = _pair(data, 24, 3, "little")
        return width + 1, height + 1
    if kind == b"VP8 ":
        width, height = _pair(data, 26, 2, "little")
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        bits = _number(data, 21, 4, "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None
