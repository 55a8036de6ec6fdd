"""The Node that runs a session's JavaScript cells: starts and ends it, and exchanges lines of JSON with it. Its program
comes from the bridge when the first cell needs it. Cells can change all of that program and send anything in its name:
a message is an untrusted request like any other from the sandbox, limited here and judged by the bridge."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import resource
import signal
import socket
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

from ..api import bridge
from ..run.programs import LEAST_TURNS, held_back, signal_all, turns
from .program import CannotStart, ProgramEnded, decoded

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..run.interrupts import Interrupts

PROGRAM = "node"
_OLDEST = (20, 12)
_MAX_LINE = 64 << 20
# Times of an interrupt, in seconds; all of them together are less than the bridge's grace.
_RING_AFTER = 0.1
_END_AFTER = 0.6  # of processor time: on a busy machine, Node may get none for a while
_RING_FOR = 1.4
_BREATH = 0.02
_PING_EVERY = 0.05
_HEAP_SHARE = 0.6  # of a sandbox process's memory limit, so that Node ends itself before the sandbox is ended
_MOST_TRIED = 256 << 20


class Node:
    NAME = "Node"

    def __init__(self, folder: str, interrupts: Interrupts) -> None:
        """Starts Node. Raises FileNotFoundError if there is none."""
        ours, channel = socket.socketpair()
        self._bell, bell = socket.socketpair()
        self._socket = ours
        fds = (channel.fileno(), bell.fileno())
        # Node checks that no timer callback is cut off, and otherwise ends itself; an interrupt cuts them off.
        flags = ["--no-warnings", "--no-force-async-hooks-checks", *_memory_flags()]
        line = [PROGRAM, *flags, os.path.join(folder, "runner.cjs"), *map(str, fds)]
        try:
            with held_back(interrupts):
                self._process = subprocess.Popen(line, stdin=subprocess.DEVNULL, pass_fds=fds, start_new_session=True)
        except OSError:
            ours.close()
            self._bell.close()
            raise
        finally:
            channel.close()
            bell.close()
        self.loop = asyncio.get_running_loop()
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    async def connect(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(sock=self._socket, limit=_MAX_LINE)

    async def receive(self) -> dict[str, Any]:
        try:
            line = await self._reader.readline()
            message = decoded(line) if line.endswith(b"\n") else None
        except (ValueError, RecursionError, OSError):
            message = None
        if not isinstance(message, dict):
            raise ProgramEnded(self._how_it_ended())
        return message

    def send(self, message: dict[str, Any]) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        self._writer.write(line + b"\n")

    async def interrupt(self, number: int) -> bool:
        """Stop a waiting cell with a message and a busy one by terminating its code. Returns False if neither works."""
        start, had = time.monotonic(), self._processor_seconds()
        try:
            self.send({"type": "interrupt"})
            if await self._comes(start + _RING_AFTER, lambda one: one.get("cell") == number):
                return True
            # The code that runs next may be busy, too.
            for turn in turns(_RING_FOR):
                if turn >= LEAST_TURNS and self._processor_seconds() >= had + _END_AFTER:
                    break
                self._ring()
                await asyncio.sleep(_BREATH)
                self.send({"type": "interrupt"})
                self.send({"type": "ping"})
                if await self._comes(time.monotonic() + _PING_EVERY, lambda one: one.get("type") == "pong"):
                    return True
        except ProgramEnded:
            pass
        return False

    def _processor_seconds(self) -> float:
        """Returns the processor time of the thread that runs the cells. Without /proc, counts as if it always had a processor."""
        pid = self._process.pid
        try:
            with open(f"/proc/{pid}/task/{pid}/stat", encoding="ascii", errors="replace") as file:
                # After the name in parentheses, fields 14 and 15 are the ticks that it had.
                fields = file.read().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return time.monotonic()

    async def _comes(self, end: float, is_meant: Callable[[dict[str, Any]], bool]) -> bool:
        """Returns whether such a message arrives in time. Drops all others."""

        async def find() -> None:
            while not is_meant(await self.receive()):
                pass

        pending = asyncio.ensure_future(find())
        try:
            await asyncio.wait((pending,), timeout=max(0.0, end - time.monotonic()))
            if not pending.done():
                return False
            pending.result()
            return True
        finally:
            pending.cancel()  # after a second interrupt, its own end would be an error that was never retrieved

    def _ring(self) -> None:
        """Terminate the code that is running in it, wherever that is, and interrupt the programs that cells have started."""
        signal_all(self._process.pid, signal.SIGINT)
        try:
            self._bell.send(b"!", socket.MSG_DONTWAIT)
        except OSError:
            pass

    def end(self) -> None:
        """Kill it, and everything it has started."""
        signal_all(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._bell.close()
        if hasattr(self, "_writer"):
            self._writer.close()

    def _how_it_ended(self) -> str:
        try:
            status = self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            return "its channel was closed"
        return f"exit status {status}" if status >= 0 else signal.Signals(-status).name


_folder: str | None = None


async def start(interrupts: Interrupts) -> Node:
    """Start Node. Raises FileNotFoundError if there is none, CannotStart, ProgramEnded."""
    global _folder
    if _folder is None or not os.path.exists(os.path.join(_folder, "runner.cjs")):
        _folder = _write_program(await bridge.ask("language_files", language="javascript"))
    node = Node(_folder, interrupts)
    needed = ".".join(map(str, _OLDEST))
    try:
        await node.connect()
        version = str((await node.receive()).get("node"))[:20]
        if not _is_old(version):
            return node
    except ProgramEnded as ended:
        node.end()
        raise CannotStart(
            f"Node does not start here ({ended})", f"JavaScript cells need Node {needed} or newer. Use run_python."
        ) from None
    except BaseException:
        node.end()
        raise
    node.end()
    raise CannotStart(
        f"This sandbox has Node {version}, and JavaScript cells need {needed} or newer",
        "Use run_python. The user can build an image with a newer one: `sandbridge image build node`.",
    )


def _is_old(version: str) -> bool:
    return _numbers(version) < _OLDEST


def _numbers(version: str) -> tuple[int, int]:
    """Returns major and minor; zeros for any other text."""
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (0, 0)


def _write_program(files: dict[str, str]) -> str:
    """Write the files that Node runs, and return their folder."""
    folder = tempfile.mkdtemp(prefix="javascript-")
    for name, text in files.items():
        with open(os.path.join(folder, os.path.basename(name)), "w", encoding="utf-8") as file:
            file.write(text)
    return folder


def _memory_flags() -> list[str]:
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit == resource.RLIM_INFINITY:
        return []
    heap = f"--max-old-space-size={int(limit * _HEAP_SHARE) >> 20}"
    # Without machine code, JavaScript takes several times as long, and there is no WebAssembly.
    return [heap] if _has_room(min(limit // 4, _MOST_TRIED)) else [heap, "--jitless"]


@functools.cache
def _has_room(size: int) -> bool:
    """Try once in a kernel whether Node starts and has so many bytes left. Raises FileNotFoundError if there is none.
    Some versions from 24 on reserve 512 MiB for machine code, and end where a process may not have that much memory."""
    tried = subprocess.run(
        [PROGRAM, "--eval", f"Buffer.alloc({size})"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return tried.returncode == 0
