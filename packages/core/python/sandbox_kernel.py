"""Makes a process of a native sandbox its kernel, from sources that the bridge sends. Sent before sandbox_init.py, whose
process it is part of.

Python 3.6 can parse it, as sandbox_init.py says.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec

# Apparent location of the kernel's files.
ROOT = "/sandbridge"
# The user's packages. Must match PACKAGES_TARGET in package-folder.ts.
PACKAGES = "/opt/site-packages"


def load_library() -> None:
    """Import the modules that take half the time of a kernel's start. Done before its sources are read: the bridge, which sends them, is
    often busy with its own start."""
    # asyncio imports ssl if it can: megabytes for every waiting sandbox, and no use without a network.
    sys.modules["ssl"] = None  # type: ignore[assignment]
    import asyncio  # noqa: F401
    import json  # noqa: F401

    del sys.modules["ssl"]


def load_kernel(sources: bytes, compiled: bytes) -> "Callable[[str, dict[str, object]], None]":
    """Make the kernel's modules importable from memory; others come from the image. Returns a function that runs a kernel file."""
    import json
    import marshal
    import types
    from importlib._bootstrap_external import MAGIC_NUMBER
    from importlib.machinery import ModuleSpec

    size = len(MAGIC_NUMBER)
    # The host's Python may have been replaced since.
    code = marshal.loads(compiled[size:]) if compiled[:size] == MAGIC_NUMBER else {}
    del compiled
    texts = {}  # type: dict[str, str]

    def read_texts() -> "dict[str, str]":
        # With bytecode, the sources are needed only for tracebacks, in few cells.
        if not texts:
            texts.update(json.loads(sources))
        return texts

    names = frozenset(code or read_texts())

    class KernelFinder:
        def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
            stem = name.replace(".", "/")
            for file, is_package in ((stem + "/__init__.py", True), (stem + ".py", False)):
                if file in names:
                    spec = ModuleSpec(name, self, origin=ROOT + "/" + file, is_package=is_package)  # type: ignore[arg-type]
                    spec.has_location = True
                    if is_package:
                        spec.submodule_search_locations = [ROOT + "/" + stem]
                    return spec
            return None

        def create_module(self, spec: object) -> None:
            return None

        def exec_module(self, module: types.ModuleType) -> None:
            run(module.__spec__.origin, module.__dict__)  # type: ignore[union-attr, arg-type]

        def get_source(self, name: str) -> "str | None":
            spec = self.find_spec(name)
            return read_texts()[spec.origin[len(ROOT) + 1 :]] if spec and spec.origin else None

    def run(path: str, namespace: "dict[str, object]") -> None:
        file = path[len(ROOT) + 1 :]
        if file in code:
            module = marshal.loads(code.pop(file))
        else:
            module = compile(read_texts()[file], path, "exec", dont_inherit=True)
        exec(module, namespace)

    sys.meta_path.insert(0, KernelFinder())
    if os.path.isdir(PACKAGES):
        # After the standard library, before packages that are installed already.
        installed = [place for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
        sys.path.insert(sys.path.index(installed[0]) if installed else len(sys.path), PACKAGES)
    return run


def run_kernel(run: "Callable[[str, dict[str, object]], None]", bell: int) -> None:
    """Become the kernel. Never returns."""
    import types

    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = ["sandbridge", str(bell)] if bell > 2 else ["sandbridge"]
    module.__file__ = ROOT + "/__main__.py"
    run(module.__file__, module.__dict__)
