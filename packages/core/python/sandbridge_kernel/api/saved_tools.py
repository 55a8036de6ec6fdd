"""`runtime.save_tool` and the module `user_tools`: functions that are kept for later sessions. The bridge keeps them; they only run here."""

import builtins
import linecache
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..data.values import Listed, Record
from ..source import function_source
from . import bridge
from .errors import ArgumentsError, MCPError, SavedToolError, SavedToolErrorAttribute, SavedToolErrorImport
from .servers import ServerProxy, ToolProxy, registry, server_alias, server_name, tool_path

__all__ = ["delete_tool", "list_saved_tools", "save_tool", "show_tool"]


class SavedTool(Record):
    """A saved tool. Prints as the line that imports and calls it."""

    __slots__ = ()

    def __repr__(self) -> str:
        if "problem" in self:
            return f"{self['name']} (version {self['version']}) is broken: {self['problem']}"
        return f"{self['line']} (version {self['version']})"


class SavedTools(Listed[SavedTool]):
    _none = "(no saved tools)"


class ShownTool(SavedTool):
    """A saved tool with its source. Prints as that."""

    __slots__ = ()

    def __repr__(self) -> str:
        versions = ", ".join(map(str, self["versions"]))
        return f"# {self['name']}, version {self['version']} of {versions}, saved {self['createdAt']}\n{_text(self)}"


def save_tool(func: Callable[..., Any], description: str | None = None) -> SavedTool:
    """Keep a function for later sessions: `from user_tools import name`. It takes its imports along; it is loaded in a fresh
    sandbox before it is kept. `description` replaces its docstring in searches."""
    return SavedTool(bridge.ask_sync("save_tool", tool=describe_tool(func, description)))


def describe_tool(func: Callable[..., Any], description: str | None) -> dict[str, Any]:
    """What is kept of a function."""
    if description is not None and not isinstance(description, str):
        raise ArgumentsError(f"description is a str, not {type(description).__name__}")
    try:
        tool = function_source.describe(func, _saved_source, _provided)
    except function_source.Refused as reason:
        raise MCPError(f"This function cannot be saved: {reason}", code="STATE_REFUSED") from None
    if description is not None:
        tool["description"] = description
    return tool


def list_saved_tools() -> SavedTools:
    """All saved tools in their newest version; a broken one says so."""
    return SavedTools(map(SavedTool, bridge.ask_sync("list_saved_tools")))


def show_tool(name: str, version: int | None = None) -> ShownTool:
    """A saved tool with its source, and the versions there are."""
    return ShownTool(bridge.ask_sync("show_tool", name=name, version=version))


def delete_tool(name: str) -> None:
    """Delete a saved tool, with all its versions."""
    bridge.ask_sync("delete_tool", name=name)
    _loaded.pop(name, None)


def _saved_source(name: str) -> str | None:
    try:
        return str(bridge.ask_sync("show_tool", name=name)["source"])
    except MCPError:
        return None


def _provided(name: str, value: object) -> bool | dict[str, str]:
    """What every session has under this name."""
    if isinstance(value, ServerProxy):
        return {"variable": name, "name": server_name(value), "alias": server_alias(value)}
    if isinstance(value, ToolProxy):
        raise function_source.Refused(f"it uses {name} as its own function; call {tool_path(value)}(…) instead")
    return value is _given().get(name)


def _given() -> dict[str, Any]:
    runtime = sys.modules["mcp.runtime"]
    return {"mcp": sys.modules["mcp"], "runtime": runtime, "mcp_servers": registry, "workflows": PROVIDED["workflows"]}


# Other names that every session has. `install`, which imports this module, adds to it.
PROVIDED: dict[str, Any] = {"workflows": None}


# ---- loading

_loaded: dict[str, tuple[int, Any]] = {}  # name -> (version, the tool)
_loading: list[str] = []


def load(name: str) -> Any:
    """The newest version of a saved tool, ready to call. The same object for the same version."""
    try:
        tool = bridge.ask_sync("load_saved_tool", name=name)
    except MCPError as error:
        raise SavedToolErrorImport(error.message, code=error.code, hint=error.hint) from None
    version = tool["version"]
    if name in _loaded and _loaded[name][0] == version:
        return _loaded[name][1]
    if name in _loading:
        raise SavedToolErrorImport(f"saved tools import each other in a circle: {' → '.join([*_loading, name])}")
    _loading.append(name)
    try:
        value = _run(tool)[name]
        if not callable(value):
            raise TypeError(f"{name} is not a function")
    except Exception as error:
        raise SavedToolErrorImport(
            f"The saved tool {name!r} (version {version}) cannot be loaded here: {type(error).__name__}: {error}",
            hint=f"See runtime.show_tool({name!r}).",
        ) from error
    finally:
        _loading.remove(name)
    _loaded[name] = (version, value)
    return value


def attribute(name: str) -> Any:
    """The same as an attribute: a tool that is not there is a missing attribute, as hasattr() and its like expect."""
    try:
        return load(name)
    except SavedToolError as error:
        if error.code != SavedToolError.code:
            raise
        raise SavedToolErrorAttribute(error.message, code=error.code, hint=error.hint) from None


def _run(tool: dict[str, Any]) -> dict[str, Any]:
    filename = f"{function_source.SAVED}{tool['name']}.py (version {tool['version']})"
    text = _text(tool)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"__name__": function_source.MODULE, "__builtins__": builtins, **_given()}
    for server in tool["servers"]:
        known = registry.by_alias.get(server["alias"])
        # A server that this cell cannot reach raises its error when it is called.
        proxy = (
            known
            if known and server_name(known) == server["name"]
            else ServerProxy(server["name"], server["alias"], "")
        )
        namespace[server["variable"]] = proxy
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    return namespace


def _text(tool: dict[str, Any]) -> str:
    head = "\n".join(tool["imports"])
    return (f"{head}\n\n\n" if head else "") + str(tool["source"])


class UserTools(ModuleType):
    """`user_tools`: every saved tool is a name in it, loaded when it is asked for."""

    __path__ = []  # so that an import of a missing name is looked for as a module, whose finder has the words for it

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return _loadable()
        if name.startswith("_"):
            raise AttributeError(name)
        return attribute(name)

    def __dir__(self) -> list[str]:
        return [tool["name"] for tool in list_saved_tools()]

    def __repr__(self) -> str:
        return f"user_tools\n{list_saved_tools()!r}"


def _loadable() -> list[str]:
    """The names for `from user_tools import *`. What does not load is told of and left out."""
    names = []
    for tool in list_saved_tools():
        try:
            load(tool["name"])
            names.append(tool["name"])
        except SavedToolError as error:
            print(f"user_tools: {error}", file=sys.stderr)
    return names
