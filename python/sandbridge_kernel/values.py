"""Native values: what a tool's result becomes in Python. Pure; knows nothing of frames or calls."""

from binascii import a2b_base64
from json import JSONDecoder


class Record(dict):
    """A dict whose keys are attributes too. Keys that are also dict methods (`items`, `keys`…) are reached as `record["items"]`."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            pass
        keys = ", ".join(map(str, list(self)[:20])) or "none"
        raise AttributeError(f"no key {name!r}; keys: {keys}" + (", …" if len(self) > 20 else ""))

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        if name not in self:
            raise AttributeError(f"no key {name!r}")
        del self[name]

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self if isinstance(key, str))]


_decode = JSONDecoder(object_hook=Record).decode


class Media:
    """An image or a sound: `.data` (bytes), `.mime_type`. Shown as itself when it is a cell's last value or passed to `display`."""

    def __init__(self, base64, mime_type):
        self._base64 = base64
        self.mime_type = mime_type

    @property
    def data(self):
        """The bytes. Raises ValueError when the server's base64 is broken."""
        return a2b_base64(self._base64)

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": repr(self), self.mime_type: self._base64}

    def __repr__(self):
        return f"<{self.mime_type}, {len(self._base64) * 3 // 4 - self._base64[-2:].count('='):,} bytes>"


def native(result):
    """The value of an MCP tool result: its structured content, else its content blocks as str, list, Record, bytes or Media."""
    if not isinstance(result, dict):
        return result
    if result.get("structuredContent") is not None:
        return _open_box(result["structuredContent"])
    blocks = result.get("content") or []
    values = [_block(block) for block in blocks]
    if len(values) == 1:
        return _open_box(values[0])
    return values or None


def _open_box(value):
    """A dict with nothing in it but `result` or `content` is only a wrapping: servers must return objects, so they box the rest."""
    if isinstance(value, dict) and len(value) == 1:
        for key in ("result", "content"):
            if key in value:
                return value[key]
    return value


def _block(block):
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" and isinstance(block.get("text"), str):
        return _parsed(block["text"])
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        return Media(block["data"], str(block.get("mimeType") or "application/octet-stream"))
    if kind == "resource" and isinstance(block.get("resource"), dict):
        resource = block["resource"]
        if isinstance(resource.get("text"), str):
            return resource["text"]
        if isinstance(resource.get("blob"), str):
            return a2b_base64(resource["blob"])
    return block


def _parsed(text):
    """JSON text is parsed when it is an object or an array; a bare number or word stays the text it was."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _decode(text)
        except (ValueError, RecursionError):
            pass
    return text
