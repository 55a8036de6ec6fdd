"""Carries variables over to the next kernel: pickles them after a cell, unpickles them in a fresh kernel. All together,
so that shared objects stay shared, and those that might not load also separately. Names what is lost, such as functions
of cells: a pickle contains only their names."""

from __future__ import annotations

import pickle
import signal
import sys
from base64 import b64decode, b64encode
from time import monotonic
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING

from ..api.servers import Registry, ServerProxy, ToolProxy
from ..api.workflows import Workflows
from ..data.values import Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, TypeVar

    from _typeshed import TraceFunction

    from ..wire.channel import Channel
    from .interrupts import Interrupts

    _T = TypeVar("_T")

_MAX_BYTES = 16 << 20
_MAX_SECONDS = 1.0  # for each of up to three tries, and then for each value that alone exceeds it
_MAX_SLOW = 2  # values that may exceed it, before there is no time for the others
_SLOW = "it takes too long"
_MAX_NAMES = 1_000
_OWN = frozenset(("mcp", "runtime", "LOADED_MCP_SERVERS"))
_NOT_KEPT = "The variables could not be kept for a restart"
_FILES = "/workspace/"  # empty in the next sandbox
# For types of these modules, and plain ones, everything that can be pickled can be loaded.
_SURE = frozenset(("builtins", "collections", "datetime", "decimal", "fractions", "pathlib", "uuid", Record.__module__))


class _TooSlow(BaseException):
    """Raised in the code of a value. Not an Exception, which that code might catch."""


_PROBLEMS = (Exception, SystemExit, _TooSlow)  # raised by code of the values

_tried: set[type] = set()  # other types, of which this kernel has pickled and loaded a value


class _Sink:
    """A file with a size limit and a deadline."""

    def __init__(self, deadline: float) -> None:
        self.parts: list[bytes] = []
        self.size, self.deadline = 0, deadline

    def write(self, data: bytes | pickle.PickleBuffer) -> None:
        """Large values of some types, such as arrays, come as buffers."""
        self.size += memoryview(data).nbytes
        if self.size > _MAX_BYTES:
            raise pickle.PicklingError(f"more than {_MAX_BYTES >> 20} MiB")
        if monotonic() > self.deadline:
            raise pickle.PicklingError(_SLOW)
        self.parts.append(bytes(data))


class _Pickler(pickle.Pickler):
    """Records the types of the values, except plain ones."""

    def __init__(self, sink: _Sink) -> None:
        super().__init__(sink, protocol=5)
        self.kinds: set[type] = set()

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, (FunctionType, type)):
            self.kinds.add(type(value))
        elif value.__module__ == "__main__":
            raise pickle.PicklingError(f"{value.__name__} is defined in a cell")
        elif _is_of_a_file(sys.modules.get(value.__module__)):
            raise pickle.PicklingError(f"{value.__name__} is defined in a file in {_FILES}")
        return NotImplemented


def _is_of_a_file(module: object) -> bool:
    """True for a module of a file that the next sandbox does not have."""
    return str(getattr(module, "__file__", "")).startswith(_FILES)


def hand_over(channel: Channel, interrupts: Interrupts, namespace: dict[str, Any]) -> tuple[str | None, bool]:
    """After a cell: send the variables to the bridge, within the cell's time limit. Returns (one sentence about a failure or
    None, whether an interrupt ended it)."""
    try:
        try:
            interrupts.arm()
            reply = channel.call_sync("save_checkpoint", take(namespace))
        finally:
            interrupts.disarm()
    except KeyboardInterrupt:
        return f"{_NOT_KEPT}: the cell's time was over", True
    except BaseException as error:
        return f"{_NOT_KEPT}: {_words(error)}", False
    return (f"{_NOT_KEPT}: {reply['error']['message']}" if "error" in reply else None), False


def take(namespace: dict[str, Any]) -> dict[str, Any]:
    """Returns the params of `save_checkpoint`."""
    modules, values, lost = _sorted_out(namespace)
    try:
        whole, is_sure = _loadable(values, monotonic() + _MAX_SECONDS)
        apart = {} if is_sure else _each(values)[0]
    except _PROBLEMS:
        apart, why = _each(values)
        chosen = _smallest(apart, _MAX_BYTES - (64 << 10))
        why += [f"{name} ({len(apart[name]):,} bytes, too large)" for name in apart if name not in chosen]
        lost += why
        values = {name: values[name] for name in values if name in chosen}
        whole, is_sure = _loadable(values, monotonic() + _MAX_SECONDS)
        apart = {} if is_sure else chosen
    apart = _smallest(apart, _MAX_BYTES - len(whole))
    data = pickle.dumps([modules, list(values), whole, apart], protocol=5)
    kept = [name[:200] for name in (*values, *modules)]
    return {
        "data": b64encode(data).decode("ascii"),
        "kept": kept[:_MAX_NAMES],
        "lost": [text[:200] for text in lost[:_MAX_NAMES]],
    }


