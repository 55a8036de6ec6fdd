"""Counts the memory of a native sandbox that its host does not count, or only file locks, which no cgroup counts. Part
of the process of sandbox_init.py. Cells may slow this process down by busy processes or many mappings: so a count has a
time budget. When that is exceeded, or this process had to wait for the CPU, it stops all others until it is done."""

import os
import time

# A count that takes longer stops all other processes.
BUDGET_S = 0.03
# A count this much later than planned: others have kept this process from running.
LATE_S = 0.2
RELAXED_MS = 100
# Interval from half the limit on.
ALERT_MS = 20
# Interval if only locks are counted.
LOCKS_MS = 1000
# Memory shared between fork and exec is counted twice; it is released in this time.
SETTLE_S = 0.01

WRITABLE = ("/tmp", "/workspace", "/projects", "/dev/shm")
# A tmpfs inode and its name, which use no block.
INODE_BYTES = 1536
# A mapping with its tree node, and the reverse mapping of its pages.
MAPPING_BYTES = 512
# Sixty-four times the real size: the kernel's list of locks is slow to read when it is long, and programs need few.
LOCK_BYTES = 16384
# A descriptor may be one end of a pipe, which holds at least two pages; the host allows a user only few larger ones.
DESCRIPTOR_BYTES = 4096
# If half of a process's descriptors are epolls that watch the other half: a quarter of the square, 200 bytes each.
DESCRIPTOR_PAIR_BYTES = 50
THREAD_BYTES = 32768
RESIDENT = (b"RssAnon", b"RssShmem")
PROPORTIONAL = (b"Pss_Anon", b"Pss_Shmem")


class OutOfTime(Exception):
    """A count has exceeded its time budget."""


class MemoryUse:
    """Memory of the sandbox: its processes, its files, and the kernel's memory for them."""

    def __init__(self, limit: int, counted_by_host: bool) -> None:
        self.limit = limit
        self.locks_only = counted_by_host
        # Process -> (start time and CPU time, mappings at that time): without running, a process creates no mappings.
        self.mappings = {}  # type: dict[str, tuple[object, int]]
        self.due = time.monotonic()
        if counted_by_host:
            return
        import _socket

        socket = _socket.socket(_socket.AF_UNIX)
        # A socket may take one more message of half this size. The filter prevents raising the limit.
        self.socket_bytes = socket.getsockopt(_socket.SOL_SOCKET, _socket.SO_SNDBUF) * 3 // 2
        socket.close()
        mounts = [line.split() for line in read_bytes("/proc/self/mounts").decode().splitlines()]
        self.tmpfs = [words[1] for words in mounts if words[1] in WRITABLE and words[2] == "tmpfs"]
        self.most_mappings = int(read_bytes("/proc/sys/vm/max_map_count") or 65530)

    def wait_ms(self) -> int:
        """Milliseconds until the next count."""
        return max(0, int((self.due - time.monotonic()) * 1000) + 1)

    def is_due(self) -> bool:
        return time.monotonic() >= self.due

    def is_too_much(self) -> bool:
        """Count, and plan the next count."""
        late = time.monotonic() - self.due > LATE_S
        taken = self.limit
        try:
            taken = self.count(False, late)
            if taken <= self.limit:
                return False
            # Locks are not shared, so none is counted twice.
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
        """Returns the bytes in use. Unless `exact`, memory that processes share counts for each of them."""
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
        # After the name, which may contain anything: state, …, user and system time, start time.
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
    """Signal all other processes of the sandbox. Outside of one, -1 would be all processes of the user."""
    if os.getpid() != 1:
        return
    try:
        os.kill(-1, number)
    except OSError:
        pass  # there is no other process


def in_files(folder: str) -> int:
    stat = os.statvfs(folder)
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize + (stat.f_files - stat.f_ffree) * INODE_BYTES


def count_sockets() -> int:
    """Count all sockets of the sandbox's network namespace, including those without a descriptor."""
    words = read_bytes("/proc/net/sockstat").split()
    return int(words[2]) if words[:2] == [b"sockets:", b"used"] else 0


def living(place: str) -> str:
    """Return the /proc path with a process's memory. After its first thread has ended, only the other threads have it."""
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
    # A process can make its smaps unreadable, but not its status.
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
    """Count the lines of a file, at most `most`. Returns `unknown` if the process has made it unreadable."""
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
        pass  # the process has ended
    finally:
        os.close(fd)
    return count
