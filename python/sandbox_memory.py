"""Counts what a native sandbox takes, where the host does not: all of it, or locks of files, which no cgroup counts. Sent in front
of sandbox_init.py, whose process does the counting.

The cells are of the same user, and may do anything to slow this process down: start a hundred that never sleep, or give a
process so many mappings that reading about it takes long. So a count has a budget of time. When that is used up, or when this
process was left waiting for its turn, everything else in the sandbox is stopped until the count is done.
"""

import os
import time

# A count that takes longer stops everything else.
BUDGET_S = 0.03
# So much later than planned, others have kept this process from running.
LATE_S = 0.2
RELAXED_MS = 100
# From half the limit on.
ALERT_MS = 20
# Where there are only locks to count.
LOCKS_MS = 1000
# What a child and its parent share between fork and exec is counted twice: it is over in that time.
SETTLE_S = 0.01

WRITABLE = ("/tmp", "/workspace", "/projects", "/dev/shm")
# An inode of a tmpfs and its name are in no block.
INODE_BYTES = 1536
# A mapping with its place in the tree of mappings, and what leads from its pages back to it.
MAPPING_BYTES = 512
# Sixty-four times what it takes: the kernel's list of locks is slow to read when it is long, and nobody needs many.
LOCK_BYTES = 16384
# A descriptor may be an end of a pipe, which holds two pages at least: the host lets a user have few that hold more.
DESCRIPTOR_BYTES = 4096
# What half of a process's descriptors, as epolls, hold for each of the other half: a quarter of the square, 200 bytes each.
DESCRIPTOR_PAIR_BYTES = 50
THREAD_BYTES = 32768
RESIDENT = (b"RssAnon", b"RssShmem")
PROPORTIONAL = (b"Pss_Anon", b"Pss_Shmem")


class OutOfTime(Exception):
    """The budget of a count is used up."""


