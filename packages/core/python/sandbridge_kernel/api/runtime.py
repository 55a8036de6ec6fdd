"""Find and call the tools of the configured MCP servers.

    await runtime.search_tool_docs("create issue", "open ticket")  # find a tool, by several wordings: a line each
    await mcp_github.create_issue(title="Broken")         # call it
    await runtime.call_tool("github", "create_issue", {"title": "Broken"})

    runtime.save_artifact("report.csv", data)             # keep a file beyond this session
    runtime.save_tool(func)                               # keep a function; later: from user_tools import func

Functions ending in _sync need no `await`. Every failure is an MCPError.
"""

from collections.abc import Awaitable
from sys import modules as _modules
from typing import Any, Literal, TypeVar

from ..data.values import Record, data_in, native
from . import bridge, compat
from .apps import *
from .artifacts import *
from .bridge_functions import *
from .docs import (  # noqa: F401 - ServerDoc is pickled by this name
    GroupedDocs,
    ServerDoc,
    ServerDocs,
    ServerTools,
    ToolDoc,
    ToolDocs,
    server_docs,
    server_tools,
    tool_docs,
)
from .errors import *
from .errors import ArgumentsError
from .memories import *
from .outputs import *
from .progress import *
from .registry import *
from .saved_tools import *
from .servers import ServerProxy, registry as _servers, server_name
from .session_info import *
from .workflows import *

_T = TypeVar("_T")

__name__ = "mcp.runtime"  # what a cell imports, and what help() and tracebacks should call it

# Each says in its `__all__` what is public.
_PARTS = (
    "apps artifacts bridge_functions errors memories outputs progress registry saved_tools session_info workflows"
).split()
__all__ = [
    "again",
    "call_tool",
    "call_tool_sync",
    "complete",
    "describe_server",
    "discovered_servers",
    "list_loaded_server_metadata",
    "list_servers",
    "list_servers_sync",
    "list_tools",
    "list_tools_sync",
    "query_tool_docs",
    "query_tool_docs_sync",
    "search_tool_docs",
    "search_tool_docs_sync",
    *(name for part in _PARTS for name in _modules[f"{__package__}.{part}"].__all__),
]


def json(value: Any) -> Any:
    """The data in a text of JSON, or of a list, tuple or dict as Python prints it. Data is returned as it is.

    Raises ValueError for another text.
    """
    return data_in(value)


def discovered_servers(detailed: bool = False) -> list[str] | ServerDocs:
    """The names of all servers; with `detailed`, records of name, alias, description and state, a line each when printed. Starts none.

    Those in the state `not-loaded` can be reached by a cell whose call names them in `servers`.
    """
    return server_docs(bridge.ask_sync("discovered_servers")) if detailed else [*_servers.names, *_servers.unloaded]


def list_loaded_server_metadata() -> list[Record]:
    """A record for every server that this cell may reach, as `discovered_servers(detailed=True)` gives them.

    Its keys `tools` and `cwd` are fetched when they are asked for: see `describe_server`.
    """
    return [LoadedServer(server) for server in bridge.ask_sync("discovered_servers") if server["state"] != "not-loaded"]


class LoadedServer(Record):
    """A server that this cell may reach."""

    __slots__ = ()

    def __missing__(self, key: object) -> object:
        if key in ("tools", "cwd"):
            return describe_server(self["name"])[key]
        raise KeyError(key)

    def get(self, key: object, default: object = None) -> object:
        return self[key] if key in self else default

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or key in ("tools", "cwd")


async def list_servers() -> list[str]:
    """The names of the servers that this cell may use, running or not."""
    return list(_servers.names)


def list_servers_sync() -> list[str]:
    """The names of the servers that this cell may use, running or not."""
    return list(_servers.names)


def describe_server(name: str) -> Record:
    """One server: name, alias, description, instructions, configured cwd and its tools with their input schemas."""
    found: Record = bridge.ask_sync("describe_server", server=_name(name))
    return found


async def list_tools(server: str) -> ToolDocs:
    """The tools of a server, one line each when printed."""
    return server_tools(await bridge.ask("list_tools", server=_name(server)))


def list_tools_sync(server: str) -> ToolDocs:
    """The tools of a server, one line each when printed."""
    return server_tools(bridge.ask_sync("list_tools", server=_name(server)))


async def query_tool_docs(
    server: str,
    tool: str | list[str] | None = None,
    detail: Literal["summary", "full"] = "summary",
    tools: str | list[str] | None = None,
) -> ToolDocs:
    """The docs of a server's tools, or of those named in `tool` or `tools`. Of many, a page is printed.

    detail: "summary" has server, tool, description and `line`, a call to paste; "full" adds the whole description,
    params, an example, returns and the schemas. The fields are keys and attributes of each doc.
    """
    names = _names(tools or tool)
    found = await bridge.ask("query_tool_docs", server=_name(server), tools=names, detail=detail)
    return tool_docs(found) if names else server_tools(found)


def query_tool_docs_sync(
    server: str,
    tool: str | list[str] | None = None,
    detail: Literal["summary", "full"] = "summary",
    tools: str | list[str] | None = None,
) -> ToolDocs:
    names = _names(tools or tool)
    found = bridge.ask_sync("query_tool_docs", server=_name(server), tools=names, detail=detail)
    return tool_docs(found) if names else server_tools(found)


