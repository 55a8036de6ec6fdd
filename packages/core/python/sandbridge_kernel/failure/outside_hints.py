"""Finds advice for errors of a cell that reaches for what is outside of the sandbox: the network, files of the host."""

from __future__ import annotations

import errno
import linecache
import os
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    _Advice = dict[str, str] | None

NETWORK_MODULES = "urllib http requests httpx aiohttp httpcore urllib3 websockets ftplib smtplib pyodide".split()
_NETWORK_NAMES = frozenset(
    (
        "gaierror URLError ConnectError ConnectTimeout NewConnectionError NameResolutionError ClientConnectorError"
    ).split()
)
_NO_NETWORK = frozenset((errno.EADDRNOTAVAIL, errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTUNREACH))
# Error codes of sandboxes that forbid sockets; other failures have the same codes.
_FORBIDDEN = frozenset((errno.EPERM, errno.EACCES, errno.EAFNOSUPPORT, errno.ECONNREFUSED, errno.ENOTSUP))
_ERRNO = re.compile(r"\[Errno (\d+)\]")
_SOCKET_CALL = re.compile(r"\b(?:socket|connect(?:_ex)?|sendto|bind|listen|create_connection|open_connection)\s*\(")
_SOCKET_MODULES = frozenset("socket asyncio http ssl urllib ftplib smtplib imaplib poplib telnetlib".split())
NO_NETWORK_HINT = "The sandbox has no network: only tools of MCP servers reach out."
_HOME = re.compile(r"~|\bexpanduser\b|\.home\(\)")
_INSIDE = ("/tmp", "/workspace", "/projects", "/proc", "/dev", "/sys")
# Folders of every system, and those in which folders are mounted.
_SYSTEM = frozenset("bin boot etc home lib lib64 opt root run sbin usr Users var".split())
_MOUNTS = ("media", "mnt", "srv")
_URL = re.compile(r"https?://(?:www\.)?([\w.-]+)|host='([\w.-]+)'")


def of_network(error: BaseException) -> _Advice:
    if not any(map(_is_network, chain_of(error))):
        return None
    match = _URL.search(" ".join(str(one) for one in chain_of(error))[:10_000])
    host = (match[1] or match[2]) if match else ""
    words = " ".join(part for part in host.split(".") if part not in ("api", "com", "org", "net", "io"))
    return {"hint": NO_NETWORK_HINT, "search": f"fetch web page url {words}".strip()}


def _is_network(error: BaseException) -> bool:
    if type(error).__name__ in _NETWORK_NAMES:
        return True
    if not isinstance(error, OSError):
        # The embedded sandbox's event loop cannot connect, and there are no threads for name lookups.
        return isinstance(error, (NotImplementedError, RuntimeError)) and _went_through(
            error, ("create_connection", "getaddrinfo")
        )
    numbers = [error.errno] if error.errno is not None else [int(one) for one in _ERRNO.findall(str(error)[:2000])]
    if _NO_NETWORK.intersection(numbers):
        return True
    module = type(error).__module__.partition(".")[0]
    if module in NETWORK_MODULES and "Connection" in type(error).__name__:
        return True
    return bool(_FORBIDDEN.intersection(numbers)) and error.filename is None and _is_of_sockets(error)


def _went_through(error: BaseException, names: tuple[str, ...]) -> bool:
    return any(frame.f_code.co_name in names and "asyncio" in frame.f_code.co_filename for frame, _ in frames_of(error))


def _is_of_sockets(error: BaseException) -> bool:
    frames = frames_of(error)
    if not frames:
        return False
    last, number = frames[-1]
    if str(last.f_globals.get("__name__")).partition(".")[0] in _SOCKET_MODULES:
        return True
    return _SOCKET_CALL.search(linecache.getline(last.f_code.co_filename, number)) is not None


def frames_of(error: BaseException) -> list[tuple[FrameType, int]]:
    found, traceback = [], error.__traceback__
    while traceback is not None:
        found.append((traceback.tb_frame, traceback.tb_lineno or 0))
        traceback = traceback.tb_next
    return found


def of_host_file(error: BaseException) -> _Advice:
    path = getattr(error, "filename", None)
    if not isinstance(error, OSError) or error.errno not in (errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS):
        return None
    path = os.fsdecode(path) if type(path) is bytes else path if type(path) is str else ""
    if not (_is_elsewhere(path) or _is_at_home(path, error)):
        return None
    return {
        "hint": "The sandbox has no files of the host, only its own /workspace and /tmp.",
        "search": "read file from file system",
    }


def _is_elsewhere(path: str) -> bool:
    if re.match(r"[A-Za-z]:[\\/]|\\\\|~|file:|\$HOME\b|%USERPROFILE%", path):
        return True
    if not path.startswith("/") or path.startswith(
        (*_INSIDE, os.getcwd() + "/", sys.prefix + "/", sys.base_prefix + "/lib")
    ):
        return False
    return not _is_in_own_folder(path)


def _is_in_own_folder(path: str) -> bool:
    """True in a folder that this sandbox has and others do not, such as a mounted one: the path was meant for it."""
    folders = path.split("/")[1:-1]
    if not folders or folders[0] in _SYSTEM:
        return False
    depth = 2 if folders[0] in _MOUNTS else 1
    return len(folders) >= depth and os.path.isdir("/" + "/".join(folders[:depth]))


def _is_at_home(path: str, error: BaseException) -> bool:
    """True for a path in the sandbox's home, which was probably meant to be the user's."""
    if not path.startswith(os.path.expanduser("~")):
        return False
    lines = [
        linecache.getline(frame.f_code.co_filename, number)
        for frame, number in frames_of(error)
        if frame.f_code.co_filename.startswith("Cell ")
    ]
    return bool(lines) and _HOME.search(lines[-1]) is not None


def chain_of(error: BaseException | None) -> list[BaseException]:
    seen: list[BaseException] = []
    while error is not None and error not in seen and len(seen) < 10:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen
