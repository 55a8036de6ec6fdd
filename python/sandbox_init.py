"""The first process of a native sandbox (container or bubblewrap): limits, kernel, reaping, watching.

It is passed to `python3 -c` as text, so that no host path is needed in the sandbox, and reads the kernel's sources from its
input. It runs as PID 1 of a PID namespace: nothing inside can kill it, and everything inside dies with it. It never reads a
frame. Python 3.6 can parse it, so that an image whose Python is too old is told so. It imports little: what it holds, every
waiting sandbox holds besides its kernel.

Argument: words such as pids=128, namely
  id            for people who look at a list of processes
  kernelBytes   length of the kernel's sources on stdin: one JSON object, path -> text
  codeBytes     length of what compile_kernel.py made of them, behind it; 0 when they have to be compiled
  memoryBytes   memory limit of the sandbox
  pids          limit on processes and threads
"""

import _signal as signal  # its Python half is enumerations, a fifth of what this process would take
import os
import resource
import select
import sys

# Exit codes that the bridge explains in words. Those of the kernel itself are kept apart from them.
EXIT_OUT_OF_MEMORY = 86
EXIT_PYTHON_TOO_OLD = 87
EXIT_KILLED_INSIDE = 88
# `run` of an engine ends with it when the engine is the reason.
EXIT_ENGINE = 125

WATCH_INTERVAL_MS = 100

# Packages that the user has asked for: partner of PACKAGES_TARGET in package-folder.ts.
PACKAGES = "/opt/site-packages"


def main():
    config = dict(word.split("=", 1) for word in sys.argv[1].split())
    memory = int(config["memoryBytes"])
    if sys.version_info < (3, 10):
        say("Python %d.%d is too old: the kernel needs 3.10 or newer" % sys.version_info[:2])
        os._exit(EXIT_PYTHON_TOO_OLD)
    try:
        os.chdir("/workspace")
    except OSError:
        pass  # a sandbox without one: stay where the image starts
    memory_enforced = set_limits(memory, int(config["pids"]))
    kernel = os.fork()
    if kernel == 0:
        run_kernel(read_exactly(0, int(config["kernelBytes"])), read_exactly(0, int(config["codeBytes"])))
    else:
        watch(kernel, None if memory_enforced else memory)


def say(text):
    os.write(2, ("sandbox: " + text + "\n").encode())


def read_exactly(fd, count):
    parts = []
    while count:
        part = os.read(fd, min(count, 65536))
        if not part:
            os._exit(0)  # the bridge went away
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


# --- limits -------------------------------------------------------------------------------------------------------------


def set_limits(memory, pids):
    """Set the limits of every process in the sandbox. Returns whether the host holds the sandbox to its memory limit."""
    # Reached before the sandbox's own limit, so that a cell that asks for too much gets a MemoryError and keeps its variables.
    lower(resource.RLIMIT_DATA, memory - min(64 << 20, memory // 8))
    lower(resource.RLIMIT_CORE, 0)
    # A host without the cgroup controller ignores the limits it was given (rootless Podman on cgroup v1; bubblewrap has none).
    if not at_most(pids, "/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"):
        lower(resource.RLIMIT_NPROC, pids)
    if at_most(memory, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        lower(resource.RLIMIT_NOFILE, 1024)
        return True
    # Sockets and pipes hold memory of no process, and much of it before it can be counted: nobody needs many of them.
    lower(resource.RLIMIT_NOFILE, 256)
    # Shared memory is no part of RLIMIT_DATA. Address space is a coarse measure (libraries and stacks count), hence the room.
    lower(resource.RLIMIT_AS, memory * 2 + (1 << 30))
    return False


def lower(limit, value):
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, value))


def at_most(limit, *paths):
    """Whether one of these cgroup files holds a number of at most `limit`."""
    for path in paths:
        text = read_text(path).strip()
        if text.isdigit():
            return int(text) <= limit
    return False


def read_text(path):
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""


# --- the kernel's process -----------------------------------------------------------------------------------------------


def run_kernel(sources, compiled):
    """Become the kernel: its modules come from memory, the rest from the image."""
    import json
    import marshal
    import types
    from importlib._bootstrap_external import MAGIC_NUMBER
    from importlib.machinery import ModuleSpec

    files = json.loads(sources)
    size = len(MAGIC_NUMBER)
    # The Python of a host may have been replaced since.
    code = marshal.loads(compiled[size:]) if compiled[:size] == MAGIC_NUMBER else {}
    del sources, compiled  # this function does not return
    root = "/sandbridge"

    class KernelFinder:
        def find_spec(self, name, path=None, target=None):
            stem = name.replace(".", "/")
            for file, is_package in ((stem + "/__init__.py", True), (stem + ".py", False)):
                if file in files:
                    spec = ModuleSpec(name, self, origin=root + "/" + file, is_package=is_package)
                    spec.has_location = True
                    if is_package:
                        spec.submodule_search_locations = [root + "/" + stem]
                    return spec
            return None

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            run(module.__spec__.origin, module.__dict__)

        def get_source(self, name):
            spec = self.find_spec(name)
            return files[spec.origin[len(root) + 1 :]] if spec else None

    def run(path, namespace):
        file = path[len(root) + 1 :]
        if file in code:
            module = marshal.loads(code.pop(file))
        else:
            module = compile(files[file], path, "exec", dont_inherit=True)
        exec(module, namespace)

    sys.meta_path.insert(0, KernelFinder())
    # asyncio loads ssl where it can, for sockets that reach nothing here: megabytes that every waiting sandbox would hold.
    sys.modules["ssl"] = None
    import asyncio  # noqa: F401

    del sys.modules["ssl"]
    if os.path.isdir(PACKAGES):
        # Before what is installed there already, after the standard library.
        installed = [place for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
        sys.path.insert(sys.path.index(installed[0]) if installed else len(sys.path), PACKAGES)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = ["sandbridge"]
    module.__file__ = root + "/__main__.py"
    run(module.__file__, module.__dict__)


# --- PID 1 --------------------------------------------------------------------------------------------------------------


def watch(kernel, memory):
    """Reap until the kernel or the bridge is gone; end the sandbox if it takes more than `memory` bytes (None: the host sees to it)."""
    import ctypes

    # Same user, but not dumpable: code in the sandbox can neither trace this process nor write to its memory.
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # The kernel is the one that reads frames and writes them: its end has to close the channel.
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 1)
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)

    poll = select.poll()
    poll.register(woken, select.POLLIN)
    # Only the hang-up: the bridge is gone. A kernel that is busy in C code cannot see that, so it is not left to the kernel.
    poll.register(0, select.POLLRDHUP)
    usage = None if memory is None else MemoryUse()
    timeout = None if usage is None else WATCH_INTERVAL_MS
    while True:
        reap(kernel)
        for fd, _ in poll.poll(timeout):
            if fd == 0:
                os._exit(0)
            os.read(woken, 4096)
        if usage is not None and usage.count(exact=False) > memory and usage.count(exact=True) > memory:
            say("out of memory: more than %d MiB in use" % (memory >> 20))
            os._exit(EXIT_OUT_OF_MEMORY)


def reap(kernel):
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            os._exit(1)
        if pid == 0:
            return
        if pid == kernel:
            finish(status)


def finish(status):
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL and oom_kills() > 0:
        say("out of memory: the kernel was ended by the host")
        os._exit(EXIT_OUT_OF_MEMORY)
    if code == -signal.SIGKILL:
        os._exit(EXIT_KILLED_INSIDE)  # 137 is what is left for a sandbox that is killed as a whole
    if code < 0:
        os._exit(128 - code)
    # A cell can end its Python with any code: with one that means something else, the meaning is not its own to give.
    reserved = (EXIT_OUT_OF_MEMORY, EXIT_PYTHON_TOO_OLD, EXIT_KILLED_INSIDE, EXIT_ENGINE)
    os._exit(1 if code in reserved or code > 128 else code)


def oom_kills():
    text = read_text("/sys/fs/cgroup/memory.events") or read_text("/sys/fs/cgroup/memory/memory.oom_control")
    for line in text.splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return 0


# --- memory, where the host does not count it ---------------------------------------------------------------------------

WRITABLE = ("/tmp", "/workspace", "/projects", "/dev/shm")
# An inode of a tmpfs and its name are in no block. A descriptor may be an end of a pipe, which holds two pages at least: the host
# lets a user have few that hold more.
INODE_BYTES = 1536
STATUS_UNITS = {"RssAnon": 1024, "RssShmem": 1024}
KERNEL_UNITS = {"VmPTE": 1024, "FDSize": 4096}
EXACT_UNITS = {"Pss_Anon": 1024, "Pss_Shmem": 1024}


class MemoryUse:
    """What the sandbox takes: its processes, its files, and what the kernel holds for its sockets and pipes."""

    def __init__(self):
        import _socket

        socket = _socket.socket(_socket.AF_UNIX)
        # It may take one message more than that, of half the size. The filter keeps it from being raised.
        self.socket_bytes = socket.getsockopt(_socket.SOL_SOCKET, _socket.SO_SNDBUF) * 3 // 2
        socket.close()
        mounts = [line.split() for line in read_text("/proc/self/mounts").splitlines()]
        self.tmpfs = [words[1] for words in mounts if words[1] in WRITABLE and words[2] == "tmpfs"]

    def count(self, exact):
        """Bytes in use. Unless it is to be exact, what processes share is taken once for each."""
        return sum(map(in_files, self.tmpfs)) + count_sockets() * self.socket_bytes + in_processes(exact)


def in_files(folder):
    stat = os.statvfs(folder)
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize + (stat.f_files - stat.f_ffree) * INODE_BYTES


def count_sockets():
    """All sockets of the sandbox's network namespace, also those that no descriptor stands for."""
    words = read_text("/proc/net/sockstat").split()
    return int(words[2]) if words[:2] == ["sockets:", "used"] else 0


def in_processes(exact):
    total = 0
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            status = read_text("/proc/%s/status" % pid)
            shared_once = count_fields(read_text("/proc/%s/smaps_rollup" % pid), EXACT_UNITS) if exact else 0
            # A process can make its smaps unreadable, its status not.
            total += count_fields(status, KERNEL_UNITS) + (shared_once or count_fields(status, STATUS_UNITS))
    return total


def count_fields(text, units):
    total = 0
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if name in units:
            total += int(rest.split()[0]) * units[name]
    return total


main()
