"""Changes modules of libraries as soon as a cell imports them: before that they are not there, and no cell waits for them."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_changes: dict[str, Callable[[Any], object]] = {}  # by module


def after_import(name: str, change: Callable[[Any], object]) -> None:
    """Call `change` with the module each time that it has run."""
    if not _changes:
        sys.meta_path.insert(0, _Finder())
    _changes[name] = change


class _Finder:
    """Finds these modules as Python does."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        change = _changes.get(name)
        if change is None:
            return None
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = spec and spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                try:
                    change(module)
                except Exception:  # a version that is made differently stays as it is
                    pass

            try:
                loader.exec_module = exec_module
            except AttributeError:  # a loader of many modules, such as that of an archive
                pass
        return spec
