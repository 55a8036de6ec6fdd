"""`runtime.find_servers` and `runtime.request_server`: MCP servers of a registry that the user has not configured."""

from ..data.values import Listed, Record
from . import bridge
from .errors import ArgumentsError
from .servers import ServerProxy, registry

__all__ = ["find_servers", "request_server"]


class FoundServer(Record):
    """A server of a registry: name, version, description, runs, secrets, verified. Prints as one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self["line"])


class FoundServers(Listed[FoundServer]):
    _none = "(no server fits)"


async def find_servers(query: str, limit: int = 5) -> FoundServers:
    """MCP servers that could be added, best first: what each does, how it runs, which secrets it wants. Adds none."""
    return FoundServers(map(FoundServer, await bridge.ask("find_servers", query=query, limit=limit)))


async def request_server(name: str | FoundServer) -> ServerProxy:
    """Ask the user to add a server that `find_servers` found. They see its command and decide; what is returned is called
    like any server: `weather = await runtime.request_server("…")`, then `await weather.forecast()`."""
    wanted = name["name"] if isinstance(name, FoundServer) else name
    if not isinstance(wanted, str):
        raise ArgumentsError(f"the name of a server is a str, not {type(wanted).__name__}")
    return registry.add(await bridge.ask("request_server", server=wanted))
