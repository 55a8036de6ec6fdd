"""Keeps the modules that the kernel runs on: a cell may take any out of sys.modules, and the next cell runs all the same."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..api.servers import registry

if TYPE_CHECKING:
    from types import ModuleType

_kept: dict[str, ModuleType] = {}


def keep() -> None:
    """Once, before the first cell."""
    _kept.update(sys.modules)


def restore() -> None:
    """After the code of each cell. What a cell has put in place of a module stays."""
    if not _kept.keys() <= sys.modules.keys():
        servers = {f"mcp.servers.{alias}": proxy for alias, proxy in registry.by_alias.items()}
        for name, module in {**_kept, **servers}.items():
            sys.modules.setdefault(name, module)  # type: ignore[arg-type]
