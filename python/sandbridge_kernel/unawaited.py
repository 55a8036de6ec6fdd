"""Calls whose `await` was forgotten: a note that names them, instead of Python's warning in the cell's stderr."""

import warnings

from .api import runtime
from .api.servers import ToolProxy

_MAX_SHOWN = 5
_COROUTINE = 0x80

_forgotten = {}  # what was not awaited -> how often


def install():
    """Python calls this function of `warnings` when a coroutine goes that was never started."""
    ours = {ToolProxy._call.__code__: ""}
    for value in vars(runtime).values():
        code = getattr(value, "__code__", None)
        if code is not None and code.co_flags & _COROUTINE and value.__globals__ is vars(runtime):
            ours[code] = "runtime."
    warn = warnings._warn_unawaited_coroutine

    def note(coroutine):
        if coroutine.cr_code not in ours:
            return warn(coroutine)
        name = f"{ours[coroutine.cr_code]}{coroutine.__qualname__}"
        if name in _forgotten or len(_forgotten) <= _MAX_SHOWN:
            _forgotten[name] = _forgotten.get(name, 0) + 1

    warnings._warn_unawaited_coroutine = note


def notes():
    """What has come to light since the last time."""
    if not _forgotten:
        return []
    found = dict(_forgotten)
    _forgotten.clear()
    shown = [f"{name}(…) was never awaited{f' ({count} times)' if count > 1 else ''}" for name, count in found.items()]
    more = "; and others" if len(shown) > _MAX_SHOWN else ""
    return [f"{'; '.join(shown[:_MAX_SHOWN])}{more}: nothing was called. Write `await {next(iter(found))}(…)`."]
