"""A session: the namespace and the event loop that cells share, and each cell from `run` frame to `done` frame."""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import math
import sys
import types
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from .data import unparsed
from .failure import caught_hints, tracebacks
from .failure.hints import TOLD
from .run import cell, cell_loop, kept_modules, unawaited
from .show import missing_glyphs, pictures
from .show.display import Display, bounded
from .source.static_check import StaticCheck
from .wire import frames

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Coroutine
    from types import CodeType
    from typing import Any, Literal

    from .languages import OtherLanguages
    from .run.interrupts import Interrupts
    from .show.output import Output
    from .wire.channel import Channel
    from .wire.frame_types import DoneFrame, Outcome

# For cancelled work to end: a cell, its tasks, both after an interrupt (less than the bridge's grace).
_GRACE_SECONDS = 0.7
_INTERRUPT_SECONDS = 1.6
_WAIT = "await it in the cell that starts it"
_KEPT_VALUES = 5
_SHOWN_CHARS = 1 << 20  # of a text that does not fit into a frame


class Session:
    def __init__(
        self,
        channel: Channel,
        output: Output,
        interrupts: Interrupts,
        new_loop: Callable[[], asyncio.AbstractEventLoop],
    ) -> None:
        self._channel = channel
        self._output = output
        self._interrupts = interrupts
        self._new_loop = new_loop
        self._compiler = cell.Compiler()
        self._context = contextvars.copy_context()
        # A real module, so that a cell's definitions can be pickled and looked up by name.
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        self.namespace = module.__dict__
        self.namespace["__builtins__"] = builtins
        self._static_check = StaticCheck(self.namespace)
        unawaited.install()
        caught_hints.install()
        cell_loop.install(interrupts)
        self._display = Display(channel, output)
        self._display.install(_shell)
        self._loop: asyncio.AbstractEventLoop
        # Tasks that do not stop when cancelled: awaited and reported once.
        self._stubborn: set[asyncio.Task[Any]] = set()
        self._others: OtherLanguages | None = None
        self._has_told = False  # what a semicolon does
        self._values: dict[int, object] = {}  # of the last cells, by number
        self._read_notes: list[str] = []  # how the cell was read, if not as it stands
        self._ends = math.inf  # when an interrupted cell has to be over
        self._ensure_loop()

    def run(self, number: int, source: str, with_json: bool = False, language: str = "python") -> DoneFrame:
        """Run a cell and return its `done` frame. `with_json`: also send values as JSON, if they have a JSON form."""
        self._display.with_json = with_json
        self._output.take_over()
        self._output.stderr_end = ""
        self._output.has_shown = False
        self._display.captured = None
        self._output.due = 0.0  # its first line is sent at once: it may compute for long after it
        self._ensure_loop()
        self._ends = math.inf
        outcome: Outcome = {"status": "ok"}
        notes: list[str] = []
        self._read_notes = []
        try:
            try:
                self._interrupts.arm()
                outcome = (
                    self._outcome(number, source)
                    if language == "python"
                    else self._other_outcome(language, number, source)
                )
                if notebook := sys.modules.get(f"{__package__}.run.notebook"):
                    notebook.end()
                if outcome["status"] == "error":
                    with suppress(Exception):  # the cell's own error matters
                        self._display.show_figures()
                notes = self._read_notes + self._stop_tasks() + unawaited.notes(self.namespace)
                noted: tuple[Any, ...] = unparsed, pictures, missing_glyphs, self._others
                notes += [note for part in noted if part for note in part.notes()]
            finally:
                self._interrupts.disarm()
        except KeyboardInterrupt as error:  # arrived after the cell's last line
            outcome = {**outcome, **_failure("interrupted", error)}
        except BaseException as error:  # raised by the cell's signal handler after its last line
            outcome = {**outcome, **_failure("error", error)}
        return _done_frame(number, outcome, notes)

    def _ensure_loop(self) -> None:
        if self._interrupts.loop is None or self._loop.is_closed():
            self._loop = self._interrupts.loop = self._new_loop()
            self._loop.set_exception_handler(_report)
        # asyncio.run() unsets the loop; get_event_loop() in a cell must return this one.
        asyncio.set_event_loop(self._loop)

    # ---- outcome

    def _outcome(self, number: int, source: str) -> Outcome:
        try:
            body, last, statements, read = self._compiled(source, f"Cell {number}")
            self._read_notes = read
            self._static_check.check(statements, (body, last), f"Cell {number}")
            self.namespace.pop("__warningregistry__", None)  # each cell is warned anew
            try:
                if cell.is_async(body) or cell.is_async(last):
                    value, interrupted = self._await(cell.run_async(body, last, self.namespace))
                    if interrupted:
                        return _failure("interrupted", interrupted)
                else:
                    value = self._context.run(cell.run_sync, body, last, self.namespace)
            finally:
                kept_modules.restore()
            is_hidden = value is not None and self._compiler.is_silent
            if is_hidden:
                value = None
            elif value is not None:
                self._remember(number, value)
                if body is None and type(value) in (str, list, dict) and cell.holds_code(statements):
                    self._read_notes.append("The cell is a text of code, which did not run: send the code itself.")
            # In the cell's context, where numpy keeps how it prints.
            shown = self._context.run(self._display.value, value)
            if is_hidden and not self._has_told and not self._output.has_shown and not self._output.parts:
                self._has_told = True
                self._read_notes.append("The value of the last line is not shown, because `;` stands after it.")
            if shown is not None and self._display.captured is not None:
                self._display.show(shown)
                shown = None
            return {"status": "ok"} if shown is None else {"status": "ok", "value": shown}
        except SystemExit as error:
            return {"status": "ok"} if error.code in (None, 0) else _failure("error", error)
        except KeyboardInterrupt as error:
            return _failure("interrupted", error)
        except BaseException as error:
            return _failure("error", error)

    def _remember(self, number: int, value: object) -> None:
        """As `_`, `__`, `___`, `_3` and `Out[3]`, of the last cells only: values may be large."""
        names = vars(builtins)
        names.update(___=names.get("__"), __=names.get("_"), _=value, Out=self._values)
        self._values[number] = names[f"_{number}"] = value
        if len(self._values) > _KEPT_VALUES:
            del names[f"_{(oldest := next(iter(self._values)))}"], self._values[oldest]

    def _compiled(
        self, source: str, filename: str
    ) -> tuple[CodeType | None, CodeType | None, list[ast.stmt], list[str]]:
        """The cell's code, and notes about how it was read: a source that does not parse may be Python in another dress."""
        try:
            return *self._compiler.compile(source, filename), []
        except (SyntaxError, ValueError) as error:
            from .source.repairs import reading  # imported only if used

            found = reading(source, self._compiler.parses)
            if found is None:
                raise
            if isinstance(found, str):
                setattr(error, TOLD, found)
                raise
        from .run import notebook

        setattr(builtins, notebook.NAME, notebook)
        return *self._compiler.compile(found.source, filename), found.notes

    def _other_outcome(self, language: str, number: int, source: str) -> Outcome:
        try:
            if self._others is None:
                from .languages import OtherLanguages  # imported only if used

                self._others = OtherLanguages(self._interrupts, self._display, self._output)
            outcome, interrupted = self._await(self._others.run(language, number, source), grace=None)
        except BaseException as problem:
            return _failure("interrupted" if isinstance(problem, KeyboardInterrupt) else "error", problem)
        return _failure("interrupted", interrupted) if interrupted else outcome

    def _await(
        self, coroutine: Coroutine[Any, Any, Any], grace: float | None = _GRACE_SECONDS
    ) -> tuple[Any, BaseException | None]:
        """Run a coroutine to its end on the session's loop. Returns (its value, the interrupt if any). It has `grace`
        after an interrupt; None is for one that bounds its own end."""
        outcome: list[tuple[Any, BaseException | None]] = []

        async def main() -> None:
            # No exception may pass through the loop: it would re-raise an exit or an interrupt in its own frames.
            try:
                outcome.append((await coroutine, None))
            except BaseException as error:
                outcome.append((None, error))

        options: dict[str, Any] = {"context": self._context} if sys.version_info >= (3, 11) else {}
        task = self._loop.create_task(main(), name="cell", **options)
        interrupt = None
        while not task.done():
            try:
                if interrupt is None:
                    self._loop.run_until_complete(task)
                else:
                    self._loop.run_until_complete(asyncio.wait((task,), timeout=grace))
                    break
            except KeyboardInterrupt as error:
                # It arrived while the cell was waiting, or in another task: end the wait, and let `finally` blocks run.
                if interrupt is None:
                    interrupt, self._ends = error, monotonic() + _INTERRUPT_SECONDS
                else:
                    grace = _GRACE_SECONDS  # it has not bounded its own end
                task.cancel()
            except BaseException as error:
                # Another task of the cell ended the loop, with SystemExit for example. The cell continues.
                if not isinstance(error, (SystemExit, asyncio.CancelledError)):
                    raise
        value, raised = outcome.pop() if outcome else (None, None)
        try:
            if interrupt is not None:
                if not task.done():
                    self._stubborn.add(task)
                    self._read_notes.append("The cell's code did not stop, and may go on while later cells wait.")
                self._end_turn()
                return None, raised or interrupt
            if raised is not None:
                raise raised
            return value, None
        finally:
            del raised, interrupt  # they would keep themselves, and all that the cell's functions have in hand

    def _end_turn(self) -> None:
        """After an interrupt: run the stop of the loop that the end of a task may have scheduled. It would stop the next cell."""
        is_over = False
        while not is_over:
            try:
                self._loop.call_soon(self._loop.stop)
                self._loop.run_forever()
                is_over = True
            except (KeyboardInterrupt, SystemExit):
                pass  # the rest of the turn runs in the next one

    def _stop_tasks(self) -> list[str]:
        """Cancel the cell's remaining tasks, wait for them briefly, and return notes about them."""
        tasks = asyncio.all_tasks(self._loop) - self._stubborn
        if not tasks:
            return []
        # Generators that were left before their end: their `finally` runs.
        closing = {task for task in tasks if type(task.get_coro()).__name__ == "async_generator_athrow"}
        for task in tasks - closing:
            # What a later cell reads that awaits it.
            task.cancel(f"{_task_name(task)} was cancelled when the cell ended that had started it: {_WAIT}")
        pending = tasks
        grace = min(_GRACE_SECONDS, max(0.0, self._ends - monotonic()))
        try:
            _, pending = self._loop.run_until_complete(asyncio.wait(tasks, timeout=grace))
        except (KeyboardInterrupt, SystemExit):
            self._end_turn()
            pending = {task for task in tasks if not task.done()}
        for task in tasks - pending:
            if not task.cancelled():
                task.exception()  # retrieved, so that asyncio does not report it
        names = sorted(_task_name(task) for task in tasks if task not in closing)
        if not names:
            return []
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        verb = "background task was" if len(tasks) == 1 else "background tasks were"
        notes = [f"{len(tasks)} {verb} cancelled when the cell ended: {shown}; {_WAIT}"]
        if pending:
            self._stubborn |= pending
            notes.append(f"{len(pending)} of them did not stop when cancelled")
        return notes


