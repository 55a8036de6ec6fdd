"""`runtime.find_servers`: MCP servers that the user has not configured, from the registries that the bridge keeps a copy of."""

from __future__ import annotations

from ..values import Record
from . import bridge


class FoundServer(Record):
    """A server of a registry: name, version, description, runs, secrets, verified. Prints as one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self["line"])

    __str__ = __repr__


class FoundServers(list[FoundServer]):
    """Servers of a registry, one line each when printed."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "(no server fits)"


async def find_servers(query: str, limit: int = 5) -> FoundServers:
    """MCP servers that could be added, best first: what each does, how it runs, which secrets it wants. Adds none."""
    return FoundServers(map(FoundServer, await bridge.ask("find_servers", query=query, limit=limit)))
