"""`runtime.save_artifact` and what belongs to it: files that are kept beyond the session. The bridge decides what may be kept."""

import io
import json
import os
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator
from typing import Any

from ..data.media import Media
from ..data.values import Listed, Record
from . import bridge
from .errors import ArgumentsError, MCPError

__all__ = ["artifacts", "open_artifact", "save_artifact"]

_PIECE_BYTES = 4 << 20
_FOLDERS = ("/workspace/", "/projects/", "/tmp/")


class Artifact(Record):
    """One version of an artifact: name, version, sizeBytes, contentType, sha256, createdAt, uri."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{self['name']}, version {self['version']}, {self['contentType']}, {self['sizeBytes']:,} bytes: {self['uri']}"


class Artifacts(Listed[Artifact]):
    _none = "(no artifacts)"


class ArtifactFile(io.BytesIO):
    """An artifact opened for reading: a binary file in memory. `.text()` decodes it, `.artifact` tells about it."""

    def __init__(self, data: bytes, artifact: Artifact) -> None:
        super().__init__(data)
        self.artifact = artifact
        self.name = artifact["name"]

    def text(self, encoding: str = "utf-8") -> str:
        return self.getvalue().decode(encoding)

    def __repr__(self) -> str:
        return f"<{self.artifact!r}>"


def save_artifact(name: str, data: object) -> Artifact:
    """Keep a file for the user and for later sessions. `data`: bytes, text, a pathlib.Path or the path of a file,
    or a value that has a form in JSON. Text that names a file counts as its path. A name that is there already gets another version."""
    if not isinstance(name, str):
        raise ArgumentsError(f"the name of an artifact is a str, not {type(name).__name__}")
    upload = None
    # In pieces: a single frame would be in memory several times.
    for piece in _pieces(data):
        upload = bridge.ask_sync("upload", upload=upload, data=b2a_base64(piece, newline=False).decode("ascii"))
    return Artifact(bridge.ask_sync("save_artifact", name=name, upload=upload))


def artifacts() -> Artifacts:
    """All artifacts, of this session and of earlier ones, in their newest version."""
    return Artifacts(map(Artifact, bridge.ask_sync("artifacts")))


def open_artifact(name: str, version: int | None = None) -> ArtifactFile:
    """An artifact as a binary file: `.read()` for bytes, `.text()` for text. The newest version, unless one is named."""
    found = bridge.ask_sync("open_artifact", name=name, version=version)
    file = ArtifactFile(a2b_base64(found.pop("data")), Artifact(found))
    end = file.seek(0, 2)
    while end < found["sizeBytes"]:
        piece = bridge.ask_sync("open_artifact", name=name, version=found["version"], offset=end)
        if not file.write(a2b_base64(piece["data"])):
            raise MCPError(f"{name!r} is shorter on disk than it was when it was saved", code="STATE_NOT_FOUND")
        end = file.tell()
    file.seek(0)
    return file


def _pieces(data: object) -> Iterator[bytes | memoryview]:
    path = _path(data)
    if path is None:
        content = memoryview(_content(data))
        # An empty file is one empty piece.
        for start in range(0, len(content) or 1, _PIECE_BYTES):
            yield content[start : start + _PIECE_BYTES]
        return
    try:
        with open(path, "rb") as file:
            yield file.read(_PIECE_BYTES)
            while piece := file.read(_PIECE_BYTES):
                yield piece
    except OSError as problem:
        raise ArgumentsError(
            f"the file {str(path)!r} cannot be read: {problem.strerror}",
            hint="Pass the path of a file in this sandbox; text that only looks like a path can be passed as bytes.",
        ) from None


def _path(data: Any) -> Any:
    if isinstance(data, os.PathLike):
        return os.fspath(data)
    # A folder, too: reading it is an error, and its name is not what was meant.
    may_be_path = isinstance(data, str) and "\n" not in data and len(data) < 1_000
    return data if may_be_path and (data.startswith(_FOLDERS) or os.path.exists(data)) else None


def _content(data: Any) -> bytes | bytearray | memoryview:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return data
    if isinstance(data, str):
        return data.encode("utf-8", "surrogatepass")
    if isinstance(data, Media):
        return data.data
    if hasattr(type(data), "getvalue"):  # io.BytesIO, io.StringIO
        return _content(data.getvalue())
    return as_json(data, indent=1).encode("utf-8", "backslashreplace")  # JSON has the same escape


def as_json(data: Any, indent: int | None = None) -> str:
    try:
        return json.dumps(data, ensure_ascii=False, indent=indent, default=bridge.plain)
    except (TypeError, ValueError, RecursionError) as problem:
        raise ArgumentsError(
            f"a {type(data).__name__} cannot be saved as it is: {problem}",
            hint="Pass bytes, text, a path, or a value made of dict, list, str, numbers, bool and None.",
        ) from None
