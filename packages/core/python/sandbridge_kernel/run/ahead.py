"""Imports packages while a sandbox waits, so that the first cell that needs them does not wait."""

from __future__ import annotations

import re

# What a package's own module leaves for later, and takes most of the time.
_ALSO = {"matplotlib": ("matplotlib.pyplot",)}


def import_ahead(names: list[str]) -> None:
    """Import the modules of these packages, of those that are there. A package that cannot be imported fails the cell that imports it."""
    from importlib.metadata import packages_distributions

    found: dict[str, list[str]] = {_plain(name): [] for name in names}
    for module, packages in packages_distributions().items():
        for package in map(_plain, packages):
            if package in found and not module.startswith("_"):
                found[package].append(module)
    for package, all_modules in found.items():
        own = [module for module in all_modules if _plain(module) == package]
        _import(own or all_modules)


def _import(modules: list[str]) -> None:
    from importlib import import_module

    for module in modules:
        for name in (module, *_ALSO.get(module, ())):
            try:
                import_module(name)
            except Exception:
                break


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
