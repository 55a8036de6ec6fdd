"""Makes a process of a native sandbox its kernel, from sources that the bridge sends. Python 3.6 can parse it."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

# Apparent location of the kernel's files.
ROOT = "/sandbridge"
# The user's packages. Must match PACKAGES_TARGET in package-folder.ts.
PACKAGES = "/opt/site-packages"


def load_library() -> None:
    """Import the modules that take half of a kernel's start, while the bridge, which sends the sources, is busy."""
    # asyncio imports ssl if it can: megabytes for every waiting sandbox, and no use without a network.
    sys.modules["ssl"] = None  # type: ignore[assignment]
    import asyncio  # noqa: F401
    import json  # noqa: F401

    del sys.modules["ssl"]


def load_kernel(sources: bytes, compiled: bytes) -> None:
    """Make the kernel's modules importable from memory; others come from the image. Python's zipimport needs a file and
    reads each module twice: half as long again from bytecode, twice from source."""
    import json
    import marshal
    import subprocess
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
            path = module.__file__ or ""
            file = path[len(ROOT) + 1 :]
            body = marshal.loads(code.pop(file)) if file in code else read_texts()[file]
            exec(compile(body, path, "exec", dont_inherit=True) if isinstance(body, str) else body, module.__dict__)

        def get_source(self, name: str) -> "str | None":
            spec = self.find_spec(name)
            return read_texts()[spec.origin[len(ROOT) + 1 :]] if spec and spec.origin else None

    sys.meta_path.insert(0, KernelFinder())
    # This process is isolated from packages and from the folder of cells; those that a cell starts are not, also where
    # multiprocessing and scikit-learn start Python with the options of this one.
    subprocess._args_from_interpreter_flags = list  # type: ignore[attr-defined]  # noqa: SLF001
    if os.path.isdir(PACKAGES):
        # After the standard library, before packages that are installed already.
        installed = [place for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
        sys.path.insert(sys.path.index(installed[0]) if installed else len(sys.path), PACKAGES)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (PACKAGES, os.environ.get("PYTHONPATH"))))


def run_kernel(bell: int) -> None:
    """Become the kernel. Never returns."""
    from sandbridge_kernel.serve import serve_pipes

    serve_pipes(bell if bell > 2 else None)
