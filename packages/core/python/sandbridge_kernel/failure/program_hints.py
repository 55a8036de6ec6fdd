"""Advice for a cell that ran another program: one that is missing, or that has no network here."""

from __future__ import annotations

import os
import re
from subprocess import CalledProcessError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType
    from typing import Any

INSTALLERS = frozenset("pip pip3 uv pipx poetry conda mamba apt apt-get apk dnf yum brew npm npx yarn pnpm".split())
_NETWORK = frozenset(
    "curl wget ssh scp sftp rsync ftp telnet nc ping dig nslookup aws gcloud az gh kubectl psql mysql".split()
)
_GIT_REACHES_OUT = frozenset(("clone", "fetch", "pull", "push", "ls-remote", "submodule"))
_SHELL_PARTS = re.compile(r"[;&|\n]+")
_WROTE_CHARS = 800
_SHELLS = frozenset(("sh", "bash", "/bin/sh", "/bin/bash"))


def program_advice(error: BaseException, no_network: str, installing: Callable[[], str]) -> dict[str, str] | None:
    """Returns a dict with `hint`, and sometimes `search`, or None. `no_network` is advice about the network, `installing()` about packages."""
    started, folder = _started(error.__traceback__)
    if isinstance(error, BlockingIOError) and started is not None:
        return {
            "hint": "This sandbox has as many processes as it may have. End those that earlier cells left running, from Python. "
            "The user can set MCP_BRIDGE_PIDS."
        }
    cannot_start = _cannot_start(error)
    if isinstance(error, CalledProcessError):
        command, is_missing = error.cmd, error.returncode == 127
    else:
        command = started
        is_missing = isinstance(error, FileNotFoundError) and error.filename != folder
    if command is None and not cannot_start:
        return None
    commands = _commands(command)
    for name, words in commands:
        if name in INSTALLERS:
            return {"hint": installing()}
        if name in _NETWORK:
            return {"hint": no_network, "search": "fetch web page url"}
        if name == "git" and _GIT_REACHES_OUT.intersection(words):
            return {"hint": no_network, "search": "git repository read file"}
    if cannot_start:
        return {"hint": "No program can be started in this sandbox: do it in Python."}
    if is_missing:
        name = next((name for name, _ in commands), "") if len(commands) == 1 else ""
        return {
            "hint": f"There is no program {name} in this sandbox: do it in Python."
            if name
            else "A program is not there: do it in Python."
        }
    wrote = getattr(error, "stderr", None) or getattr(error, "output", None)  # captured, so not shown
    text = wrote.decode("utf-8", "replace") if type(wrote) is bytes else wrote if type(wrote) is str else ""
    return {"hint": f"It wrote: {text.strip()[-_WROTE_CHARS:]}"} if text.strip() else None


def _cannot_start(error: BaseException) -> bool:
    if isinstance(error, NotImplementedError):
        return any(frame.f_code.co_name.startswith("create_subprocess_") for frame in _frames(error.__traceback__))
    return isinstance(error, OSError) and "does not support processes" in str(error.strerror)


def _started(traceback: TracebackType | None) -> tuple[Any, Any]:
    """Returns the command that the library was about to start, and its folder: if that is missing, the error is about it."""
    for frame in _frames(traceback):
        if frame.f_globals.get("__name__") == "subprocess" and frame.f_code.co_name == "__init__":
            return frame.f_locals.get("args"), frame.f_locals.get("cwd")
        if frame.f_code.co_name == "create_subprocess_exec":
            return [frame.f_locals.get("program"), *frame.f_locals.get("args", ())], None
        if frame.f_code.co_name == "create_subprocess_shell":
            return frame.f_locals.get("cmd"), None
    return None, None


def _frames(traceback: TracebackType | None) -> Iterator[FrameType]:
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith("Cell "):
            yield traceback.tb_frame
        traceback = traceback.tb_next


def _commands(command: Any) -> list[tuple[str, list[str]]]:
    """Returns (program, its arguments) for every program in a command."""
    if type(command) is str:
        parts = [part.split() for part in _SHELL_PARTS.split(command[:2000])]
    elif type(command) in (list, tuple):
        words = [word for word in command[:50] if type(word) is str]
        if len(words) == 3 and words[0] in _SHELLS and words[1] == "-c":
            return _commands(words[2])
        parts = [words]
    else:
        return []
    found = []
    for words in parts:
        while words and (words[0] == "sudo" or re.match(r"\w+=", words[0])):
            words = words[1:]
        if words[1:3] in (["-m", "pip"], ["-m", "uv"]):
            words = words[2:]
        if words:
            found.append((os.path.basename(words[0]), words[1:]))
    return found
