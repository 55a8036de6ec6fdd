"""The proxies that stand for servers and tools in a cell: `mcp_github`, `mcp_servers["github"]`,
`mcp_github.create_issue`. A proxy knows names and nothing else: whether a tool exists, and what it takes, is the
bridge's to say. Attribute access costs nothing; docs are fetched when someone asks for them (dir, help, repr,
inspect.signature) and kept until the list of servers changes."""

import builtins
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..data.values import native
from . import bridge, compat, docs
from .errors import MCPError, ServerNotFoundKey, ToolNotFound

if TYPE_CHECKING:
    from inspect import Signature
    from types import FrameType

    from ..wire.frame_types import VisibleServer


# Methods of every server. A tool of the same name takes precedence; the forms with a leading `_` always work.
METHODS = ("resources", "read_resource", "prompts", "get_prompt", "list_tools")

# A server's listings of its tools, as attributes: the docs, and the docs by name.
LISTINGS: dict[str, Callable[[docs.ToolDocs], Any]] = {"TOOLS": docs.ToolDocs, "TOOL_MAP": docs.tool_map}


_OWN_NAMES = frozenset(("mcp", "runtime", "mcp_servers", "workflows", "LOADED_MCP_SERVERS"))


class ServerProxy:
    # Its tools are its attributes.

    __slots__ = ("_server", "_alias", "_description", "_docs", "_tools")

    def __init__(self, name: str, alias: str, description: str) -> None:
        self._server, self._alias, self._description = name, alias, description
        self._docs: docs.ToolDocs | None = None
        self._tools: dict[str, ToolProxy] = {}  # those asked for so far

    def __getattr__(self, name: str) -> object:
        tool = self._tools.get(name)
        if tool is not None:
            return tool
        if name == "__all__":
            # A tool called `print` must not replace Python's own for the rest of the session.
            return [alias for alias in dir(self) if not hasattr(builtins, alias) and alias not in _OWN_NAMES]
        if name == "__name__":
            return f"mcp.servers.{self._alias}"  # it is also that module
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)  # Python looks up many such names; none is a tool
        if name in LISTINGS:
            return LISTINGS[name](self._tool_docs())
        if not _is_written(sys._getframe(1)):
            _expect(self, name)
        tool = self._tools[name] = ToolProxy(self, name)
        return tool

    def __copy__(self) -> "ServerProxy":
        return self

    def __deepcopy__(self, _: object) -> "ServerProxy":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return ServerProxy, (self._server, self._alias, self._description)

    def __dir__(self) -> list[str]:
        try:
            return sorted(doc["toolAlias"] for doc in self._tool_docs())
        except MCPError:
            return []

    def __repr__(self) -> str:
        try:
            listing = docs.page(self._tool_docs(), docs.line_of)
        except MCPError as error:
            listing = f"(its tools cannot be listed: {error})"
        title = f"mcp_{self._alias}: server {self._server!r}" + (f", {self._description}" if self._description else "")
        return f"{title}\n{listing}"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return repr(self)

    def _tool_docs(self) -> docs.ToolDocs:
        if self._docs is None:
            found = bridge.ask_sync("query_tool_docs", server=self._server, detail="full")
            self._docs = docs.tool_docs(found)
        return self._docs


