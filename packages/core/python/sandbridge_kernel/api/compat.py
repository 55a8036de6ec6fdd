"""MCP_BRIDGE_COMPAT: the forms of the system this one re-creates, for scripts that need them. Off unless the bridge says so."""

from __future__ import annotations

_on = False


def switch(on: bool) -> None:
    """As the `run` frame says, before each cell."""
    global _on
    _on = on


def is_on() -> bool:
    """Whether a call gives the MCP result itself, and the memory functions are names of every cell."""
    return _on
