"""Commands of IPython as Python: `%matplotlib inline`, `%%time`, `!ls`. Pure. What runs then is in notebook.py."""

from __future__ import annotations

import re
from ast import PyCF_ONLY_AST
from typing import TYPE_CHECKING, NamedTuple

from ..failure.program_hints import INSTALLERS
from ..run.notebook import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAGIC = re.compile(r"(\s*)(%%?)[ \t]*(\w+|!)(?:[ \t]+(.*))?$", re.DOTALL)
_SHELL = re.compile(r"(\s*)(?:!{1,2}|\$ )(.*)$", re.DOTALL)
_ASSIGNED = re.compile(
    r"(\s*[A-Za-z_][\w.]*(?:\[[^\]\n]*\])?(?: *, *\w+)*,?)\s*=\s*(?:!(.+)|%(\w+)[ \t]*(.*))$", re.DOTALL
)
_HELP = re.compile(r"(\s*)(\?{0,2})[ \t]*([A-Za-z_][\w.]*)[ \t]*(\?{0,2})\s*$")
_NEEDLESS = {
    "matplotlib": "figures are shown without it",
    **dict.fromkeys(("config", "xmode", "colors", "automagic", "autosave", "gui", "pdb"), "it has no meaning here"),
    **dict.fromkeys(("load_ext", "reload_ext", "unload_ext"), "cells have no extensions"),
    "precision": "write f'{x:.3f}' or use round(x, 3)",
    "autoreload": "use importlib.reload(module)",
}
_LINES = {
    "cd": f"{NAME}.cd({{}})",
    "pwd": "__import__('os').getcwd()",
    **dict.fromkeys(("env", "set_env"), f"{NAME}.env({{}})"),
    "run": f"{NAME}.run({{}})",
    "reset": f"{NAME}.reset()",
    "prun": f"{NAME}.prun({{}})",
    "who": f"print(*{NAME}.who({{}}))",
    "who_ls": f"{NAME}.who({{}})",
    "whos": f"{NAME}.whos({{}})",
}
_SHELL_MAGICS = frozenset(("system", "sx", "!"))
_SCRIPTS = frozenset(("script", "bash", "sh", "python", "python3", "perl", "ruby"))
_SHELL_NAMES = frozenset(("ls", "cat", "cp", "mv", "rm", "mkdir", "rmdir", "head", "tail", "wc", "echo"))
_PROGRAMS = frozenset(
    "awk chmod curl docker export find git grep make node python python3 sed source tar touch unzip wget which".split()
)
# Without a sign, as IPython reads them, too.
_BARE = re.compile(rf"(\s*)({'|'.join(sorted(INSTALLERS | _SHELL_NAMES | _PROGRAMS | {'cd'}))})[ \t]+(.+)$", re.DOTALL)
_SHOWN = frozenset(("html", "markdown", "latex", "svg"))
# What an installer is to install, up to the next command, and its options that have a value.
_INSTALLS = re.compile(r"\b(?:install|add)\b([^;&|]*)")
_VALUES = re.compile(r"(?:-[crfit]|--[\w-]*(?:url|links|target|channel)) \S+")
_OF_PYTHON = frozenset(("pip", "pip3", "uv", "pipx", "poetry", "conda", "mamba"))
_LISTED = "runtime.packages() lists what is there."
_TIMEIT_OPTIONS = re.compile(r"-([nr])\s*(\d+)\s+|-([tcpqo])\s+")


class Magic(NamedTuple):
    source: str
    note: str = ""
    takes_rest: bool = False  # it stands for the lines after it, too


def translated(line: str, rest: Sequence[str], is_first: bool, is_last: bool) -> Magic | str | None:
    """Returns what a line means in Python; a hint if it is a command that has no meaning here; None for Python."""
    if found := _ASSIGNED.match(line):
        target, command, name, words = found.groups()
        if name == "time":
            return Magic(f"{NAME}.start(); {target.rstrip()} = {words}; {NAME}.stop()")
        if command or name in _SHELL_MAGICS:
            return _shell("", command or words, f"{target.rstrip()} = ")
        made = _magic("", False, name, words, rest, is_last)
        is_value = isinstance(made, Magic) and (name in ("pwd", "who_ls") or (name == "env" and "=" not in words))
        return Magic(f"{target} = {made.source}") if is_value else _not_here(f"%{name}")  # type: ignore[union-attr]
    if found := _SHELL.match(line):
        return _shell(found[1], found[2].strip())
    if found := _MAGIC.match(line):
        indent, sign, name, words = found[1], found[2], found[3], (found[4] or "").strip()
        if sign == "%%" and not is_first:
            return f"%%{name} stands only on the first line of a cell."
        return _magic(indent, sign == "%%", name, words, rest, is_last)
    if (found := _BARE.match(line)) and not _is_python(line):
        if found[2] in _PROGRAMS:
            return f"Begin a command of a shell with `!`: `!{line.strip()[:80]}`."
        return _magic(found[1], False, found[2], found[3], rest, is_last)
    if (found := _HELP.match(line)) and (found[2] or found[4]):
        return Magic(f"{found[1]}{NAME}.look({found[3]}, {'??' in (found[2], found[4])})")
    return None


