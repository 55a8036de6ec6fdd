"""What commands of IPython do in a cell: times, shell commands, files. Their lines become calls of these functions (magics.py)."""

from __future__ import annotations

import builtins
import os
import re
import sys
import time
from io import StringIO
from operator import itemgetter
from typing import TYPE_CHECKING

from ..show import ipython
from ..show.tables import outline

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

NAME = "__sandbridge_notebook__"  # of this module, as a builtin

_MAX_LOOPS = 10**8
_LONG_SECONDS = 0.2
_UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "μs"), (1e-9, "ns"))

_TOLD_CHARS = 80
_started: tuple[float, float, float] | None = None
_capturing: ipython.capture_output | None = None


def start() -> None:
    """`%time` and `%%time`: until `stop`, or the end of the cell."""
    global _started
    _started = *_used(), time.perf_counter()


def _used() -> tuple[float, float]:
    """The processor time of this process: for its own code, and in the system."""
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:  # in the embedded sandbox
        return time.process_time(), 0.0
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime, used.ru_stime


def stop() -> None:
    """Print the time since `start`, if it was called."""
    global _started
    if _started is None:
        return
    wall, (user, system) = time.perf_counter() - _started[2], _used()
    user, system = user - _started[0], system - _started[1]
    _started = None
    print(
        f"CPU times: user {_span(user)}, sys: {_span(system)}, total: {_span(user + system)}\nWall time: {_span(wall)}"
    )


def capture(target: str, *kinds: bool) -> None:
    """`%%capture`: until the end of the cell."""
    global _capturing
    _capturing = ipython.capture_output(*kinds)
    made = _capturing.__enter__()
    if target:
        sys._getframe(1).f_globals[target] = made  # noqa: SLF001


def end() -> None:
    """Of the cell."""
    global _capturing
    stop()
    if _capturing is not None:
        _capturing.__exit__()
        _capturing = None


def who(kinds: str, frame: FrameType | None = None) -> list[str]:
    """`%who_ls`: the names that cells have made, of these kinds."""
    names = (frame or sys._getframe(1)).f_globals  # noqa: SLF001
    return sorted(
        name
        for name, value in names.items()
        if not name.startswith(("_", "mcp"))
        and name not in ("runtime", "LOADED_MCP_SERVERS")
        and (not kinds or type(value).__name__ in kinds.split())
        and not type(value).__module__.startswith("sandbridge_kernel.api")
    )


def whos(kinds: str) -> None:
    """`%whos`."""
    frame = sys._getframe(1)  # noqa: SLF001
    rows = [("Variable", "Type", "Data/Info")]
    for name in who(kinds, frame):
        value = frame.f_globals[name]
        told = outline(value) or (
            f"n={len(value)}" if isinstance(value, (dict, list, set, tuple)) else str(value).replace("\n", "\\n")
        )
        rows.append((name, type(value).__name__, told if len(told) <= _TOLD_CHARS else f"{told[:_TOLD_CHARS]}…"))
    widths = [max(map(len, column)) for column in zip(*rows)]
    print("\n".join(f"{name:{widths[0]}}   {kind:{widths[1]}}   {told}" for name, kind, told in rows))


def timeit(statement: str, setup: str = "pass", number: int = 0, repeat: int = 7) -> None:
    """`%timeit` and `%%timeit`, with the names of the caller."""
    from statistics import fmean, pstdev
    from timeit import Timer

    frame: FrameType = sys._getframe(1)  # noqa: SLF001
    timer = Timer(statement, setup, globals={**frame.f_globals, **frame.f_locals})
    if not number:
        number = 1
        while number < _MAX_LOOPS and timer.timeit(number) < _LONG_SECONDS:
            number *= 10
    runs = [total / number for total in timer.repeat(repeat, number)]
    loops = f"{number:,} loop{'s' if number > 1 else ''}"
    print(
        f"{_span(fmean(runs))} ± {_span(pstdev(runs))} per loop (mean ± std. dev. of {repeat} run{'s' if repeat > 1 else ''}, {loops} each)"
    )


def shell(command: str, captured: bool = False) -> list[str] | None:
    """`!command`; with `captured`, returns its lines."""
    import subprocess
    from shlex import quote
    from shutil import which

    command = _expanded(command, sys._getframe(1))  # noqa: SLF001
    if not which("python"):
        command = f'python() {{ {quote(sys.executable)} "$@"; }}\n{command}'
    bash = which("bash")
    kept: dict[str, int] = {}
    if captured or isinstance(sys.stdout, StringIO):  # both in order, as on a terminal
        kept = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, shell=True, executable=bash, text=True, **kept)  # type: ignore[call-overload]
    vars(builtins)["_exit_code"] = done.returncode
    if captured:
        return Lines(done.stdout.splitlines())
    print(done.stdout or "", end="")
    _tell(done.returncode)
    return None


class Lines(list[str]):
    """What `x = !command` has printed, with IPython's other forms of it."""

    l = property(list)  # noqa: E741
    n = property("\n".join)
    s = property(" ".join)


def script(program: str, text: str) -> None:
    """`%%bash`, `%%python` and their like: the program reads the text as it stands."""
    import subprocess
    from shlex import split
    from shutil import which

    name, *options = split(_expanded(program, sys._getframe(1)))  # noqa: SLF001
    path = sys.executable if name.startswith("python") else which(name) or {"bash": "sh"}.get(name, name)
    _tell(subprocess.run([path, *options], input=text, text=True).returncode)


