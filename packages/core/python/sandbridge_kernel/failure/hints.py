"""Finds advice for errors of a cell: `hint` is for the reader, `search` is a query for tools that can do what the
sandbox cannot."""

from __future__ import annotations

import linecache
import os
import re
import sys
from typing import TYPE_CHECKING

from .other_pythons import NO_BROWSER, NO_PROCESSES, of_other_pythons
from .outside_hints import NETWORK_MODULES, NO_NETWORK_HINT, chain_of, frames_of, of_host_file, of_network

if TYPE_CHECKING:
    _Advice = dict[str, str] | None

_MAX_PACKAGES = 15
_OF_PROCESSES = frozenset(("_multiprocessing", "_posixsubprocess", "_posixshmem"))
_LOST_FUNCTION = re.compile(r"Can't get attribute .* on <module '__main__'")
_NOT_INSTALLED = re.compile(r"No module named '?pip\b|\bpip3?: (?:command )?not found|No matching distribution")
_SPAWNED_HINT = (
    "Processes that are spawned cannot see functions and classes of cells. Fork them: "
    'multiprocessing.get_context("fork").Pool(…), ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")).'
)
# Packages whose name differs from that of their module.
_DISTRIBUTIONS = dict(
    pair.split("=")
    for pair in (
        "sklearn=scikit-learn PIL=pillow cv2=opencv-python-headless bs4=beautifulsoup4 yaml=pyyaml docx=python-docx "
        "dateutil=python-dateutil skimage=scikit-image pptx=python-pptx dotenv=python-dotenv fitz=pymupdf jwt=pyjwt "
        "Crypto=pycryptodome serial=pyserial dns=dnspython faiss=faiss-cpu umap=umap-learn slugify=python-slugify"
    ).split()
)
# In the error of a package without one that it needs for this.
_WANTED = re.compile(
    r"(?:dependency|install|requires) (?:the )?[`'\"]*((?!(?:it|or|python)\b)[a-z][\w-]+)|([a-z][\w-]+) (?:not found|is not installed)"
)
ATTACHED = "__sandbridge_hint__"
TOLD = "__sandbridge_advice__"  # of an error that the kernel itself knows the hint for


# Why variables of earlier cells are gone, as frames say it; None if they are not. Set with the first cell after that.
lost: str | None = None
_LOST = {
    "reset": "the session was reset, and variables of earlier cells are gone.",
    "fresh": "each cell has its own sandbox, so no variable is kept.",
    "ended": "the sandbox of earlier cells was lost, and their variables with it.",
    "exited": "the sandbox of earlier cells exited, and their variables are gone.",
    "idle": "the session was idle for too long and ended, and its variables are gone.",
}
# Configured packages that this sandbox does not have: name and reason. Set with the first cell.
missing: dict[str, str] = {}


def advice(error: BaseException) -> dict[str, str]:
    """Returns a dict with `hint`, and sometimes `search`; empty if there is no advice. Omits a hint that the error already contains."""
    found = found_for(error)
    if getattr(error, ATTACHED, False) is True:
        found.pop("hint", None)
    return found


def found_for(error: BaseException) -> dict[str, str]:
    try:
        if hint := getattr(error, TOLD, None):
            return {"hint": str(hint)}
        of_names = _coroutine, _plain_call, _mcp_result, _event_loop, _server_name, _of_notebooks, _lost_name, _module
        for find in (*of_names, _keyboard, _time_zones, of_network, _memory, _program, of_host_file, of_other_pythons):
            if found := find(error):
                return found
    except Exception:  # the cell's own exception class may raise
        pass
    return {}


# "A coroutine was expected" says that the value is none.
_IS_COROUTINE = re.compile(r"(?<!\ba )\bcoroutine\b", re.IGNORECASE)


def _coroutine(error: BaseException) -> _Advice:
    if isinstance(error, TypeError) and str(error).startswith("'async_generator' object is not iter"):
        return {"hint": "`await` in a generator makes it asynchronous: write a list, [await f(x) for x in …]."}
    if not isinstance(error, (TypeError, AttributeError)) or not _IS_COROUTINE.search(str(error)):
        return None
    return {"hint": "This value is a coroutine, not a result: write `await` before the call that made it."}


