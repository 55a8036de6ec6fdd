"""Runs a bash cell in its own bash, which starts with the state that the last one left and leaves its own for the next.
Keeps variables, functions, options of `shopt` and the folder, but not options of `set`: a cell with `set -e` may end
early and still keeps its state. bash writes the state when it exits, so it survives `exit` and an interrupt, too.
Output goes through the descriptors that capture.py reads, like that of every program that a cell starts."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from ..run.programs import held_back, signal_all, turns
from . import client, command
from .commands_socket import CommandSocket

if TYPE_CHECKING:
    from ..run.interrupts import Interrupts
    from ..show.output import Output
    from ..wire.frame_types import CellError, Outcome

_END_SECONDS = 0.4  # for an interrupted shell and its traps; less than the session's grace for cancelled work
_MAX_STATE_BYTES = 16 << 20
_WHOLE = b"#whole\n"
_MISSING = re.compile("not found|No such file")  # any command may end with the status of a missing program

# Lines of the state that bash does not accept, such as its read-only variables, fail and are skipped.
_PRELUDE = """\
[[ ! -e {state} ]] || . {state} 2>/dev/null
unset __sandbridge_saved
OPTIND=1
__sandbridge_save() {{
  [[ -z ${{__sandbridge_saved-}} ]] || return 0
  {{ shopt -p; printf 'cd -- %q 2>/dev/null\\n' "$PWD"; declare -p; declare -f; declare -Fx; echo '#whole'; }} >| {new_state} 2>/dev/null
  __sandbridge_saved=1
}}
mcp() {{ {python} -I -S {client} {socket} {inode} "$@"; }}
export -f mcp
trap __sandbridge_save EXIT
"""
# eval reads the whole cell and numbers its lines from 1.
_DRIVER = """\
. {prelude}; eval "$(<{cell})"
set -- "$?"; __sandbridge_save; exit "$1"
"""


class ShellCells:
    """The bash cells of a session."""

    def __init__(self, interrupts: Interrupts, output: Output) -> None:
        self._interrupts, self._output = interrupts, output
        self._folder = tempfile.mkdtemp(prefix="bash-")
        self.notes: list[str] = []
        self._prepare()

    def _prepare(self) -> None:
        """Write the files that each cell starts with. A cell may remove them, as everything it can write."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        paths = {name: self._path(name) for name in ("state", "new_state", "client", "socket", "prelude", "cell")}
        quoted = {name: shlex.quote(path) for name, path in paths.items()}
        self._write("client", client.__spec__.loader.get_source(client.__name__))  # type: ignore[union-attr]
        more = {"python": shlex.quote(sys.executable or "python3"), "inode": str(os.fstat(1).st_ino)}
        self._write("prelude", _PRELUDE.format(**quoted, **more))
        self._driver = _DRIVER.format(**quoted)

    async def run(self, number: int, source: str) -> Outcome:
        """Run a cell and return its outcome. Raises FileNotFoundError if there is no bash."""
        if not all(os.path.exists(self._path(name)) for name in ("prelude", "client")):
            self._prepare()
        self._write("cell", source if source.endswith("\n") else f"{source}\n")
        commands = CommandSocket(self._path("socket"), command.run)
        await commands.open()
        try:
            error = _failure(await self._status(number), self._output)
            return {"status": "error", "error": error} if error else {"status": "ok"}
        finally:
            try:
                await commands.close()
            finally:
                self._keep_state()

    async def _status(self, number: int) -> int:
        line = ["bash", "--norc", "--noprofile", "-c", self._driver, f"Cell {number}"]
        process = None
        try:
            with held_back(self._interrupts):
                process = subprocess.Popen(line, stdin=subprocess.DEVNULL, start_new_session=True)
            ended = asyncio.get_running_loop().run_in_executor(None, process.wait)
            await asyncio.wait({ended})
        except BaseException:
            if process:
                signal_all(process.pid, signal.SIGINT)
                try:
                    for _ in turns(_END_SECONDS):
                        if process.poll() is not None:
                            break
                        await asyncio.sleep(0.01)
                finally:  # also after a second interrupt
                    signal_all(process.pid, signal.SIGKILL)
            raise
        return process.returncode

    def _keep_state(self) -> None:
        """Keep the new state if bash finished writing it: a cell may fill the folder, or be killed."""
        try:
            with open(self._path("new_state"), "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - len(_WHOLE)))
                is_whole = file.read() == _WHOLE
            if is_whole and size <= _MAX_STATE_BYTES:
                os.replace(self._path("new_state"), self._path("state"))
                return
            os.unlink(self._path("new_state"))
        except OSError:
            is_whole, size = False, 0
        self.notes.append(
            f"The shell's variables take more than {_MAX_STATE_BYTES >> 20} MiB and were not kept."
            if is_whole
            else "The shell ended without its traps: its variables are as before this cell."
        )

    def take_notes(self) -> list[str]:
        notes, self.notes = self.notes, []
        return notes

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _write(self, name: str, text: str) -> None:
        with open(self._path(name), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)


def _failure(status: int, output: Output) -> CellError | None:
    if status == 0:
        return None
    failure: CellError = {"name": "ExitStatus", "message": str(status), "traceback": f"Exit status {status}."}
    killed = -status if status < 0 else status - 128
    output.begin_batch()  # takes in what bash has written
    output.flush()
    if status == 127 and _MISSING.search(output.stderr_end):
        failure["hint"] = "Only programs of the sandbox's image are here. `mcp search WORDS` finds tools of servers."
    elif killed in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
        failure["hint"] = f"{signal.Signals(killed).name} ended bash, perhaps because the memory was used up."
    return failure
