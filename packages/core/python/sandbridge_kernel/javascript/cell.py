"""Runs the JavaScript cells of a session. One program runs them all, one at a time, and keeps their variables."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from ..api.servers import registry, server_alias, server_name
from ..failure import hints
from ..failure.unavailable import unavailable
from . import calls, checks
from .program import CannotStart, ProgramEnded

if TYPE_CHECKING:
    from typing import Any

    from ..run.interrupts import Interrupts
    from ..show.display import Display
    from ..wire.frame_types import CellError, Outcome
    from .program import Program

_EMBEDDED = sys.platform == "emscripten"
_ELSEWHERE = "The user can have Node with MCP_BRIDGE_RUNTIME=podman, docker or bubblewrap."
_MODULES = (
    f"QuickJS runs JavaScript in the embedded sandbox: it has fs, path, buffer, util and timers/promises, no others and no network. {_ELSEWHERE}"
    if _EMBEDDED
    else "Only Node's own modules are here, and no network to install others."
)
_OF_NODE = frozenset(
    (
        "URL",
        "URLSearchParams",
        "Intl",
        "WebAssembly",
        "Atomics",
        "crypto",
        "AbortController",
        "Headers",
        "Request",
        "Response",
        "Blob",
    )
)
_MAX_OPEN = 2_000
_MAX_TEXT = 8_000_000


class JavaScriptCells:
    def __init__(self, interrupts: Interrupts, display: Display) -> None:
        self._interrupts, self._display = interrupts, display
        self._program: Program | None = None
        self._servers: object = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._notes: list[str] = []

    async def run(self, number: int, source: str) -> Outcome:
        """Run a cell. Raises FileNotFoundError if there is no Node."""
        try:
            if self._program is None or self._program.loop is not asyncio.get_running_loop():
                self._lose()
                self._program = await self._start()
            return await self._run(self._program, number, source)
        except CannotStart as problem:
            return unavailable(str(problem), problem.hint)
        except ProgramEnded as ended:
            self._lose()
            return _lost(str(ended))
        finally:
            for task in self._tasks:
                task.cancel()

    async def _start(self) -> Program:
        self._servers = None
        if _EMBEDDED:
            from . import quickjs

            return await quickjs.start()
        from . import node

        return await node.start(self._interrupts)

    async def _run(self, node: Program, number: int, source: str) -> Outcome:
        message: dict[str, Any] = {"type": "run", "cell": number, "code": source, "cwd": os.getcwd()}
        if self._display.with_json:
            message["json"] = True
        servers = [{"alias": server_alias(one), "name": server_name(one)} for one in registry.values()]
        if servers != self._servers:
            message["servers"] = self._servers = servers
            message["functions"] = calls.FUNCTIONS
        checked: list[CellError] = []
        try:
            node.send(message)
            while True:
                if len(self._tasks) >= _MAX_OPEN:
                    await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
                message = await node.receive()
                kind = message.get("type")
                if kind == "done" and message.get("cell") == number:
                    return {"status": "error", "error": checked[0]} if checked else self._outcome(message)
                if kind == "display":
                    self._show(message.get("data"), message.get("media"))
                elif kind in ("call", "runtime", "function", "memory", "check"):
                    self._answer(node, message, checked, source, number)
        except ProgramEnded:
            raise
        except BaseException:
            stopped = False
            try:
                stopped = await node.interrupt(number)
            finally:  # also after a second interrupt: the next cell would wait for it
                if not stopped:
                    self._lose()
                    self._notes.append(
                        f"{node.NAME} did not stop when interrupted and was ended: variables of JavaScript cells are gone."
                    )
            raise

    # ---- requests

    def _answer(
        self, node: Program, message: dict[str, Any], checked: list[CellError], source: str, number: int
    ) -> None:
        async def answer() -> None:
            if message["type"] == "check":
                error = await checks.problem(message, source, number)
                checked.extend([error] if error else [])
                node.send({"type": "reply", "id": message.get("id"), "value": error is None})
            else:
                node.send_line(await calls.reply(message))

        task = asyncio.get_running_loop().create_task(answer())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not report it

    # ---- outcome

    def _outcome(self, message: dict[str, Any]) -> Outcome:
        notes = message.get("notes")
        self._notes += [str(note)[:500] for note in notes[:5]] if isinstance(notes, list) else []
        if message.get("status") == "error":
            return {"status": "error", "error": _error(message.get("error"))}
        value = _bundle(message.get("value"))
        self._show(None, message.get("media"))
        return {"status": "ok", "value": value} if value else {"status": "ok"}

    def _show(self, data: object, media: object) -> None:
        if bundle := _bundle(data):
            self._display.show(bundle)
        for one in media[:21] if isinstance(media, list) else ():
            if isinstance(one, list) and len(one) == 2 and all(isinstance(text, str) for text in one):
                self._display.show({"text/plain": "", one[0]: one[1]})

    def _lose(self) -> None:
        if self._program:
            with suppress(RuntimeError):  # a cell has closed its loop
                self._program.end()
        self._program = None

    def take_notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes


def _bundle(data: object) -> dict[str, Any] | None:
    """Returns a valid MIME bundle, or None."""
    if not isinstance(data, dict) or not isinstance(data.get("text/plain"), str):
        return None
    return {str(kind): content for kind, content in data.items()}


def _error(error: object) -> CellError:
    told = error if isinstance(error, dict) else {}
    name, message, traceback = (str(told.get(key, ""))[:_MAX_TEXT] for key in ("name", "message", "traceback"))
    found: CellError = {"name": name[:200] or "Error", "message": message, "traceback": traceback}
    if hint := _hint(name, message):
        found["hint"] = hint
    return found


def _hint(name: str, message: str) -> str:
    if name == "ReferenceError" and message.endswith(" is not defined"):
        if hints.lost:
            return f"If an earlier cell has defined it: {hints.lost} Define it again."
        missing = message.removesuffix(" is not defined")
        if _EMBEDDED and missing in _OF_NODE:
            return f"QuickJS runs JavaScript in the embedded sandbox, and has no {missing}. {_ELSEWHERE}"
        return f"Servers: {', '.join(list(registry.by_alias)[:20])}." if registry.by_alias else ""
    if name == "Error" and message.startswith(("Cannot find module", "Cannot find package")):
        return f"{_MODULES} await tools.search('…') finds tools of servers."
    if name == "TypeError" and message == "fetch failed":
        return "The sandbox has no network. await tools.search('…') finds tools of servers."
    return ""


def _lost(how: str) -> Outcome:
    name = "QuickJS" if _EMBEDDED else "Node"
    message = f"{name} ended ({how}), and with it the variables of JavaScript cells"
    error: CellError = {"name": f"{name}Ended", "message": message, "traceback": f"{message}\n"}
    if "SIG" in how or "memory" in how:
        error["hint"] = "The reason may be that its memory was used up: work on less at a time."
    return {"status": "error", "error": error}
