"""What to do about an error of a cell, where that is known: `hint` is for the reader, `search` a few words to find tools by that can do
what the sandbox cannot.
"""

import os
import re
import sys

_NETWORK_MODULES = ("urllib", "http", "requests", "httpx", "aiohttp", "httpcore", "urllib3", "websockets", "ftplib", "smtplib", "pyodide")
_NETWORK_NAMES = frozenset(("gaierror", "URLError", "ConnectError", "ConnectTimeout", "NewConnectionError", "NameResolutionError", "ClientConnectorError"))
_NO_NETWORK = frozenset((99, 100, 101, 113))  # EADDRNOTAVAIL, ENETDOWN, ENETUNREACH, EHOSTUNREACH
_INSIDE = ("/tmp", "/workspace", "/proc", "/dev", "/sys")
_URL = re.compile(r"https?://(?:www\.)?([\w.-]+)|host='([\w.-]+)'")
_MAX_PACKAGES = 15


def advice(error):
    """A dict with `hint`, and sometimes `search`; empty when nothing is known."""
    try:
        for find in (_coroutine, _plain_call, _event_loop, _server_name, _module, _network, _host_file):
            found = find(error)
            if found:
                return found
    except Exception:  # an exception class of the cell's own, with a mind of its own
        pass
    return {}


def _coroutine(error):
    if not isinstance(error, (TypeError, AttributeError)) or "'coroutine'" not in str(error):
        return None
    return {"hint": "A coroutine stands where its result should: write `await` before the call that made it."}


def _plain_call(error):
    if not isinstance(error, TypeError) or not re.search(r"can't be (used in 'await' expression|awaited)", str(error)):
        return None
    return {"hint": "What stands after `await` is no coroutine: leave out the `await`. Of runtime, discovered_servers, describe_server and whatever ends in _sync are plain calls."}


def _server_name(error):
    name = getattr(error, "name", None)
    if not isinstance(error, NameError) or not isinstance(name, str) or not name.startswith("mcp_"):
        return None
    from .api.errors import ServerNotFound
    from .api.servers import registry

    return {"hint": registry.not_found(name.removeprefix("mcp_"), ServerNotFound).hint}


def _event_loop(error):
    if not isinstance(error, RuntimeError) or not re.search(r"running event loop|event loop is already running", str(error)):
        return None
    if "no running event loop" in str(error):
        return None
    return {"hint": "An event loop runs already, so that `await` works at the top level: write `await main()` instead of `asyncio.run(main())`."}


def _module(error):
    name = getattr(error, "name", None)
    if not isinstance(error, ModuleNotFoundError) or not isinstance(name, str) or type(error) is not ModuleNotFoundError:
        return None
    root = name.partition(".")[0]
    if root in sys.stdlib_module_names:
        return {"hint": f"The Python of this sandbox has no {root}."}
    if root in sys.modules:
        return None
    from difflib import get_close_matches

    from .api.session_info import packages

    names = list(packages())
    like = get_close_matches(root, [name for name in {*names, *sys.stdlib_module_names} if name != root], 1, 0.8)
    if like:
        return {"hint": f"Did you mean {like[0]}?"}
    there = f"There are {', '.join(names[:_MAX_PACKAGES])}" if names else "There is the standard library"
    more = " and more: see runtime.packages()" if len(names) > _MAX_PACKAGES else ""
    return {"hint": f"{root} is not in this sandbox, and cannot be installed from inside. {there}{more}. The user can add packages with MCP_BRIDGE_PACKAGES."}


def _network(error):
    if not any(map(_is_network, _chain(error))):
        return None
    match = _URL.search(" ".join(str(one) for one in _chain(error))[:10_000])
    host = (match[1] or match[2]) if match else ""
    words = " ".join(part for part in host.split(".") if part not in ("api", "com", "org", "net", "io"))
    return {
        "hint": "The sandbox has no network: only tools of MCP servers reach out.",
        "search": f"fetch web page url {words}".strip(),
    }


def _is_network(error):
    if type(error).__name__ in _NETWORK_NAMES:
        return True
    if not isinstance(error, OSError):
        return False
    module = type(error).__module__.partition(".")[0]
    return error.errno in _NO_NETWORK or (module in _NETWORK_MODULES and "Connection" in type(error).__name__)


def _host_file(error):
    path = getattr(error, "filename", None)
    if not isinstance(error, (FileNotFoundError, PermissionError)) or not isinstance(path, str):
        return None
    is_windows = re.match(r"[A-Za-z]:[\\/]", path) is not None
    if not is_windows and (not path.startswith("/") or path.startswith((*_INSIDE, os.getcwd() + "/", sys.prefix + "/", sys.base_prefix + "/lib"))):
        return None
    return {
        "hint": "The sandbox has no files of the host, only /workspace and /tmp of its own.",
        "search": "read file from file system",
    }


def _chain(error):
    seen = []
    while error is not None and error not in seen and len(seen) < 10:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen
