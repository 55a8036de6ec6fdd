"""Images and sounds in results of tools, and the base64 that they are in."""

from __future__ import annotations

from binascii import a2b_base64
from re import DOTALL, compile as pattern, match
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

at_first: list[Callable[[], None]] = []  # called when the first one is made: most sessions have none


class Media:
    """An image or a sound: `.data` (bytes), `.mime_type`. Shown as itself when it is a cell's last value, printed or passed to `display`."""

    def __init__(self, base64: str, mime_type: str) -> None:
        while at_first:
            at_first.pop()()
        self._base64 = base64
        self.mime_type = mime_type

    @property
    def data(self) -> bytes:
        """The bytes. Raises ValueError when the server's base64 is broken."""
        return decoded(self._base64)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), self._shown_type: self._base64}

    @property
    def _shown_type(self) -> str:
        """Of an image or a sound in any case: the bridge says so when it cannot show one."""
        return self.mime_type if match("(image|audio)/", self.mime_type) else "image/unknown"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Media) and (self.mime_type, self._base64) == (other.mime_type, other._base64)

    def __hash__(self) -> int:
        return hash((self.mime_type, self._base64))

    def __repr__(self) -> str:
        return f"<{self.mime_type}, {len(self._base64) * 3 // 4 - self._base64[-2:].count('='):,} bytes>"


# Of the bytes that a file begins with.
_BEGINNINGS = (
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF....WEBP", "image/webp"),
    (b"RIFF....WAVE", "audio/wav"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml.*)?(?:<!--.*-->\s*)?<svg", "image/svg+xml"),
)


def media_type(said: str, base64: str, otherwise: str = "application/octet-stream") -> str:
    """The type that the server says, or that the bytes show where it says none."""
    if "/" in said and said not in ("application/octet-stream", "image/*"):
        return said
    try:
        head = decoded(base64[:1024])
    except ValueError:
        return said or otherwise
    return next((kind for begins, kind in _BEGINNINGS if match(begins, head, DOTALL)), said or otherwise)


_URL = pattern(r"data:([^;,]*)[^,]{0,99};base64,")


def split_url(data: str) -> tuple[str, str]:
    """The type and the base64 of a data URL, which some servers write in place of base64."""
    found = _URL.match(data)
    return (found[1], data[found.end() :]) if found else ("", data)


_BASE64 = pattern(r"[A-Za-z0-9+/]*={0,2}")
_URL_SAFE = str.maketrans("-_", "+/", " \t\r\n=")


def decoded(base64: str) -> bytes:
    """Reads base64 and base64url, padded or not. Raises ValueError for anything else, which Python would skip."""
    if not _BASE64.fullmatch(base64) or len(base64) % 4:
        base64 = base64.translate(_URL_SAFE)
        if not _BASE64.fullmatch(base64):
            raise ValueError("no base64")
        base64 += "=" * (-len(base64) % 4)
    return a2b_base64(base64)
