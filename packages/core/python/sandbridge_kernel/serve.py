"""Runs a kernel from start to end: connects its parts, sends `ready`, and runs one cell after another."""

from __future__ import annotations

import builtins
import json
import os
import sys
import time
from typing import TYPE_CHECKING

from .api import bridge, compat, install
from .api.servers import registry
from .data import values
from .failure import hints
from .run import kept_modules, signals
from .run.after_import import after_import
from .run.interrupts import Interrupts
from .run.started_programs import StartedPrograms
from .session import Session, fitting
from .show.capture import Capture
from .show.output import Output
from .wire import frames
from .wire.channel import Channel

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from .run.projects import Projects
    from .wire.frame_types import CellError
    from .wire.port import Port


_STACK_BYTES = 1 << 20


def serve_pipes(bell: int | None = None) -> None:
    """Serve frames on file descriptors 0 and 1. Never returns."""
    import threading

    from .wire.port_pipe import PipePort

    # Of each thread from now on. By default, 8 MiB count as memory of the sandbox, of which it may have 448.
    threading.stack_size(_STACK_BYTES)

    port = PipePort(bell)
    log = os.dup(2)
    interrupts, channel, output, capture = connect(port)
    port.watch(channel, interrupts)
    programs = StartedPrograms(channel, interrupts, port.is_unheard)

    def look_after() -> None:
        port.nudge()
        programs.look()

    capture.start_thread(look_after)

    def after_fork() -> None:
        for part in (interrupts, channel, output, capture):
            part.after_fork()
        signals.after_fork_in_child()

    def before_fork() -> None:
        output.flush()
        programs.note_start()
        signals.before_fork()

    os.register_at_fork(before=before_fork, after_in_parent=signals.after_fork_in_parent, after_in_child=after_fork)

    def starts(_: object) -> None:
        output.flush()  # a program's output must follow what the cell printed before it started the program
        programs.note_start()

    watched: dict[str, Callable[[Any], object]] = dict.fromkeys(_STARTS, starts)
    watched["open"] = lambda args: capture.note_opened(args[0])
    watched["ctypes.dlopen"] = lambda _: setattr(output, "mixed", True)
    sys.addaudithook(lambda event, args: watched[event](args) if event in watched else None)
    capture.wrap_write()
    after_import("ctypes", output.watch_c)
    sleep = time.sleep

    def sleep_flushed(seconds: float, /) -> None:
        output.flush()
        sleep(seconds)

    time.sleep = like(sleep, sleep_flushed)

    try:
        from .run.loop import PipeLoop

        serve_cells(interrupts, channel, output, capture, lambda: PipeLoop(port, channel, output, interrupts), programs)
    except BaseException:
        # An error in the kernel itself. It goes to the sandbox's log, not to the cell's output.
        from traceback import format_exc

        os.write(log, format_exc()[-4000:].encode("utf-8", "replace"))
        os._exit(1)


_STARTS = frozenset(("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"))


def connect(port: Port) -> tuple[Interrupts, Channel, Output, Capture]:
    interrupts = Interrupts()
    channel = Channel(port, interrupts)
    output = Output(channel, interrupts)
    capture = Capture(channel, output, interrupts)
    return interrupts, channel, output, capture


def like(original: Callable[..., Any], wrapper: Callable[..., Any]) -> Any:
    wrapper.__name__ = wrapper.__qualname__ = original.__name__
    wrapper.__doc__, wrapper.__module__ = original.__doc__, original.__module__
    return wrapper


def _ask(prompt: object = "", /) -> str:
    """Python's own takes an interrupt that arrives while it flushes for an error that does not matter."""
    sys.stdout.write(str(prompt))
    sys.stdout.flush()
    if not (line := sys.stdin.readline()):
        raise EOFError("EOF when reading a line")
    return line.removesuffix("\n")


def ready(channel: Channel) -> None:
    version = ".".join(map(str, sys.version_info[:3]))
    channel.send({"type": "ready", "protocol": frames.PROTOCOL_VERSION, "python": version, "platform": sys.platform})


def carry_over() -> ModuleType:
    from .run import checkpoint  # imported only if used

    return checkpoint


def files_to_keep(channel: Channel, interrupts: Interrupts) -> Projects:
    from .run.projects import Projects  # imported only if the bridge keeps files

    return Projects(channel, interrupts)


def _end_fork(error: CellError | None, output: Output) -> None:
    """A forked child has reached the end of the cell, and only the parent continues. The child ends as a program does."""
    told = error and (f"{error['message']}\n" if error["name"] == "SystemExit" else error["traceback"])
    if told and not told.strip("-\n").isdigit():
        output.stderr.write(told)
        output.flush()
        told = "1"
    os._exit(int(told or 0) & 255)


def serve_cells(
    interrupts: Interrupts,
    channel: Channel,
    output: Output,
    capture: Capture,
    new_loop: Callable[[], asyncio.AbstractEventLoop],
    programs: StartedPrograms | None = None,
) -> None:
    bridge.connect(channel, output)
    install.install_modules()
    json.loads = like(json.loads, values.loads)
    signals.guard(interrupts)
    builtins.input = like(input, _ask)
    sys.argv = ["sandbridge"]
    if "" not in sys.path:
        sys.path.append("")  # modules that a cell writes; after all others, whose names they may have
    sys.dont_write_bytecode = True  # of one that is written twice in a second, it would be that of the first
    session = Session(channel, output, interrupts, new_loop)
    kept_modules.keep()
    ready(channel)
    projects = None
    while True:
        frame = channel.next_run()
        channel.begin_cell(frame["cell"])
        compat.switch(frame.get("compat") is True)
        install.install_servers(session.namespace, frame.get("servers"))
        registry.named = frame.get("named") is True
        hints.lost = frame.get("lost") or hints.lost
        if absent := frame.get("missing"):
            hints.missing = {one["name"]: one["reason"] for one in absent}
        restored = frame.get("restore") and carry_over().restore(session.namespace, frame["restore"])
        revision = frame.get("projects")
        if projects is None and isinstance(revision, str):
            projects = files_to_keep(channel, interrupts)
        brought = projects and projects.bring(revision)
        interrupts.raised = False
        capture.take_over()
        if programs:
            programs.of_python = frame.get("language", "python") == "python"
        done = session.run(frame["cell"], frame["code"], frame.get("json") is True, frame.get("language", "python"))
        is_own_end, failed, late = not interrupts.raised, None, False
        ended = programs.end() if programs and interrupts.raised else []
        output.flush_others(capture.is_here)
        if frame.get("checkpoint"):
            failed, late = carry_over().hand_over(channel, interrupts, session.namespace)
        not_kept = projects and projects.hand_over(late or done["status"] == "interrupted")
        if notes := [note for note in (restored, brought, failed, not_kept, *ended) if note]:
            done["notes"] = notes + done.get("notes", [])
        if is_own_end and (projects or frame.get("checkpoint")):
            done["uninterrupted"] = True
        output.flush()
        if channel.detached:
            _end_fork(done.get("error"), output)
        capture.drain()
        if told := hints.of_stderr(output.stderr_end):
            if "error" in done:
                done["error"]["hint"] = told
            else:
                done["notes"] = [*done.get("notes", []), told]
        channel.end_cell()
        channel.send_line(fitting(done))
        del frame, done
