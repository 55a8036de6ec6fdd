"""Puts the API where a cell looks for it: the modules `mcp`, `mcp.runtime`, `mcp.servers.*`, and the names in its namespace."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from . import compat, environment, memories, runtime
from .errors import ServerNotFoundAttribute, ServerNotFoundModule
from .saved_tools import PROVIDED, UserTools, load
from .servers import ServerProxy, registry
from .workflows import Workflows

if TYPE_CHECKING:
    from typing import Any

    from ..wire.frame_types import VisibleServer


class _ServersModule(ModuleType):
    """`mcp.servers`: a server is an attribute of it, and a module in it."""

    __path__ = []

    def __getattr__(self, name: str) -> ServerProxy:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in registry.by_alias:
            return registry.by_alias[name]
        raise registry.not_found(name, ServerNotFoundAttribute)

    def __dir__(self) -> list[str]:
        return sorted(registry.by_alias)


class _Finder:
    """Says which servers there are, instead of `No module named …`."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.startswith("mcp.servers."):
            raise registry.not_found(name.removeprefix("mcp.servers."), ServerNotFoundModule)
        if name.startswith("user_tools."):
            load(name.removeprefix("user_tools."))
        return None


def install_modules() -> None:
    """Once, when the kernel starts."""
    package = ModuleType(
        "mcp", "The MCP servers of this session: `mcp.runtime` to find tools, `mcp.servers` to call them."
    )
    package.__path__ = []
    servers = _ServersModule("mcp.servers", "The servers that this cell may reach.")
    package.__dict__.update(runtime=runtime, servers=servers)
    sys.modules.update({"mcp": package, "mcp.runtime": runtime, "mcp.servers": servers})
    sys.modules["user_tools"] = UserTools("user_tools", "The functions that runtime.save_tool has kept.")
    PROVIDED["workflows"] = Workflows()
    sys.meta_path.insert(0, _Finder())


def install_servers(namespace: dict[str, Any], servers: list[VisibleServer] | None) -> None:
    """Before every cell. `servers` is the list in its `run` frame, or None: as before.

    While the list stays the same, so do the names: what a cell has assigned to one of them is its own.
    """
    for name, value in (("mcp", sys.modules["mcp"]), ("runtime", runtime), *PROVIDED.items()):
        namespace.setdefault(name, value)
    if compat.is_on():
        for name in memories.__all__:
            namespace.setdefault(name, getattr(memories, name))
    if not registry.update(servers):
        return
    for name in [
        name for name, value in namespace.items() if isinstance(value, ServerProxy) and name.startswith("mcp_")
    ]:
        del namespace[name]
    for name in [name for name in sys.modules if name.startswith("mcp.servers.")]:
        del sys.modules[name]
    for alias, proxy in registry.by_alias.items():
        namespace[f"mcp_{alias}"] = sys.modules[f"mcp.servers.{alias}"] = proxy  # type: ignore[assignment]
    namespace["mcp_servers"] = registry
    namespace["LOADED_MCP_SERVERS"] = registry.names
    environment.tell(registry)
