"""Carries variables over to the next kernel: pickles them after a cell, within bounds, and unpickles them in a fresh kernel.

What is lost is named. Functions and classes of cells are: a pickle only has their names.
"""

import pickle
import sys
from base64 import b64decode, b64encode
from time import monotonic
from types import FunctionType, ModuleType

from .api.servers import Registry, ServerProxy, ToolProxy

_MAX_BYTES = 16 << 20
_MAX_SECONDS = 1.0  # for each of up to three tries
_MAX_NAMES = 1_000
_OWN = frozenset(("mcp", "runtime", "LOADED_MCP_SERVERS"))


class _Sink:
    """A file that takes so many bytes until such a time."""

    def __init__(self, deadline):
        self.parts, self.size, self.deadline = [], 0, deadline

    def write(self, data):
        self.size += len(data)
        if self.size > _MAX_BYTES:
            raise pickle.PicklingError(f"more than {_MAX_BYTES >> 20} MiB")
        if monotonic() > self.deadline:
            raise pickle.PicklingError("it takes too long")
        self.parts.append(bytes(data))


class _Pickler(pickle.Pickler):
    def reducer_override(self, value):
        if isinstance(value, (FunctionType, type)) and value.__module__ == "__main__":
            raise pickle.PicklingError(f"{value.__name__} is defined in a cell")
        return NotImplemented


def hand_over(channel, interrupts, namespace):
    """After a cell: send the bridge what can be kept. What went wrong, in one sentence, or None. The cell's time limit holds for it, too."""
    try:
        try:
            interrupts.arm()
            reply = channel.call_sync("save_checkpoint", take(namespace))
        finally:
            interrupts.disarm()
    except (Exception, KeyboardInterrupt) as error:
        return f"The variables could not be kept for a restart: {_words(error)}"
    return f"The variables could not be kept for a restart: {reply['error']['message']}" if "error" in reply else None


def take(namespace):
    """The params of `save_checkpoint`."""
    modules, values, lost = {}, {}, []
    for name, value in list(namespace.items()):
        if name.startswith("__") or name in _OWN or isinstance(value, (ServerProxy, Registry)):
            continue
        if isinstance(value, ModuleType):
            modules[name] = value.__name__
        elif isinstance(value, (FunctionType, type)) and value.__module__ == "__main__":
            lost.append(f"{name} ({'class' if isinstance(value, type) else 'function'} of a cell)")
        elif isinstance(value, ToolProxy):
            lost.append(f"{name} (a tool)")
        else:
            values[name] = value
    try:
        data = _pickled([modules, values], monotonic() + _MAX_SECONDS)
    except Exception:
        values, why = _those_that_can(values, monotonic() + _MAX_SECONDS)
        lost += why
        data = _pickled([modules, values], monotonic() + _MAX_SECONDS)
    kept = [*values, *modules]
    return {"data": b64encode(data).decode("ascii"), "kept": kept[:_MAX_NAMES], "lost": [text[:200] for text in lost[:_MAX_NAMES]]}


def _those_that_can(values, deadline):
    """The values that pickle by themselves, the small ones first until there is no more room; and why the others do not."""
    sizes, lost = {}, []
    for name, value in values.items():
        try:
            sizes[name] = len(_pickled(value, deadline))
        except Exception as error:
            lost.append(f"{name} ({type(value).__name__}: {_words(error)})")
    chosen, left = {}, _MAX_BYTES - (64 << 10)
    for name in sorted(sizes, key=sizes.get):
        if sizes[name] > left:
            lost.append(f"{name} ({sizes[name]:,} bytes, too large)")
            continue
        left -= sizes[name]
        chosen[name] = values[name]
    return chosen, lost


def _pickled(value, deadline):
    sink = _Sink(deadline)
    _Pickler(sink, protocol=5).dump(value)
    return b"".join(sink.parts)


def restore(namespace, data):
    """Put variables back. One sentence about how it went."""
    try:
        modules, values = pickle.loads(b64decode(data))
    except Exception as error:
        return f"The variables of the session before could not be restored: {type(error).__name__}: {_words(error)}"
    failed = []
    for name, module in modules.items():
        try:
            __import__(module)
            namespace[name] = sys.modules[module]
        except Exception as error:
            failed.append(f"{name} ({_words(error)})")
    namespace.update(values)
    names = [*values, *(name for name in modules if name in namespace)]
    shown = ", ".join(names[:30]) + (f", … ({len(names)} in all)" if len(names) > 30 else "")
    return f"Restored from before the restart: {shown or 'nothing'}." + (f" Not: {', '.join(failed)}." if failed else "")


def _words(error):
    text = " ".join(str(error).split())
    return text[:100] or type(error).__name__
