"""`/projects`: files that outlive the session. Before a cell, fetches what differs; after it, sends what has changed,
which overwrites others' changes per file. The bridge limits how much is kept."""

from __future__ import annotations

import os
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator
from stat import S_ISDIR, S_ISREG
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..wire.channel import Channel
    from .interrupts import Interrupts

FOLDER = "/projects"

_PIECE_BYTES = 3 << 20
_BATCH = 500
_MAX_SEEN = 20_000  # most files and folders examined; the bridge keeps far fewer
_SECONDS_AFTER_INTERRUPT = 1.0  # less than the bridge gives an interrupted cell
_NAMED = 5
_REFUSED = "refused"  # in place of a stamp

_Signature = tuple[int, ...] | str


class Projects:
    def __init__(self, channel: Channel, interrupts: Interrupts) -> None:
        self._channel, self._interrupts = channel, interrupts
        self._revision: str | None = ""  # of an empty folder
        self._known: dict[str, tuple[str, _Signature]] = {}  # path -> (the bridge's stamp, the file's signature here)
        try:
            os.makedirs(FOLDER, exist_ok=True)  # in the embedded sandbox; elsewhere it exists
        except OSError:
            pass  # fetching files reports it

    def bring(self, revision: str | None) -> str | None:
        """Fetch the bridge's files. Returns one sentence about a failure, or None."""
        if revision == self._revision:
            return None
        return self._guarded(self._bring, "The files of /projects could not be brought in", revision)

    def hand_over(self, interrupted: bool) -> str | None:
        """Send the changes since then to the bridge. Returns one sentence about what is not kept, or None."""
        deadline = monotonic() + _SECONDS_AFTER_INTERRUPT if interrupted else None
        return self._guarded(self._hand_over, "The changes in /projects could not be kept", deadline)

    def _guarded(self, work: Callable[..., str | None], failure: str, *args: object) -> str | None:
        try:
            try:
                self._interrupts.arm()
                return work(*args)
            finally:
                self._interrupts.disarm()
        except BaseException as error:
            return f"{failure}: {str(error) or type(error).__name__}"

    def _ask(self, method: str, **params: object) -> Any:
        reply = self._channel.call_sync(method, params)
        if "error" in reply:
            raise OSError(reply["error"]["message"])
        return reply["value"]

    def _here(self) -> dict[str, _Signature]:
        """Returns what is in the folder. What is known is looked for by name, too: with too many files, or in a folder
        that cannot be listed, it is not found, and what is not here is removed elsewhere."""
        here = dict(_found())
        for path, (_, known) in self._known.items():
            if path not in here and not _is_gone(path):
                here[path] = _signature(os.path.join(FOLDER, path)) or known
        return here

    # ---- fetch

    def _bring(self, revision: str | None) -> str | None:
        entries = {entry["path"]: entry for entry in self._ask("projects")}
        here = self._here()
        wanted = []
        for path, entry in entries.items():
            stamp, signature = self._known.get(path, ("", ""))
            if path in here and here[path] != signature and stamp:
                continue  # changed here and not sent yet: the newer version
            if entry.get("folder"):
                self._make_folder(path)
            elif entry["stamp"] != stamp or path not in here:
                wanted.append(path)
        for path in sorted(self._known, key=len, reverse=True):
            stamp, signature = self._known[path]
            if path not in entries and here.get(path) == signature and stamp != _REFUSED:
                _remove(path)
                del self._known[path]
        failed: dict[str, str] = {}
        while wanted:
            wanted = self._fetch(wanted, entries, failed)
        if failed:
            # They are tried again before the next cell.
            return f"Not brought in: {_named(failed)}."
        self._revision = revision
        return None

    def _fetch(self, wanted: list[str], entries: dict[str, dict[str, Any]], failed: dict[str, str]) -> list[str]:
        """Write some of the wanted files. Returns the rest. `failed` gets those that cannot be written, and why."""
        done = 0
        for found in self._ask("read_projects", paths=wanted[:_BATCH]):
            path = found["path"]
            done += 1
            if "data" not in found:
                continue
            try:
                self._write(path, found)
            except OSError as problem:
                failed[path] = str(problem)
            else:
                self._known[path] = (entries[path]["stamp"], _signature(os.path.join(FOLDER, path)) or "")
        return wanted[max(done, 1) :]

    def _write(self, path: str, found: dict[str, Any]) -> None:
        full = os.path.join(FOLDER, path)
        if os.path.isdir(full):
            _remove(path)  # the file took its place elsewhere
        file = open(full, "wb")
        try:
            with file:
                file.write(a2b_base64(found["data"]))
                while file.tell() < found["sizeBytes"]:
                    piece = self._ask("read_projects", paths=[path], offset=file.tell())[0].get("data")
                    if not piece:
                        break
                    file.write(a2b_base64(piece))
        except BaseException:
            # Half of it would be sent back as a change, and none of it as removed.
            self._known.pop(path, None)
            _remove(path)
            raise

    def _make_folder(self, path: str) -> None:
        full = os.path.join(FOLDER, path)
        if not os.path.isdir(full):
            _remove(path)
            os.makedirs(full)
        self._known[path] = ("folder", "folder")

    # ---- send

    def _hand_over(self, deadline: float | None) -> str | None:
        here = {path: signature for path, signature in self._here().items() if signature}
        removed = [path for path in self._known if path not in here]
        changed = [path for path, signature in here.items() if self._known.get(path, ("", ""))[1] != signature]
        refused: dict[str, str] = {}
        late = 0
        while removed or changed:
            if deadline is not None and monotonic() > deadline:
                late = len(removed) + len(changed)
                break
            gone, removed = removed[:_BATCH], removed[_BATCH:]
            refused |= self._keep(gone, _batch(changed, here), here)
            for path in gone:
                self._known.pop(path, None)
        return _told(refused, late)

    def _keep(self, removed: list[str], batch: list[str], here: dict[str, _Signature]) -> dict[str, str]:
        files, refused = [], {}
        folders = [path for path in batch if here[path] == "folder"]
        for path in batch:
            try:
                if here[path] != "folder":
                    files.append(self._content(path))
            except OSError as problem:  # too large, or no longer readable
                refused[path] = str(problem)
        report = self._ask("keep_projects", files=files, folders=folders, removed=removed)
        for path, stamp in report["kept"].items():
            if path in here:
                self._known[path] = (stamp, here[path])
        refused |= report["refused"]
        for path in refused:
            # Reported once, and retried when it changes.
            if path in here:
                self._known[path] = (_REFUSED, here[path])
        return refused

    def _content(self, path: str) -> dict[str, object]:
        with open(os.path.join(FOLDER, path), "rb") as file:
            data = file.read(_PIECE_BYTES)
            if len(data) < _PIECE_BYTES:
                return {"path": path, "data": _base64(data)}
            upload = None
            while data:
                params = {"data": _base64(data)} | ({"upload": upload} if upload else {})
                upload = self._ask("upload", **params)
                data = file.read(_PIECE_BYTES)
            return {"path": path, "upload": upload}


