"""The JavaScript cells of a session. One Node runs them all, one after the other, and keeps their variables."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING

from .. import hints
from ..api import bridge
from ..api.servers import registry, server_alias, server_name
from ..languages import unavailable
from . import calls, checks
from .node import OLDEST, Node, NodeEnded, write_program

if TYPE_CHECKING:
    from typing import Any

    from ..display import Display
    from ..frame_types import CellError, Outcome
    from ..interrupts import Interrupts

# Of an interrupt, in seconds since it came; the session waits a little longer for what it cancels.
_RING_AFTER = 0.1
_END_AFTER = 0.6
_BREATH = 0.02
_PING_EVERY = 0.05
_MAX_OPEN = 2_000
_MAX_TEXT = 8_000_000


class JavaScriptCells:
    def __init__(self, interrupts: Interrupts, display: Display) -> None:
        self._interrupts, self._display = interrupts, display
        self._node: Node | None = None
        self._program: str | None = None
        self._servers: object = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._notes: list[str] = []

    async def run(self, number: int, source: str) -> Outcome:
        """Run a cell. Raises FileNotFoundError where there is no Node."""
        try:
            if self._node is None or self._node.loop is not asyncio.get_running_loop():
                self._node = None
                too_old = await self._start()
                if too_old:
                    return too_old
            return await self._run(self._node, number, source)  # type: ignore[arg-type]
        except NodeEnded as ended:
            self._lose()
            return _failed(
                "NodeEnded",
                f"Node ended ({ended}), and with it the variables of JavaScript cells",
                "The reason may be that its memory was used up: work on less at a time." if "SIG" in str(ended) else "",
            )
        finally:
            for task in self._tasks:
                task.cancel()

    async def _start(self) -> Outcome | None:
        """How a cell ends whose Node is too old."""
        if self._program is None or not os.path.exists(os.path.join(self._program, "runner.cjs")):
            self._program = write_program(await bridge.ask("language_files", language="javascript"))
        node = self._node = Node(self._program, self._interrupts)
        self._servers = None
        try:
            await node.connect()
            ready = await node.receive()
        except NodeEnded as ended:
            self._lose()
            needed = ".".join(map(str, OLDEST))
            return unavailable(
                f"Node does not start here ({ended})", f"JavaScript cells need Node {needed} or newer. Use run_python."
            )
        except BaseException:
            self._lose()
            raise
        version = str(ready.get("node"))[:20]
        if _is_old(version):
            self._lose()
            needed = ".".join(map(str, OLDEST))
            return unavailable(
                f"This sandbox has Node {version}, and JavaScript cells need {needed} or newer",
                "Use run_python. The user can build an image with a newer one: `sandbridge image build node`.",
            )
        return None

    async def _run(self, node: Node, number: int, source: str) -> Outcome:
        message: dict[str, Any] = {"type": "run", "cell": number, "code": source, "cwd": os.getcwd()}
        if self._display.with_json:
            message["json"] = True
        servers = [{"alias": server_alias(one), "name": server_name(one)} for one in registry.values()]
        if servers != self._servers:
            message["servers"] = self._servers = servers
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
                elif kind in ("call", "runtime", "check"):
                    self._answer(node, message, checked, source, number)
        except NodeEnded:
            raise
        except BaseException:
            await self._interrupt(node, number)
            raise

    # ---- what it asks for

    def _answer(self, node: Node, message: dict[str, Any], checked: list[CellError], source: str, number: int) -> None:
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
            task.exception()  # asked for, so that asyncio does not report it as never retrieved

    # ---- how it went

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

    async def _interrupt(self, node: Node, number: int) -> None:
        """Stop the cell: what waits is told, what is busy is broken off, and what does not even heed that is ended."""
        start = time.monotonic()
        try:
            node.send({"type": "interrupt"})
            if await _comes(node, start + _RING_AFTER, lambda one: one.get("cell") == number):
                return
            # What comes after that may be busy as well.
            while time.monotonic() < start + _END_AFTER:
                node.ring()
                await asyncio.sleep(_BREATH)
                node.send({"type": "interrupt"})
                node.send({"type": "ping"})
                if await _comes(node, time.monotonic() + _PING_EVERY, lambda one: one.get("type") == "pong"):
                    return
        except NodeEnded:
            pass
        self._lose()
        self._notes.append("Node did not stop when interrupted and was ended: variables of JavaScript cells are gone.")

    def _lose(self) -> None:
        if self._node:
            self._node.end()
        self._node = None

    def take_notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes


async def _comes(node: Node, end: float, is_meant: Any) -> bool:
    """Whether such a message comes in time. All others are dropped."""
    pending = asyncio.ensure_future(_next(node, is_meant))
    await asyncio.wait((pending,), timeout=max(0.0, end - time.monotonic()))
    if not pending.done():
        pending.cancel()
        return False
    pending.result()
    return True


async def _next(node: Node, is_meant: Any) -> None:
    while not is_meant(await node.receive()):
        pass


def _is_old(version: str) -> bool:
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return not (major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= OLDEST)


def _bundle(data: object) -> dict[str, Any] | None:
    """A MIME bundle, if it is one."""
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
        return f"Servers: {', '.join(list(registry.by_alias)[:20])}." if registry.by_alias else ""
    if name == "Error" and message.startswith(("Cannot find module", "Cannot find package")):
        return "Only Node's own modules are here, and no network to install others. await tools.search('…') finds tools of servers."
    if name == "TypeError" and message == "fetch failed":
        return "The sandbox has no network. await tools.search('…') finds tools of servers."
    return ""


def _failed(name: str, message: str, hint: str) -> Outcome:
    error: CellError = {"name": name, "message": message, "traceback": f"{message}\n"}
    if hint:
        error["hint"] = hint
    return {"status": "error", "error": error}
