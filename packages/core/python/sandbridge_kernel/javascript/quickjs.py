"""The QuickJS that runs a session's JavaScript cells in the embedded sandbox. It runs in this thread while a message is
written to its device, and returns its messages before that write ends. Its output becomes frames at once, so no frame
of ours may be half sent or queued meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from binascii import a2b_base64
from collections import deque
from typing import TYPE_CHECKING

from ..api import bridge
from .program import ProgramEnded, decoded

if TYPE_CHECKING:
    from typing import Any

_DEVICE = "/dev/sandbridge-javascript"
_CHUNK = 1 << 16
_LONGEST_TIMER = 1e6  # seconds


class QuickJS:
    NAME = "QuickJS"

    def __init__(self, files: dict[str, str]) -> None:
        self.loop = asyncio.get_running_loop()
        self._device = os.open(_DEVICE, os.O_RDWR)
        self._lines: deque[bytes] = deque()
        self._came = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._ended: str | None = None
        self._write(b"W", a2b_base64(files["quickjs.wasm"]))
        self._write(b"T", _function("exports", files["types.cjs"], "; return exports"))
        self._write(b"P", _function("host", files["quickjs.cjs"]))

    async def receive(self) -> dict[str, Any]:
        while True:
            while not self._lines:
                if self._ended is not None:
                    raise ProgramEnded(self._ended)
                self._came.clear()
                await self._came.wait()
            try:
                message = decoded(self._lines.popleft())
            except (ValueError, RecursionError):
                message = None
            if not isinstance(message, dict):
                raise ProgramEnded("it sent an invalid message")
            if message.get("type") != "timer":
                return message
            self._wake_after(message.get("afterMs"))

    def send(self, message: dict[str, Any]) -> None:
        if message.get("type") == "run":
            self._write(b"C", b"%d" % message["cell"])
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        if self._ended is None:
            self._write(b"M", line)

    async def interrupt(self, number: int) -> bool:
        del number  # there is one cell, and its remaining work is gone
        if self._timer:
            self._timer.cancel()
        if self._ended is None:
            self._write(b"I", b"")
        self._lines.clear()
        return self._ended is None

    def end(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._write(b"E", b"")
        os.close(self._device)

    def _wake_after(self, ms: object) -> None:
        if not isinstance(ms, (int, float)) or ms != ms:
            return
        due = self.loop.time() + min(max(0.0, ms / 1000), _LONGEST_TIMER)
        if self._timer and self._timer.when() <= due and self._timer.when() > self.loop.time():
            return
        if self._timer:
            self._timer.cancel()
        self._timer = self.loop.call_at(due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self.send_line(b'{"type":"tick"}')

    def _write(self, kind: bytes, data: bytes) -> None:
        sys.stdout.flush()
        try:
            os.write(self._device, kind + data)
            self._lines.extend(line for line in self._said().split(b"\n") if line)
        except OSError:
            self._ended = self._said().decode("utf-8", "replace").strip() or "it crashed"
        except MemoryError:
            self._ended = "out of memory"
        self._came.set()

    def _said(self) -> bytes:
        pieces = []
        while piece := os.read(self._device, _CHUNK):
            pieces.append(piece)
        return b"".join(pieces)


async def start() -> QuickJS:
    """Start QuickJS. Raises ProgramEnded."""
    files = await bridge.ask("language_files", language="javascript", embedded=True)
    program = QuickJS(files)
    await program.receive()  # its ready message
    return program


def _function(parameter: str, body: str, end: str = "") -> bytes:
    return f"(({parameter}) => {{{body}\n{end}}})".encode()