def _magic(indent: str, is_cell: bool, name: str, words: str, rest: Sequence[str], is_last: bool) -> Magic | str:
    body = "\n".join(rest)
    if name in _NEEDLESS:
        shown = f"{'%' * (1 + is_cell)}{name} {words}".strip()
        return Magic(f"{indent}pass" if indent else "", f"`{shown}` was left out: {_NEEDLESS[name]}.")
    if name == "time":
        if is_cell:
            return Magic(f"{NAME}.start()" + (f"; {words}" if words else ""))
        end = [] if is_last and not indent else [f"{NAME}.stop()"]
        return Magic(indent + "; ".join(filter(None, (f"{NAME}.start()", words, *end))))
    if name == "timeit":
        return _timeit(indent, words, body if is_cell else None)
    if name in INSTALLERS:
        return _shell(indent, f"{name} {words}")
    if is_cell and name in _SHELL_MAGICS | _SCRIPTS and "--" not in words:
        program = words if name == "script" else f"{name if name in _SCRIPTS else 'bash'} {words}"
        return Magic(f"{NAME}.script({program!r}, {body!r})", takes_rest=True)
    if is_cell and name in ("writefile", "file"):
        path = words.removeprefix("-a").strip().strip("\"'")
        return Magic(f"{NAME}.write({path!r}, {body!r}, {words.startswith('-a')})", takes_rest=True)
    if is_cell and name.lower() in _SHOWN:
        return Magic(f"{NAME}.show({name.lower()!r}, {body!r})", takes_rest=True)
    if is_cell and name == "capture":
        target = next((word for word in words.split() if word.isidentifier()), "")
        kinds = ", ".join(str(f"--no-{kind}" not in words) for kind in ("stdout", "stderr", "display"))
        return Magic(f"{NAME}.capture({target!r}, {kinds})")
    if is_cell and name == "prun":
        return Magic(f"{NAME}.prun({body!r})", takes_rest=True)
    if name == "cd" and re.search(r"&&|;", words):
        return _shell(indent, f"cd {words}")
    if not is_cell and (made := _LINES.get(name)):
        return Magic(indent + made.format(repr(words)))
    if not is_cell and (name in _SHELL_NAMES or name in _SHELL_MAGICS):
        return _shell(indent, f"{name if name in _SHELL_NAMES else ''} {words}".strip())
    return _not_here(f"{'%' * (1 + is_cell)}{name}")


def _is_python(line: str) -> bool:
    try:
        compile(line.strip(), "", "exec", PyCF_ONLY_AST)
    except (SyntaxError, ValueError):
        return False
    return True


def _not_here(command: str) -> str:
    return f"Cells do not run the IPython command {command}: write it in Python."


def _timeit(indent: str, words: str, body: str | None) -> Magic:
    options: dict[str, int] = {}
    while found := _TIMEIT_OPTIONS.match(words + " "):
        if found[1]:
            options[{"n": "number", "r": "repeat"}[found[1]]] = int(found[2])
        words = words[found.end() :]
    more = "".join(f", {name}={value}" for name, value in options.items())
    if body is None:
        return Magic(f"{indent}{NAME}.timeit({words!r}{more})")
    return Magic(f"{NAME}.timeit({body!r}, {words or 'pass'!r}{more})", takes_rest=True)


def _shell(indent: str, command: str, target: str = "") -> Magic | str:
    words = command.split()
    name = words[0] if words else ""
    if words[1:3] == ["-m", "pip"]:
        words = words[2:]
        name = "pip"
    if name == "sudo":
        words = words[1:]
        name = words[0] if words else ""
    if name in INSTALLERS:
        from ..failure.hints import installing

        found = _INSTALLS.search(re.sub(r"\s[12&]?>.*", "", " ".join(words)))
        wanted = [_requirement(word) for word in _VALUES.sub("", found[1]).split() if word[0] != "-"] if found else []
        if name not in _OF_PYTHON or any("/" in word for word in wanted):
            wanted = []
        if words[1:2] == ["install"] and wanted and not target and all(map(_is_there, wanted)):
            return Magic(
                f"{indent}pass" if indent else "",
                f"`{command}` was left out: {', '.join(wanted)} can be imported already.",
            )
        wanted = [name for name in wanted if not _is_there(name)]
        return installing(wanted=" ".join(wanted) or "NAME") if found else f"{_LISTED} {installing()}"
    if not name:
        return "There is no command after `!`."
    captured = ", True" if target else ""
    return Magic(f"{indent}{target}{NAME}.shell({command!r}{captured})")


def _requirement(word: str) -> str:
    return re.split(r"[<>=!~;\[]", word.strip("\"'"))[0]


def _is_there(name: str) -> bool:
    from ..failure.hints import has_package

    return has_package(name)