# "object list can't be used in 'await' expression", and since Python 3.14 "'list' object can't be awaited".
_AWAITED = re.compile(r"(?:object )?'?(\w+)'? (?:object )?can't be ")
_MANY = frozenset(("list", "tuple", "set", "generator"))
_UNCALLED = frozenset(("function", "method", "ToolProxy"))


def _plain_call(error: BaseException) -> _Advice:
    if not isinstance(error, TypeError) or not re.search(r"can't be (used in 'await' expression|awaited)", str(error)):
        return None
    kind = _AWAITED.search(str(error))
    if kind and kind[1] in _UNCALLED:
        return {"hint": "The function after `await` is not called: write `await name(…)`."}
    plain = "In runtime, discovered_servers, describe_server and names ending in _sync are plain calls."
    if kind and kind[1] in _MANY:
        return {
            "hint": f"A {kind[1]} cannot be awaited. If it holds calls: `await asyncio.gather(*calls)`; else remove `await`. {plain}"
        }
    return {"hint": f"This call is not async; remove `await`. {plain}"}


_RESULT_KEY = re.compile(
    r"""(?:(?<![\w.])(?P<name>[A-Za-z_]\w*)\s*)?"""
    r"""(?:\[\s*["']|\.get\(\s*["']|\.)(?P<key>content|structuredContent|isError)\b"""
)


def _mcp_result(error: BaseException) -> _Advice:
    """The cell uses a native value as if it were the MCP result."""
    if not isinstance(error, (KeyError, TypeError, AttributeError)):
        return None
    frames = [(frame, number) for frame, number in frames_of(error) if frame.f_code.co_filename.startswith("Cell ")]
    if not frames:
        return None
    frame, number = frames[-1]
    line = linecache.getline(frame.f_code.co_filename, number)
    found = _RESULT_KEY.search(line)
    text = str(error)
    if not found or not (
        found["key"] in text or re.search(r"indices must be|not subscriptable|has no attribute 'get'", text)
    ):
        return None
    if type(frame.f_locals.get(found["name"], frame.f_globals.get(found["name"]))) is dict:
        return None  # the cell's own: calls give Records
    return {
        "hint": "A call gives the tool's value itself, not an MCP result: drop the index and use the value. "
        "`await mcp_x.tool(…, raw=True)` gives the MCP result with `content`."
    }


def _server_name(error: BaseException) -> _Advice:
    name = getattr(error, "name", None)
    if not isinstance(error, NameError) or not isinstance(name, str) or not name.startswith("mcp_"):
        return None
    from ..api.errors import ServerNotFound
    from ..api.servers import registry

    return {"hint": registry.not_found(name.removeprefix("mcp_"), ServerNotFound).hint}


_SHELL_WORDS = frozenset("ls cd pwd cat pip conda mkdir git".split())
_ELSEWHERE = {
    "IPython": "Of IPython, cells have IPython.display, without its shell: write the rest in Python.",
    "mcp": "This mcp is not the SDK. The servers are connected: `await mcp_NAME.TOOL(…)`, mcp_servers.",
    **dict.fromkeys(("js", "pyodide", "pyodide_js"), NO_BROWSER),
    "ipywidgets": "Cells have no widgets: call the function with each value, and show the results.",
    "google": "google.colab is only in Colab: files are in /workspace and /projects. "
    "Other parts are packages: `sandbridge packages add google-cloud-storage`.",
}
_SAID = {"null": "None", "true": "True", "false": "False"}
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}


