"""The socket for the command `mcp` while a bash cell runs: converts bytes to arguments, and a reply to bytes. Any
process of the sandbox can connect to it and send anything: requests are limited here, and checked by the bridge like
everything else from the sandbox."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .command import Reply

    Command = Callable[[list[str], bytes, bool], Awaitable[Reply]]

_MAX_OPEN = 64
_MAX_REQUEST_BYTES = 8 << 20
_MAX_HELD_BYTES = 32 << 20  # of all requests together
_MAX_WORDS = 4096
_MAX_HEAD_BYTES = 32
_REQUEST_SECONDS = 10.0
_CHUNK = 1 << 16


class _Refused(Exception):
    pass


class CommandSocket:
    def __init__(self, path: str, command: Command) -> None:
        self._path, self._command = path, command
        self._tasks: set[asyncio.Task[None]] = set()
        self._held = 0
        self._server: asyncio.AbstractServer

    async def open(self) -> None:
        self._server = await asyncio.start_unix_server(self._accept, self._path, limit=_CHUNK)

    async def close(self) -> None:
        """End the calls whose results the cell no longer needs."""
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= _MAX_OPEN:
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not report it

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pieces: list[bytes] = []
        try:
            try:
                await asyncio.wait_for(self._read(reader, pieces), _REQUEST_SECONDS)
                words, data, is_shown = _parsed(b"".join(pieces))
                reply = await self._command(words, data, is_shown)
                status, out, err = reply.status, reply.out, reply.err
            except (_Refused, asyncio.TimeoutError) as error:
                status, out, err = 2, b"", f"mcp: {error or 'the request did not end'}\n".encode()
            writer.write(b"%d %d\n" % (status, len(out)) + out + err)
            await writer.drain()
        except Exception:
            pass  # the client is gone, or memory is exhausted
        finally:
            self._held -= sum(map(len, pieces))
            pieces.clear()
            writer.close()

    async def _read(self, reader: asyncio.StreamReader, pieces: list[bytes]) -> None:
        size = 0
        while piece := await reader.read(_CHUNK):
            pieces.append(piece)
            self._held += len(piece)
            size += len(piece)
            if size > _MAX_REQUEST_BYTES:
                raise _Refused(f"the arguments are larger than {_MAX_REQUEST_BYTES >> 20} MiB")
            if self._held > _MAX_HELD_BYTES:
                raise _Refused("too many large calls are open at once")


def _parsed(request: bytes) -> tuple[list[str], bytes, bool]:
    head, newline, _ = request[:_MAX_HEAD_BYTES].partition(b"\n")
    numbers = head.split()
    if not newline or len(numbers) != 2 or not all(number.isdigit() for number in numbers):
        raise _Refused("the request is malformed")
    count = int(numbers[0])
    if count > _MAX_WORDS:
        raise _Refused(f"there are more than {_MAX_WORDS} arguments")
    *words, data = request[len(head) + 1 :].split(b"\0", count)
    if len(words) != count:
        raise _Refused("the request is malformed")
    return [word.decode("utf-8", "surrogateescape") for word in words], data, numbers[1] == b"1"
