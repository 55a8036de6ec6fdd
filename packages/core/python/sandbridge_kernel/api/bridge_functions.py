"""Functions of `mcp.runtime` that only call a method of the bridge, written by `npm run schema` from the methods in
packages/core/src/calls/ that have `inRuntime`."""

from . import bridge

__all__ = ["capability_summary", "reset"]


def capability_summary() -> str:
    """What there is, in a few lines of text."""
    found: str = bridge.ask_sync("capability_summary")
    return found


def reset() -> None:
    """Start afresh: the next cell has a new sandbox, without variables and with an empty /workspace."""
    bridge.ask_sync("reset_session")