def _sorted_out(namespace: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any], list[str]]:
    """Returns the names of modules, the values that may be pickled, and what is certainly lost."""
    modules, values, lost = {}, {}, []
    for name, value in list(namespace.items()):
        if name.startswith("__") or name in _OWN or isinstance(value, (ServerProxy, Registry, Workflows)):
            continue
        if isinstance(value, ModuleType):
            if _is_of_a_file(value):
                lost.append(f"{name} (a module in {_FILES})")
            else:
                modules[name] = value.__name__
        elif isinstance(value, (FunctionType, type)) and value.__module__ == "__main__":
            lost.append(f"{name} ({'class' if isinstance(value, type) else 'function'} of a cell)")
        elif isinstance(value, ToolProxy):
            lost.append(f"{name} (a tool)")
        else:
            values[name] = value
    return modules, values, lost


def _each(values: dict[str, Any]) -> tuple[dict[str, bytes], list[str]]:
    """Pickle each value separately. Also returns the reasons for those that fail."""
    deadline, slow = monotonic() + _MAX_SECONDS, 0
    apart, lost = {}, []
    for name, value in values.items():
        try:
            apart[name], _ = _loadable(value, deadline)
        except _PROBLEMS as error:
            lost.append(f"{name} ({type(value).__name__}: {_words(error)})")
            if monotonic() > deadline and slow < _MAX_SLOW:
                deadline, slow = monotonic() + _MAX_SECONDS, slow + 1
    return apart, lost


def _smallest(apart: dict[str, bytes], room: int) -> dict[str, bytes]:
    """Return as many of these pickles as fit, smallest first."""
    chosen = {}
    for name in sorted(apart, key=lambda name: len(apart[name])):
        room -= len(apart[name])
        if room < 0:
            break
        chosen[name] = apart[name]
    return chosen


def _loadable(value: object, deadline: float) -> tuple[bytes, bool]:
    """Return (pickle of the value, whether every such pickle loads). Raises if it does not load; tests each type once."""
    return _within(deadline - monotonic(), lambda: _tested(value, deadline))


def _within(seconds: float, work: Callable[[], _T]) -> _T:
    """Do what executes the code of values, which may never end. Raises _TooSlow in it."""
    if seconds <= 0:
        raise _TooSlow(_SLOW)
    if not hasattr(signal, "setitimer"):
        return _watched(monotonic() + seconds, work)
    is_over = False

    def ring(_number: int, _frame: object) -> None:
        if not is_over:
            raise _TooSlow(_SLOW)

    # The cell may have an alarm and a handler of its own.
    handler, began = signal.signal(signal.SIGALRM, ring), monotonic()
    rest, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        try:
            return work()
        finally:
            is_over = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, max(0.001, rest - (monotonic() - began)) if rest else 0, interval)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)


def _watched(deadline: float, work: Callable[[], _T]) -> _T:
    """The same without a timer: looks at the time at every line of Python."""

    def look(_frame: FrameType, _event: str, _argument: object) -> TraceFunction:
        if monotonic() > deadline:
            raise _TooSlow(_SLOW)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        return work()
    finally:
        sys.settrace(before)


def _tested(value: object, deadline: float) -> tuple[bytes, bool]:
    sink = _Sink(deadline)
    pickler = _Pickler(sink)
    pickler.dump(value)
    data = b"".join(sink.parts)
    unsure = {kind for kind in pickler.kinds if kind.__module__ not in _SURE}
    if not unsure <= _tried:
        try:
            pickle.loads(data)
        except _PROBLEMS as error:
            raise pickle.PicklingError(f"it cannot be loaded again: {_words(error)}") from None
        _tried.update(unsure)
    return data, not unsure


def restore(namespace: dict[str, Any], data: str) -> str:
    """Restore variables. Returns one sentence about the outcome."""
    failed = []
    try:
        modules, names, whole, apart = pickle.loads(b64decode(data))
    except _PROBLEMS as error:
        return f"The variables of the session before could not be restored: {type(error).__name__}: {_words(error)}"
    for name, module in modules.items():
        try:
            __import__(module)
            namespace[name] = sys.modules[module]
        except _PROBLEMS as error:
            failed.append(f"{name} ({_words(error)})")
    copies = ""
    try:
        values = pickle.loads(whole)
    except _PROBLEMS as error:
        values, why = _one_by_one(names, apart, error)
        failed += why
        copies = " Objects that several of them shared are separate copies now." if len(values) > 1 else ""
    namespace.update(values)
    restored = [*values, *(name for name in modules if name in namespace)]
    return f"Restored from before the restart: {_listed(restored) or 'nothing'}." + (
        f" Not: {_listed(failed)}.{copies}" if failed else ""
    )


def _one_by_one(names: list[str], apart: dict[str, bytes], problem: BaseException) -> tuple[dict[str, Any], list[str]]:
    """Load values separately. `problem` is the reason for those that were not pickled separately."""
    values, failed = {}, []
    for name in names:
        try:
            if name not in apart:
                raise problem
            values[name] = pickle.loads(apart[name])
        except _PROBLEMS as error:
            failed.append(f"{name} ({_words(error)})")
    return values, failed


def _listed(names: list[str]) -> str:
    return ", ".join(names[:30]) + (f", … ({len(names)} in all)" if len(names) > 30 else "")


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text[:100] or type(error).__name__
