"""The channel: sends frames whole, reads what comes, and gives every reply to whoever waits for it.

Only the main thread reads (in a wait of its own, or in the port's signal handler); any thread may send and wait.
It must not know what a call means or what a cell is.
"""

import re
from _thread import allocate_lock
from collections import deque
from itertools import count

from . import frames
from .interrupts import Gate

INTERRUPT = b"\x03"
_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})')


class Channel:
    def __init__(self, port, interrupts):
        self._port = port
        self._interrupts = interrupts
        self._sending = Gate(interrupts)
        self._reading = Gate(interrupts)
        self._outbox = deque()
        self._parts, self._parts_bytes = [], 0  # the line that is still incomplete
        self._lines = deque()
        self._runs = deque()
        self._waiters = {}  # call id -> where its reply goes
        self._ids = count(1)
        self._wanted = False  # bytes came while the reading gate was held
        self.waiting = False  # the main thread is about to read by itself; a signal handler must leave it the bytes
        self.cell = 0
        self.detached = False  # in a forked child, which must not touch the parent's channel

    # ---- sending

    def send(self, frame):
        self.send_line(frames.encode(frame))

    def send_line(self, line):
        """Send an encoded frame. Frames of several threads, signal handlers and finalisers never mix."""
        self._outbox.append(line)
        if self._sending.mine():
            return
        with self._sending:
            while self._outbox:
                self._port.write(self._outbox.popleft())

    # ---- reading

    def pump(self, frame=None):
        """Take in all that has come, without blocking. `frame`: what a signal handler has interrupted."""
        self._wanted = True
        interrupted = False
        while self._wanted and not self._reading.mine():
            with self._reading:
                self._wanted = False
                while self._port.readable():
                    interrupted |= self._feed(self._port.read())
                self._route()
        if interrupted:
            self._interrupts.request(frame)

    def wait(self):
        """Block until something comes and take it in. Main thread only."""
        self._route_now()
        # From here on the signal handler leaves the bytes alone, so that the read below sees them and cannot sleep through them.
        self.waiting = True
        try:
            if self._runs or self._wanted:
                return
            data = self._port.read()
        finally:
            self.waiting = False
        self._take(data)

    def next_run(self):
        """Block until the bridge sends a cell to run."""
        while not self._runs:
            self.wait()
        return self._runs.popleft()