class ToolProxy:
    # `await tool(…)` gives a native value, `tool.raw(…)` the MCP result. No docstring here: `__doc__` is the tool's.

    __slots__ = ("_proxy", "__name__", "_path", "_own")

    def __init__(self, proxy: ServerProxy, name: str) -> None:
        self._proxy, self.__name__ = proxy, name
        self._path = f"mcp_{proxy._alias}.{name}"
        self._own = name.removeprefix("_") in METHODS

    def __copy__(self) -> "ToolProxy":
        return self

    def __deepcopy__(self, _: object) -> "ToolProxy":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return ToolProxy, (self._proxy, self.__name__)

    def __call__(self, /, *args: object, **kwargs: object) -> Coroutine[Any, Any, Any]:
        # The coroutine is created at once, so that Python itself warns if its `await` is forgotten.
        return self._named(self._call(args, kwargs, False))

    def raw(self, /, *args: object, **kwargs: object) -> Coroutine[Any, Any, Any]:
        """Call the tool and get the MCP result untouched."""
        return self._named(self._call(args, kwargs, True))

    async def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], raw: bool) -> object:
        # `raw=True` asks for the MCP result, unless a parameter has that name: only then its docs are needed.
        raw = raw or (compat.is_on() and not self._own)
        if "raw" in kwargs and not await self._takes_raw():
            kwargs = dict(kwargs)
            raw = bool(kwargs.pop("raw"))
        params: dict[str, Any] = {"server": self._proxy._server, "tool": self.__name__, "args": args, "kwargs": kwargs}
        if raw:
            params["raw"] = True
        result = await bridge.ask_with("call_tool", params)
        if self._own and not raw and "docs" in result:
            return docs.server_tools(result["docs"])
        return result if raw else native(result, self._path)

    def _named(self, coroutine: Coroutine[Any, Any, Any]) -> Coroutine[Any, Any, Any]:
        named: Any = coroutine
        named.__name__, named.__qualname__ = self.__name__, self._path
        return coroutine

    async def _takes_raw(self) -> bool:
        if self._proxy._docs is not None:
            return "raw" in docs.parameter_names(self._doc())
        found = await bridge.ask("query_tool_docs", server=self._proxy._server, tools=[self.__name__], detail="full")
        return any("raw" in docs.parameter_names(doc) for doc in found)

    def _doc(self) -> docs.ToolDoc:
        for doc in self._proxy._tool_docs():
            if self.__name__ in (doc["toolAlias"], doc["tool"]):
                return doc
        # Only the bridge can find similar names: its error has a "did you mean".
        found = bridge.ask_sync("query_tool_docs", server=self._proxy._server, tools=[self.__name__], detail="full")
        return docs.ToolDoc(found[0])

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return docs.docstring(self._doc())

    @property
    def __signature__(self) -> "Signature":
        return docs.signature(self._doc())

    def __repr__(self) -> str:
        try:
            return str(self._doc()["line"])
        except MCPError as error:
            return f"<{self._path}: {error}>"

    def __getattr__(self, name: str) -> str:
        if name == "__qualname__":
            return self._path
        raise AttributeError(f"a tool has no attribute {name!r}; call it: await {self._path}(…)")


def _is_written(frame: "FrameType") -> bool:
    """True if the name stands in the code of this frame: the bridge checks it when the tool is called."""
    from opcode import opname

    return opname[frame.f_code.co_code[frame.f_lasti]].startswith(("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"))