def _of_notebooks(error: BaseException) -> _Advice:
    """What belongs to IPython, to Colab, to a shell, to JSON, or to the SDK of MCP."""
    name = str(getattr(error, "name", None))
    if isinstance(error, NameError):
        if name in _SHELL_WORDS:
            return {"hint": f"Begin a command of a shell with `!`: `!{name}`; a folder is changed with `%cd`."}
        if name in _ENTITIES:
            return {"hint": f"Write {_ENTITIES[name]} as it is, not as &{name};."}
        if name == "__file__":
            return {"hint": "A cell is no file: Path.cwd() is its folder."}
        if name in ("python", "py"):
            return {"hint": "A cell has its code alone: take the word out."}
        if name == "In" and (frames := frames_of(error)):
            line = linecache.getline(frames[-1][0].f_code.co_filename, frames[-1][1])
            if re.match(r"\s*In ?\[\d+\]: ", line):
                return {"hint": "Take the prompts and the outputs out of the cell."}
        if re.fullmatch(r"In|Out|_{2,3}|_i?\d+|_(?:i{1,3}|[iod]h)", name):
            return {"hint": "The last values are kept as `_`, `__`, `Out[3]`; runtime.output(3) is what cell 3 showed."}
        return {"hint": f"In Python it is {_SAID[name]}; json.loads(text) reads JSON."} if name in _SAID else None
    root = name.partition(".")[0] if type(error) in (ImportError, ModuleNotFoundError) else ""
    if root == "micropip":
        return {"hint": installing()}
    found = {"search": "fetch web page url"} if root in NETWORK_MODULES else {}
    return {"hint": _ELSEWHERE[root], **found} if root in _ELSEWHERE else None


def _lost_name(error: BaseException) -> _Advice:
    if lost not in _LOST or not isinstance(error, NameError) or isinstance(error, UnboundLocalError):
        return None
    return {"hint": f"If an earlier cell has defined it: {_LOST[lost]} Define it again."}


def _event_loop(error: BaseException) -> _Advice:
    if not isinstance(error, RuntimeError) or not re.search(r"(?<!no )running event loop|loop is already", str(error)):
        return None
    return {
        "hint": "An event loop runs already, so that `await` works at the top level: write `await main()` instead of `asyncio.run(main())`."
    }


def _module(error: BaseException) -> _Advice:
    if isinstance(error, NotImplementedError) and "multiprocessing.synchronize" in str(error):
        return {"hint": NO_PROCESSES}
    name = getattr(error, "name", None) if type(error) is ModuleNotFoundError else _wanted(error)
    if not isinstance(name, str):
        return None
    root = name.partition(".")[0]
    if root in _OF_PROCESSES and sys.platform == "emscripten":
        return {"hint": NO_PROCESSES}
    if root in sys.stdlib_module_names:
        return {"hint": f"The Python of this sandbox has no {root}."}
    if root in sys.modules:
        return None
    if hint := _own_name(root):
        return {"hint": hint}
    from difflib import get_close_matches

    names = _packages()
    public = [name for name in {*names, *sys.stdlib_module_names} if name != root and name[0] != "_"]
    like = get_close_matches(root, public, 1, 0.8)
    told = {
        "hint": (f"Did you mean {like[0]}? " if like else "")
        + f"{root} is not in this sandbox. {_why_missing(root) or installing(names, _DISTRIBUTIONS.get(root, root))}"
    }
    return told | ({"search": "fetch web page url"} if root in NETWORK_MODULES else {})


def _wanted(error: BaseException) -> str | None:
    """The package that the error of another one names as missing."""
    if type(error) is not AttributeError and (type(error) is not ImportError or error.name):
        return None
    for one in chain_of(error):
        if type(one) is ModuleNotFoundError and type(error) is ImportError:
            return one.name
    found = _WANTED.search(str(error)[:2000])
    if not found or (type(error) is AttributeError and "requires" not in found[0]):
        return None
    return found[1] or found[2]


def _keyboard(error: BaseException) -> _Advice:
    modules = {str(frame.f_globals.get("__name__")) for frame, _ in frames_of(error)}
    if modules & {"bdb", "pdb"}:
        return {"hint": "A cell has no keyboard for a debugger: print values, or look at them in the next cell."}
    if not isinstance(error, EOFError) or str(error) not in ("EOF when reading a line", ""):
        return None
    if "getpass" in modules:
        return {"hint": "A cell has no keyboard. Put secrets into the configuration of a server, whose tools use them."}
    return {"hint": "A cell has no keyboard: ask the user in the conversation, and write the answer into the code."}


