"""The environment variables that tell a cell, and the programs it starts, which servers there are."""

from __future__ import annotations

import json
import os

from .servers import Registry, server_alias, server_description, server_name

# Linux cannot start a program with a variable longer than 128 KiB.
_MAX_CHARS = 60_000


def tell(registry: Registry) -> None:
    """Set MCP_AVAILABLE_SERVERS (a list of `{name, alias, description}`) and MCP_DISCOVERED_SERVERS (name to description)."""
    listed = [
        {"name": server_name(proxy), "alias": server_alias(proxy), "description": server_description(proxy)}
        for proxy in registry.by_alias.values()
    ]
    known = {server["name"]: server["description"] for server in listed} | dict.fromkeys(registry.unloaded, "")
    os.environ["MCP_AVAILABLE_SERVERS"] = _fitting(listed, [server | {"description": ""} for server in listed], [])
    os.environ["MCP_DISCOVERED_SERVERS"] = _fitting(known, dict.fromkeys(known, ""), {})


def _fitting(*forms: object) -> str:
    """The first of these as JSON that is not too long for a variable."""
    texts = [json.dumps(form) for form in forms]
    return next((text for text in texts if len(text) <= _MAX_CHARS), texts[-1])
