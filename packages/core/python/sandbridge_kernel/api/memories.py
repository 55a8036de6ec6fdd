"""`runtime.save_memory` and what belongs to it: small values under a key that are kept for the user, beyond the
session. The bridge keeps them as JSON, and says how many there may be and how large."""

import json
from typing import Any

from ..data.values import Listed, Record
from . import bridge
from .errors import ArgumentsError, MCPError

__all__ = [
    "save_memory",
    "load_memory",
    "update_memory",
    "delete_memory",
    "list_memories",
    "get_memory_info",
    "memory_exists",
]


class MemoryInfo(Record):
    """About one memory: key, sizeBytes, createdAt, updatedAt, metadata."""

    __slots__ = ()

    def __repr__(self) -> str:
        about = f", {json.dumps(self['metadata'], ensure_ascii=False)}" if self.get("metadata") else ""
        return f"{self['key']}, {self['sizeBytes']:,} bytes, {self['updatedAt']}{about}"


class Memories(Listed[MemoryInfo]):
    _none = "(no memories)"

    def __contains__(self, wanted: object) -> bool:
        if isinstance(wanted, str):
            return any(info["key"] == wanted for info in self)
        return super().__contains__(wanted)


def save_memory(key: str, value: object, metadata: dict[str, Any] | None = None) -> MemoryInfo:
    """Keep a value that has a form in JSON for later sessions. What was kept under the key is replaced."""
    return MemoryInfo(bridge.ask_sync("save_memory", key=key, value=_text(value), metadata=metadata))


def load_memory(key: str, default: object = None) -> object:
    """The value under a key, or `default`."""
    return read(key, default)[0]


def update_memory(key: str, value: object, default: object = None) -> object:
    """Replace a value by another, or by what a function makes of it: `update_memory("count", lambda n: n + 1, 0)`. Gives the new
    value. When another cell saves the key meanwhile, the function is called again with that value, so no update is lost."""
    if not callable(value):
        save_memory(key, value)
        return value
    while True:
        old, revision = read(key, default)
        new = value(old)
        if replace(key, new, revision):
            return new


def read(key: str, default: object = None) -> tuple[object, str]:
    """A value, and the revision that `replace` takes."""
    found = bridge.ask_sync("load_memory", key=key)
    value = default if found["value"] is None else json.loads(found["value"], object_hook=Record)
    return value, found["revision"]


def replace(key: str, value: object, revision: str) -> bool:
    """Saves a value that was made of a revision. False, and nothing is saved, when there is another revision by now."""
    return bridge.ask_sync("save_memory", key=key, value=_text(value), revision=revision) is not None


def _text(value: object) -> str:
    try:
        return json.dumps(value, default=bridge.plain)
    except (TypeError, ValueError, RecursionError) as problem:
        raise ArgumentsError(
            f"a {type(value).__name__} cannot be kept as a memory: {problem}",
            hint="Keep dict, list, str, numbers, bool and None; files belong in runtime.save_artifact.",
        ) from None


def delete_memory(key: str) -> bool:
    """Delete a memory. False when there was none."""
    return bool(bridge.ask_sync("delete_memory", key=key))


def list_memories() -> Memories:
    """All memories, one line each when printed; the values stay where they are."""
    return Memories(map(MemoryInfo, bridge.ask_sync("list_memories")))


def get_memory_info(key: str) -> MemoryInfo:
    """About one memory, without its value."""
    for info in list_memories():
        if info["key"] == key:
            return info
    raise MCPError(f"There is no memory {key!r}", code="STATE_NOT_FOUND", hint="See runtime.list_memories().")


def memory_exists(key: str) -> bool:
    """Whether something is kept under a key."""
    return any(info["key"] == key for info in list_memories())