def _shell() -> Any:
    from .run.ipython_shell import SHELL  # imported only if used

    return SHELL


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an exception that nothing retrieved. `_stop_tasks` cancels the tasks that a cell leaves behind. A `gather`
    of them keeps a CancelledError, which asyncio would report in the later cell that frees it."""
    if not isinstance(context.get("exception"), asyncio.CancelledError):
        loop.default_exception_handler(context)


def _task_name(task: asyncio.Task[Any]) -> str:
    coroutine = task.get_coro()
    return f"{getattr(coroutine, '__qualname__', None) or type(coroutine).__name__}()"


def _failure(status: Literal["error", "interrupted"], error: BaseException) -> Outcome:
    name = "KeyboardInterrupt" if status == "interrupted" else None
    return {"status": status, "error": tracebacks.describe(error, name)}


def _done_frame(number: int, outcome: Outcome, notes: list[str]) -> DoneFrame:
    done: DoneFrame = {"type": "done", "cell": number, **outcome}  # type: ignore[typeddict-item]
    return {**done, "notes": notes} if notes else done


def fitting(done: DoneFrame) -> bytes:
    """Returns the line for a `done` frame. If it is too large for a frame or for memory, cuts its long texts in the middle;
    a value with a part that JSON does not support becomes an error of the cell."""
    try:
        if _text_bytes(done) < frames.MAX_FRAME_BYTES:
            return frames.encode(done)
    except (frames.FrameError, MemoryError):
        pass
    except (TypeError, ValueError, RecursionError) as error:
        return frames.encode(_done_frame(done["cell"], _failure("error", error), done.get("notes", [])))
    try:
        return frames.encode(_shortened(done))
    except frames.FrameError:
        # The texts are not the cause: for example a figure of a million points, which also has a text form.
        texts = {kind: content for kind, content in done["value"].items() if isinstance(content, str)}
        return frames.encode(_shortened({**done, "value": texts}))


def _text_bytes(value: object) -> int:
    """Returns an upper bound for the size of a value's texts as JSON, without copying them."""
    if isinstance(value, dict):
        return sum(map(_text_bytes, value.values()))
    return len(value) * (1 if value.isascii() else 6) if isinstance(value, str) else 0


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    return bounded(value, _SHOWN_CHARS) if isinstance(value, str) else value