class MemoryUse:
    """What the sandbox takes: its processes, its files, and what the kernel holds for them."""

    def __init__(self, limit: int, counted_by_host: bool) -> None:
        self.limit = limit
        self.locks_only = counted_by_host
        # Process -> (when it started and how much it has run, mappings then): without running it makes none.
        self.mappings = {}  # type: dict[str, tuple[object, int]]
        self.due = time.monotonic()
        if counted_by_host:
            return
        import _socket

        socket = _socket.socket(_socket.AF_UNIX)
        # It may take one message more than that, of half the size. The filter keeps it from being raised.
        self.socket_bytes = socket.getsockopt(_socket.SOL_SOCKET, _socket.SO_SNDBUF) * 3 // 2
        socket.close()
        mounts = [line.split() for line in read_bytes("/proc/self/mounts").decode().splitlines()]
        self.tmpfs = [words[1] for words in mounts if words[1] in WRITABLE and words[2] == "tmpfs"]
        self.most_mappings = int(read_bytes("/proc/sys/vm/max_map_count") or 65530)

    def wait_ms(self) -> int:
        """How long until the next count."""
        return max(0, int((self.due - time.monotonic()) * 1000) + 1)

    def is_due(self) -> bool:
        return time.monotonic() >= self.due

    def is_too_much(self) -> bool:
        """Count. The next time is planned from here."""
        late = time.monotonic() - self.due > LATE_S
        taken = self.limit
        try:
            taken = self.count(False, late)
            if taken <= self.limit:
                return False
            # Nobody shares a lock: it is not counted twice.
            if self.locks_only:
                return True
            if self.count(True, late) <= self.limit:
                return False
            time.sleep(SETTLE_S)
            return self.count(True, late) > self.limit
        finally:
            relaxed = LOCKS_MS if self.locks_only else RELAXED_MS
            self.due = time.monotonic() + (relaxed if taken * 2 < self.limit else ALERT_MS) / 1000

    def count(self, exact: bool, late: bool) -> int:
        """Bytes in use. Unless it is to be exact, what processes share is taken once for each."""
        if not late:
            try:
                return self.count_until(exact, time.monotonic() + BUDGET_S)
            except OutOfTime:
                pass
        signal_all(19)  # SIGSTOP
        try:
            return self.count_until(True, float("inf"))
        finally:
            signal_all(18)  # SIGCONT

    def count_until(self, exact: bool, deadline: float) -> int:
        total = count_lines("/proc/locks", deadline, self.limit // LOCK_BYTES + 1, 0) * LOCK_BYTES
        if self.locks_only:
            return total
        total += sum(map(in_files, self.tmpfs)) + count_sockets() * self.socket_bytes
        known = self.mappings
        seen = {}
        for pid in os.listdir("/proc"):
            if not pid.isdigit():
                continue
            if time.monotonic() > deadline:
                raise OutOfTime()
            total += in_process("/proc/" + pid, exact)
            mappings = self.count_mappings(pid, known.get(pid), deadline, total)
            seen[pid] = mappings
            total += mappings[1] * MAPPING_BYTES
        self.mappings = seen
        return total

    def count_mappings(
        self, pid: str, known: "tuple[object, int] | None", deadline: float, total: int
    ) -> "tuple[object, int]":
        # Behind the name, which may hold anything: state first, time in user and system mode, start.
        fields = read_bytes("/proc/%s/stat" % pid).rpartition(b")")[2].split()
        if pid == "1" or len(fields) < 20:
            return (None, 0)
        life = (fields[19], fields[11], fields[12])
        if known and known[0] == life:
            return known
        most = max(0, self.limit - total) // MAPPING_BYTES + 1
        return (life, count_lines(living("/proc/" + pid) + "/maps", deadline, most, self.most_mappings))


def read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb", 0) as file:
            return file.read()
    except OSError:
        return b""


def signal_all(number: int) -> None:
    try:
        os.kill(-1, number)
    except OSError:
        pass  # there is nothing but this process


def in_files(folder: str) -> int:
    stat = os.statvfs(folder)
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize + (stat.f_files - stat.f_ffree) * INODE_BYTES


def count_sockets() -> int:
    """All sockets of the sandbox's network namespace, also those that no descriptor stands for."""
    words = read_bytes("/proc/net/sockstat").split()
    return int(words[2]) if words[:2] == [b"sockets:", b"used"] else 0


def living(place: str) -> str:
    """Where a process tells of its memory. When its first thread has ended, only the others do."""
    if b"\nState:\tZ" not in read_bytes(place + "/status"):
        return place
    try:
        threads = os.listdir(place + "/task")
    except OSError:
        return place
    for thread in threads:
        if b"\nRssAnon:" in read_bytes("%s/task/%s/status" % (place, thread)):
            return "%s/task/%s" % (place, thread)
    return place


def in_process(place: str, exact: bool) -> int:
    status = read_bytes(place + "/status")
    if b"\nState:\tZ" in status:
        place = living(place)
        status = read_bytes(place + "/status")
    fields = parse_fields(status)
    descriptors = fields.get(b"FDSize", 0)
    kernel = fields.get(b"VmPTE", 0) * 1024 + fields.get(b"Threads", 0) * THREAD_BYTES
    kernel += descriptors * DESCRIPTOR_BYTES + descriptors * descriptors * DESCRIPTOR_PAIR_BYTES
    shared_once = parse_fields(read_bytes(place + "/smaps_rollup")) if exact else {}
    own = sum(shared_once.get(name, 0) for name in PROPORTIONAL)
    # A process can make its smaps unreadable, its status not.
    return kernel + (own or sum(fields.get(name, 0) for name in RESIDENT)) * 1024


def parse_fields(text: bytes) -> "dict[bytes, int]":
    fields = {}  # type: dict[bytes, int]
    for line in text.splitlines():
        name, _, rest = line.partition(b":")
        first = rest.split(None, 1)[:1]
        if first and first[0].isdigit():
            fields[name] = int(first[0])
    return fields


def count_lines(path: str, deadline: float, most: int, unknown: int) -> int:
    """Lines of a file that may be long: no more than `most` are read. `unknown` when the process has made it unreadable."""
    count = 0
    try:
        fd = os.open(path, os.O_RDONLY)
    except PermissionError:
        return unknown
    except OSError:
        return 0
    try:
        while count < most:
            part = os.read(fd, 65536)
            if not part:
                break
            count += part.count(b"\n")
            if time.monotonic() > deadline:
                raise OutOfTime()
    except OSError:
        pass  # it has ended
    finally:
        os.close(fd)
    return count