def _expect(server: ServerProxy, name: str) -> None:
    """Code asks whether there is a tool of this name: hasattr(), getattr() with a default, and the like."""
    known: set[str] = set()
    try:
        known.update(name for doc in server._tool_docs() for name in (doc["tool"], doc["toolAlias"]))
        if name in known or name.removeprefix("_") in METHODS:
            return
        # A tool that the rules deny is in no list. Its call is refused, and recorded, by the bridge.
        bridge.ask_sync("query_tool_docs", server=server._server, tools=[name])
    except ToolNotFound:
        hint = did_you_mean(name, known).strip()
        data = {"server": server._server, "tool": name}
        raise ToolNotFound(f"{server._server} has no tool {name!r}", hint=hint, data=data) from None
    except MCPError:
        return  # nobody knows, or a rule denies it: a call says why


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """`Did you mean github? `, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(name[:80], list(names), 1) if isinstance(name, str) else []
    return f"Did you mean {near[0]}? " if near else ""


# Proxies have no public attributes: every one is a tool. The kernel uses these functions instead.


def server_name(server: ServerProxy) -> str:
    return server._server


def server_alias(server: ServerProxy) -> str:
    return server._alias


def server_description(server: ServerProxy) -> str:
    return server._description


def server_docs(server: ServerProxy) -> docs.ToolDocs:
    """The docs of its tools; fetched once."""
    return server._tool_docs()


def server_of(tool: ToolProxy) -> ServerProxy:
    return tool._proxy


def tool_path(tool: ToolProxy) -> str:
    """`mcp_github.create_issue`, as a cell writes it."""
    return tool._path


def tool_doc(tool: ToolProxy) -> docs.ToolDoc:
    return tool._doc()


# Code object of every coroutine that a tool call creates.
CALL_CODE = ToolProxy._call.__code__


class Registry(Mapping[str, ServerProxy]):
    """`mcp_servers`: the servers that this cell may reach, by name or alias."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self.named = False  # the call that runs this cell names its servers
        self.unloaded: dict[
            str, str
        ] = {}  # aliases by name, of servers that a cell reaches only when its call names them
        self.by_alias: dict[str, ServerProxy] = {}
        self._by_name: dict[str, ServerProxy] = {}
        self._listed: list[VisibleServer] | None = None

    def update(self, servers: "list[VisibleServer] | None") -> bool:
        """Take a new list of servers (None: the one before). False when nothing changes. Called before each cell."""
        for proxy in self._by_name.values():
            proxy._docs = None  # the tools of a server may have changed since the cell before
        if servers is None and self._listed is not None:
            return False
        listed = list(servers or ())
        if listed == self._listed:
            return False
        self._listed = listed
        loaded = [server for server in listed if server.get("loaded", True)]
        self.unloaded = {server["name"]: server["alias"] for server in listed if server not in loaded}
        proxies = [ServerProxy(server["name"], server["alias"], server.get("description", "")) for server in loaded]
        self.names = tuple(proxy._server for proxy in proxies)
        self._by_name = {proxy._server: proxy for proxy in proxies}
        self.by_alias = {proxy._alias: proxy for proxy in proxies}
        return True

    def add(self, server: "VisibleServer") -> ServerProxy:
        """A server that the user has added while the cell runs."""
        proxy = ServerProxy(server["name"], server["alias"], server.get("description", ""))
        self.names = (*self.names, proxy._server)
        self._by_name[proxy._server] = self.by_alias[proxy._alias] = proxy
        return proxy

    def not_found(self, name: str, kind: type[MCPError]) -> MCPError:
        if name in self._by_name:  # by an attribute or an import, which know only aliases
            alias = server_alias(self._by_name[name])
            return kind(f"Server {name!r} has another name in code", hint=f"Use mcp_{alias}, or mcp.servers.{alias}")
        hint = f"Available: {', '.join(self.names)}" if self.names else "No server is available."
        wanted = [server for server, alias in self.unloaded.items() if name in (server, alias)]
        if wanted:
            names = ", ".join(f'"{server}"' for server in (*self.names, *wanted))
            hint = f"Run again with servers=[{names}]: a cell gets only the servers that its call names."
        elif self.unloaded:
            hint = f"{hint.rstrip('.')}. Name these in servers=[…]: {', '.join(self.unloaded)}"
        elif self.named:
            hint = f"It is not in this call's `servers`: {', '.join(self.names) or 'none'}. Add it there, or leave `servers` out."
        if not wanted:
            hint = did_you_mean(name, (*self.by_alias, *self.names, *self.unloaded, *self.unloaded.values())) + hint
        return kind(f"Server {name!r} is not available", hint=hint)

    def __getitem__(self, name: str) -> ServerProxy:
        proxy = self._by_name.get(name) or self.by_alias.get(name)
        if proxy is None:
            raise self.not_found(name, ServerNotFoundKey)
        return proxy

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"mcp_servers: {', '.join(self.names) or 'none'}"


registry = Registry()
