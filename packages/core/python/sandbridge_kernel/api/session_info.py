"""What a cell can learn of its own session: `runtime.session()` and `runtime.packages()`."""

import sys
from collections.abc import Callable
from struct import error as StructError, unpack

from ..data.values import Record
from . import bridge

__all__ = ["packages", "session"]

# Parts of the standard library that some Python builds omit.
_OPTIONAL = "bz2 ctypes curses dbm.gnu lzma multiprocessing readline sqlite3 ssl subprocess tkinter zoneinfo".split()


# What models expect to find.
_EXPECTED = ("numpy", "pandas", "matplotlib")


class SessionInfo(Record):
    """About this session; one line for each fact when printed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.items())


class Packages(dict[str, str]):
    """Name → version of the packages that can be imported besides the standard library."""

    def __repr__(self) -> str:
        python = ".".join(map(str, sys.version_info[:3]))
        missing = self._missing()
        library = f"Python {python} with its standard library" + (f" without {', '.join(missing)}" if missing else "")
        if sys.platform == "emscripten":
            library += "; threads and processes cannot be started"
        return "\n".join(
            [*self._absent(), library, *(f"{name} {version}" for name, version in self.items())]
            + ([] if self else ["(no other packages)"])
        )

    def _absent(self) -> list[str]:
        from importlib.util import find_spec

        names = [name for name in _EXPECTED if not _has(find_spec, name)]
        if not names:
            return []
        command = f"sandbridge packages add {' '.join(names)}"
        return [f"Not here: {', '.join(names)}. Nothing can be installed from inside; the user can run `{command}`."]

    def _missing(self) -> list[str]:
        from importlib.util import find_spec

        return [name for name in _OPTIONAL if name.partition(".")[0] not in sys.modules and not _has(find_spec, name)]


def _has(find_spec: Callable[[str], object], name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ImportError:
        return False


def session() -> SessionInfo:
    """Age, memory, number of cells and limits of this session."""
    info = SessionInfo(bridge.ask_sync("session"))
    used = _memory_bytes()
    if used is not None:
        info["memoryUsedBytes"] = used
    return info


def packages() -> Packages:
    """The packages that can be imported here, besides the standard library."""
    from importlib.metadata import distributions

    found: dict[str, str] = {}
    for one in distributions():
        # If there are several, the first one is imported.
        if name := one.metadata["Name"]:
            found.setdefault(str(name), one.version)
    return Packages(sorted(found.items(), key=lambda item: item[0].lower()))


def _memory_bytes() -> int | None:
    """Resident memory of this process, where the system tells; in WebAssembly the memory that Python has, which never shrinks."""
    try:
        if sys.platform == "emscripten":
            with open("/dev/sandbridge-memory", "rb", buffering=0) as file:
                return int(unpack("<d", file.read(8))[0])
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[1])
        import resource

        return pages * resource.getpagesize()
    except (OSError, ImportError, ValueError, IndexError, StructError):
        return None