def _batch(changed: list[str], here: dict[str, _Signature]) -> list[str]:
    """Remove from the list as many files as one frame should hold, and return them."""
    taken: list[str] = []
    room = _PIECE_BYTES
    while changed and len(taken) < _BATCH and room > 0:
        path = changed.pop(0)
        taken.append(path)
        signature = here[path]
        room -= 0 if isinstance(signature, str) else signature[0]
    return taken


def _found() -> Iterator[tuple[str, _Signature]]:
    """Returns every path below the folder, parents first. The signature is empty unless it is a file or a folder."""
    pending, seen = [""], 0
    while pending:
        folder = pending.pop()
        try:
            names = sorted(os.listdir(os.path.join(FOLDER, folder)))
        except OSError:
            continue
        for name in names:
            seen += 1
            if seen > _MAX_SEEN:
                return
            path = f"{folder}/{name}" if folder else name
            signature = _signature(os.path.join(FOLDER, path))
            if signature == "folder":
                pending.append(path)
            if signature is not None:
                yield path, signature


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


def _signature(full: str) -> _Signature | None:
    try:
        stat = os.lstat(full)
    except OSError:
        return None
    if S_ISDIR(stat.st_mode):
        return "folder"
    return (stat.st_size, stat.st_mtime_ns, stat.st_ino) if S_ISREG(stat.st_mode) else ""


def _is_gone(path: str) -> bool:
    try:
        mode = os.lstat(os.path.join(FOLDER, path)).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False  # in a folder that cannot be searched, for example
    return not (S_ISDIR(mode) or S_ISREG(mode))


def _remove(path: str) -> None:
    full = os.path.join(FOLDER, path)
    try:
        if os.path.isdir(full) and not os.path.islink(full):
            os.rmdir(full)  # fails if it is not empty
        elif os.path.lexists(full):
            os.remove(full)
    except OSError:
        pass


def _told(refused: dict[str, str], late: int) -> str | None:
    parts = [_named(refused)] if refused else []
    if late:
        parts.append(f"{late} changes, because the cell was interrupted: they are kept after the next cell")
    return f"Not kept: {'; '.join(parts)}." if parts else None


def _named(problems: dict[str, str]) -> str:
    parts = [f"{FOLDER}/{path}: {reason}" for path, reason in list(problems.items())[:_NAMED]]
    if len(problems) > _NAMED:
        parts.append(f"and {len(problems) - _NAMED} more")
    return "; ".join(parts)
