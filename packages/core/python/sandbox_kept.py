"""Keeps the frames of a kernel that a later bridge may need, within limits. Sent before sandbox_keeper.py."""

import time
from _collections import deque
from itertools import takewhile

TYPE_CHECKING = False

# Output of the running cell: beyond this, the start is dropped.
SHOWN_BYTES = 4 << 20
# Calls not yet taken by a bridge: beyond this, the cell waits.
CALLS_BYTES = 16 << 20
CALLS = 10000


class KeptFrames:
    """Keeps calls until a bridge takes them; the running cell's output and its end, until the client has them."""

    def __init__(self) -> None:
        self.shown = deque()  # type: deque[tuple[int, bytes]]
        self.shown_bytes = 0
        self.dropped = 0
        self.done = None  # type: tuple[int, bytes] | None
        self.done_at = 0.0
        # Number and line by call id, oldest first.
        self.calls = {}  # type: dict[int, tuple[int, bytes]]
        self.calls_bytes = 0
        # Ids of calls that a bridge took and has not answered.
        self.begun = set()  # type: set[int]

    def has_room(self) -> bool:
        return self.calls_bytes < CALLS_BYTES and len(self.calls) < CALLS

    def above(self, number: int) -> "list[tuple[int, bytes]]":
        """The frames with a higher number, in order."""
        kept = [*self.calls.values(), *self.shown, *([self.done] if self.done else ())]
        return sorted(one for one in kept if one[0] > number)

    def show(self, number: int, line: bytes, acknowledged: "int | None") -> None:
        """@param acknowledged last frame that the connected bridge has acknowledged; frames after that are never dropped"""
        self.shown.append((number, line))
        self.shown_bytes += len(line)
        while self.shown_bytes > SHOWN_BYTES and (acknowledged is None or self.shown[0][0] <= acknowledged):
            _, gone = self.shown.popleft()
            self.shown_bytes -= len(gone)
            self.dropped += len(gone)

    def finish(self, number: int, line: bytes) -> None:
        self.done = (number, line)
        self.done_at = time.monotonic()
        self.begun.clear()

    def call(self, call: int, number: int, line: bytes) -> None:
        self.drop_call(call)
        self.calls[call] = (number, line)
        self.calls_bytes += len(line)

    def drop_call(self, call: int) -> None:
        if call in self.calls:
            self.calls_bytes -= len(self.calls.pop(call)[1])

    def answer(self, call: int) -> None:
        self.drop_call(call)
        self.begun.discard(call)

    def take_on(self, number: int, running: bool) -> None:
        """A bridge makes the calls up to this frame, or may have made them."""
        for call, _ in list(takewhile(lambda one: one[1][0] <= number, self.calls.items())):
            self.drop_call(call)
            if running and len(self.begun) < CALLS:
                self.begun.add(call)

    def release(self, number: int) -> None:
        """The client has received everything up to this frame."""
        while self.shown and self.shown[0][0] <= number:
            self.shown_bytes -= len(self.shown.popleft()[1])
        if self.done and self.done[0] <= number:
            self.done = None
            self.dropped = 0