query_tool_docs_sync.__doc__ = query_tool_docs.__doc__


async def search_tool_docs(
    *wordings: str | list[str],
    limit: int = 5,
    detail: Literal["summary", "full"] = "summary",
    servers: str | list[str] | None = None,
    separate: bool = False,
    query: str | list[str] | None = None,
) -> ToolDocs | GroupedDocs:
    """Find tools, best first: search_tool_docs("create issue", "open ticket", "report bug").

    Give two to four short wordings of what you need, in words that a tool's name would use. They give one ranking,
    which finds far more than one wording does. Different needs in one call are each represented.

    limit: at most so many, up to 100. servers: search only these. query: the same as a wording.
    separate: True gives a dict of tools by wording instead, at most `limit` for each.
    detail: "summary" has server, tool, description and `line`, a call to paste; "full" adds the whole description,
    params, an example, returns and the schemas. The fields are keys and attributes of each doc.
    """
    asked = _wordings(wordings if query is None else (*wordings, query))
    params = _search_params(asked, limit, detail, servers, separate)
    return _found(asked, separate, await bridge.ask("search_tool_docs", **params))


def search_tool_docs_sync(
    *wordings: str | list[str],
    limit: int = 5,
    detail: Literal["summary", "full"] = "summary",
    servers: str | list[str] | None = None,
    separate: bool = False,
    query: str | list[str] | None = None,
) -> ToolDocs | GroupedDocs:
    asked = _wordings(wordings if query is None else (*wordings, query))
    params = _search_params(asked, limit, detail, servers, separate)
    return _found(asked, separate, bridge.ask_sync("search_tool_docs", **params))


search_tool_docs_sync.__doc__ = search_tool_docs.__doc__


async def call_tool(
    server: str, tool: str | ToolDoc, arguments: dict[str, Any] | None = None, *, raw: bool | None = None
) -> object:
    """Call a tool by name. The value is native (str, list, Record, image …); `raw=True` gives the MCP result untouched.

    `arguments` may have names that the tool's signature does not list, unless its schema forbids them.
    """
    raw = compat.is_on() if raw is None else raw
    call = _call(server, tool, arguments, raw)
    return _result(await bridge.ask("call_tool", **call), call, raw)


def call_tool_sync(
    server: str, tool: str | ToolDoc, arguments: dict[str, Any] | None = None, *, raw: bool | None = None
) -> object:
    """Call a tool by name, without `await`. In the midst of other tasks it holds them up."""
    raw = compat.is_on() if raw is None else raw
    call = _call(server, tool, arguments, raw)
    return _result(bridge.ask_sync("call_tool", **call), call, raw)


async def again(call: Awaitable[_T]) -> _T:
    """Make a call that may have been made before: `await runtime.again(mcp_mail.send(to="a"))`."""
    token = bridge.is_again.set(True)
    try:
        return await call
    finally:
        bridge.is_again.reset(token)


def complete(code: str, pos: int | None = None) -> list[str]:
    """What could stand at `pos` (default: the end) of this code: names, attributes, servers, tools and their arguments. Runs nothing of yours."""
    from .complete import completions

    return completions(code, pos)


def _call(server: str, tool: str | ToolDoc, arguments: dict[str, Any] | None, raw: bool) -> dict[str, Any]:
    if arguments is not None and not isinstance(arguments, dict):
        raise ArgumentsError(f"arguments must be a dict, not {type(arguments).__name__}")
    tool = tool["tool"] if isinstance(tool, ToolDoc) else tool
    kwargs = arguments or {}
    return {
        "server": _name(server),
        "tool": tool,
        "args": [],
        "kwargs": kwargs,
        "raw": True if raw else None,
        "exact": True,
    }


def _result(result: object, call: dict[str, Any], raw: bool) -> object:
    return result if raw else native(result, f"{call['server']}.{call['tool']}")


def _name(server: str | ServerProxy) -> str:
    return server_name(server) if isinstance(server, ServerProxy) else server


def _server_names(servers: Any) -> list[str] | None:
    found = [servers] if isinstance(servers, ServerProxy) else _names(servers)
    return None if found is None else [_name(one) for one in found]


def _names(names: str | list[str] | None) -> list[str] | None:
    return [names] if isinstance(names, str) else None if names is None else list(names)


def _wordings(given: tuple[Any, ...]) -> list[str]:
    found = [text for one in given for text in (one if isinstance(one, (list, tuple)) else [one])]
    if found and all(isinstance(text, str) for text in found):
        return found
    raise ArgumentsError(
        "search_tool_docs takes one or more wordings, each a str, and the rest by name: "
        "search_tool_docs('create issue', 'open ticket', limit=5)"
    )


def _search_params(
    wordings: list[str], limit: int, detail: str, servers: str | list[str] | None, separate: bool
) -> dict[str, Any]:
    query = wordings[0] if len(wordings) == 1 else wordings
    params = {"query": query, "limit": limit, "detail": detail, "servers": _server_names(servers)}
    return {**params, "separate": True} if separate else params


def _found(wordings: list[str], separate: bool, docs: list[Any]) -> ToolDocs | GroupedDocs:
    return GroupedDocs(zip(wordings, map(tool_docs, docs))) if separate else tool_docs(docs)