def of_stderr(text: str) -> str | None:
    """A hint for a cell whose processes have printed this."""
    if _LOST_FUNCTION.search(text):
        return _SPAWNED_HINT
    return installing() if _NOT_INSTALLED.search(text) else None


def _time_zones(error: BaseException) -> _Advice:
    """A sandbox without the system's files of time zones takes them from a package. With either, the name is wrong."""
    zoneinfo = sys.modules.get("zoneinfo")
    if zoneinfo is None or not isinstance(error, zoneinfo.ZoneInfoNotFoundError):
        return None
    if any(map(os.path.isdir, zoneinfo.TZPATH)) or sys.modules.get("tzdata"):
        return None
    return {"hint": f"This sandbox has no time zones. {_why_missing('tzdata') or installing(wanted='tzdata')}"}


def _own_name(root: str) -> str | None:
    """The hint for an import of what every cell has as a name. It is never to be a package: anyone may register one."""
    if root == "runtime":
        return "Cells have runtime without an import. A module has it with `from mcp import runtime`."
    if root == "mcp_servers":
        return "Cells have mcp_servers without an import. A module imports servers: `from mcp.servers import NAME`."
    if not root.startswith("mcp_"):
        return None
    from ..api.errors import ServerNotFound
    from ..api.servers import registry

    alias = root.removeprefix("mcp_")
    if alias not in registry.by_alias:
        return registry.not_found(alias, ServerNotFound).hint
    return (
        f"Cells have {root} without an import: `await {root}.TOOL(…)`. "
        f"To import its tools: `from mcp.servers.{alias} import TOOL`."
    )


def _memory(error: BaseException) -> _Advice:
    if isinstance(error, RuntimeError) and str(error) in ("can't start new thread", "unable to start watchdog thread"):
        if sys.platform == "emscripten":
            return {
                "hint": "This sandbox has no threads: `await` calls together with asyncio.gather, and compute in a loop. "
                "A sandbox of podman, docker or bubblewrap has threads; the user can set MCP_BRIDGE_RUNTIME."
            }
        return {
            "hint": "The sandbox has as many threads and processes as it may have, or no memory for another: use fewer. "
            "The user can set MCP_BRIDGE_PIDS and MCP_BRIDGE_MEMORY."
        }
    # numpy raises its own subclass.
    if not isinstance(error, MemoryError):
        return None
    native = ", or use a native sandbox, which needs less of it" if sys.platform == "emscripten" else ""
    return {
        "hint": "The sandbox has no more memory. Read and compute in smaller pieces, or `del` large variables. "
        f"The user can set MCP_BRIDGE_MEMORY, such as 2g{native}."
    }


def _packages() -> list[str]:
    from ..api.session_info import packages

    return list(packages())


def _why_missing(root: str) -> str | None:
    """The reason for a package that the user has configured."""
    wanted = {_plain(root), _plain(_DISTRIBUTIONS.get(root, root))}
    for name, reason in missing.items():
        if _plain(name) in wanted:
            return f"It could not be installed: {reason}. The user can see to it with `sandbridge packages`."
    return None


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def has_package(name: str) -> bool:
    """True if a cell can import this package."""
    if any(_plain(one) == _plain(name) for one in _packages()):
        return True
    from importlib.util import find_spec

    return name.isidentifier() and find_spec(name) is not None


def installing(names: list[str] | None = None, wanted: str = "NAME") -> str:
    names = _packages() if names is None else names
    there = f"There are {', '.join(names[:_MAX_PACKAGES])}" if names else "There is the standard library"
    more = " and more: see runtime.packages()" if len(names) > _MAX_PACKAGES else ""
    return f"Nothing can be installed from inside. {there}{more}. The user can add packages: `sandbridge packages add {wanted}`."


def _program(error: BaseException) -> _Advice:
    # Cells that use programs have imported it.
    if "subprocess" not in sys.modules or not isinstance(
        error, (OSError, NotImplementedError, sys.modules["subprocess"].CalledProcessError)
    ):
        return None
    from .program_hints import program_advice

    return program_advice(error, NO_NETWORK_HINT, installing)