def _tell(code: int) -> None:
    if code:
        print(f"(exit code {code})", file=sys.stderr)


def run(words: str) -> None:
    """`%run`: with `-i` the file has the names of the cell, too; `-m` runs a module; other options say how to measure it."""
    from runpy import run_module
    from shlex import split

    frame = sys._getframe(1)  # noqa: SLF001
    path, *options = split(_expanded(words, frame)) or [""]
    has_names = is_module = False
    while path.startswith("-") and options:
        has_names, is_module = has_names or path == "-i", is_module or path == "-m"
        path, *options = options
    if not is_module and not path.endswith(".py"):
        path += ".py"
    made: dict[str, Any] = {**(frame.f_globals if has_names else {}), "__name__": "__main__", "__file__": path}
    before, folder = sys.argv, os.path.dirname(os.path.abspath(path))
    sys.argv = [path, *options]
    sys.path.insert(0, folder)
    try:
        if is_module:
            made = run_module(path, run_name="__main__")
        else:
            with open(path, encoding="utf-8") as file:
                exec(compile(file.read(), path, "exec"), made)
    except SystemExit as error:
        if error.code not in (None, 0):
            raise
    finally:
        sys.argv = before
        if folder in sys.path:
            sys.path.remove(folder)
        frame.f_globals.update({name: value for name, value in made.items() if not name.startswith("__")})


def prun(statement: str) -> None:
    """`%prun`: which functions took how long."""
    from cProfile import runctx

    frame = sys._getframe(1)  # noqa: SLF001
    runctx(statement, frame.f_globals, frame.f_locals, sort="tottime")


def reset() -> None:
    """`%reset`: deletes the names that cells have made."""
    names = sys._getframe(1).f_globals  # noqa: SLF001
    for name in who("", sys._getframe(1)):  # noqa: SLF001
        del names[name]


def look(value: object, is_whole: bool) -> None:
    """`value?`: what it is; `value??`: its source."""
    import inspect

    named = inspect.isroutine(value) or isinstance(value, type) or inspect.ismodule(value)
    try:
        source = inspect.getsource(value) if is_whole else ""  # type: ignore[arg-type]
    except (OSError, TypeError):
        source = ""
    try:
        signature = f"{getattr(value, '__name__', '')}{inspect.signature(value)}"  # type: ignore[arg-type]
    except (TypeError, ValueError):
        signature = ""
    text = "" if named else str(value)
    told = {
        "Signature": signature,
        "Type": type(value).__name__,
        "String form": text if len(text) <= _TOLD_CHARS else f"{text[:_TOLD_CHARS]}…",
        "Length": str(len(value)) if hasattr(type(value), "__len__") else "",  # type: ignore[arg-type]
        "Source" if source else "Docstring": source or inspect.getdoc(value) or "<no docstring>",
    }
    for what, said in filter(itemgetter(1), told.items()):
        print(f"{what}:" + ("\n" if "\n" in said else " ") + said.rstrip("\n"))


def env(words: str) -> dict[str, str] | str | None:
    """`%env`: all variables, the value of one, or a new value."""
    words = _expanded(words, sys._getframe(1))  # noqa: SLF001
    if found := re.match(r"(\w+)[= ]\s*(.*)$", words):
        os.environ[found[1]] = found[2]
        print(f"env: {found[1]}={found[2]}")
        return None
    return os.environ[words] if words else dict(os.environ)


def cd(path: str) -> None:
    """`%cd`; `-` is the folder before."""
    left, path = os.getcwd(), _expanded(path.strip("\"'"), sys._getframe(1))  # noqa: SLF001
    os.chdir(os.environ.get("OLDPWD", left) if path == "-" else os.path.expanduser(path or "~"))
    os.environ["OLDPWD"] = left
    print(os.getcwd())


def write(path: str, text: str, adds: bool) -> None:
    """`%%writefile`."""
    path = _expanded(path, sys._getframe(1))  # noqa: SLF001
    told = "Appending to" if adds else "Overwriting" if os.path.exists(path) else "Writing"
    with open(path, "a" if adds else "w", encoding="utf-8") as file:
        file.write(text if text.endswith("\n") else text + "\n")
    print(f"{told} {path}")


def show(kind: str, text: str) -> None:
    """`%%html` and its like."""
    ipython.display(getattr(ipython, "SVG" if kind == "svg" else "HTML" if kind == "html" else kind.capitalize())(text))


def _expanded(command: str, frame: FrameType) -> str:
    """`{expression}` and `$name` stand for Python's values, `$name` not in single quotes, and `{{` for a brace; what is none of
    them stays for the shell."""
    names: dict[str, Any] = {**frame.f_globals, **frame.f_locals}

    def value(found: re.Match[str]) -> str:
        if found[1] is not None:
            return f"{{{found[1]}}}"
        if found[3]:
            is_quoted = command.count("'", found.start()) % 2
            return str(names[found[3]]) if found[3] in names and not is_quoted else found[0]
        try:
            return str(eval(f'f"""{{{found[2]}}}"""', names))
        except Exception:
            return found[0]

    return re.sub(r"\{\{([^{}\n]*)\}\}|(?<!\$)\{([^{}\n]+)\}|\$([A-Za-z_]\w*)", value, command)


def _span(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size * 0.9995:  # what is written as 1,000 is one of the next unit
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
