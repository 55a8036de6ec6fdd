"""The first process of a native sandbox (container or bubblewrap): limits, kernel, reaping, watching (with
sandbox_memory.py and sandbox_kernel.py).

It is passed to `python3 -c` as text, so that the sandbox needs no host path, and reads the kernel's sources from
stdin; or it is forked from a process that has them (sandbox_fork_server.py). It runs as PID 1 of a PID namespace: no process
inside can kill it, and all of them die with it. It never reads a frame. Python 3.6 can parse it, so that it can report an
image's Python that is too old. It imports little, because every waiting sandbox holds that memory in addition to its kernel.

Argument: words such as pids=128, namely
  id            for people who look at a list of processes
  kernelBytes   length of the kernel's sources on stdin: one JSON object, path -> text
  codeBytes     length of the bytecode of compile_kernel.py, after the sources; 0 if there is none
  memoryBytes   memory limit of the sandbox
  pids          limit on processes and threads
  bell          descriptor of the kernel's bell (port_pipe.py); missing if there is none
  kept          1 if bridges attach to stdin and stdout, one after the other: the sandbox may outlive them (sandbox_keeper.py)
  channel       path of a socket for frames, with stdin as the bell; if missing or unreachable, frames use stdin and stdout
  fileBytes     largest file that may be written; missing if the folders set the limit
  inputSeconds  how long to wait for the kernel's sources; missing if the end of the bridge always closes stdin
"""

import _signal as signal  # the `signal` module adds only enumerations, a fifth of this process's memory
import os
import resource
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Container

    from sandbox_keeper import Keeper  # sent before this file, if the sandbox is kept
    from sandbox_kernel import load_kernel, load_library, run_kernel  # also sent before this file
    from sandbox_memory import MemoryUse  # also sent before this file

# Exit codes that the bridge explains. The kernel's own exit codes are mapped to others.
EXIT_OUT_OF_MEMORY = 86
EXIT_PYTHON_TOO_OLD = 87
EXIT_KILLED_INSIDE = 88
# Exit code of an engine's `run` if the engine itself failed.
EXIT_ENGINE = 125


def main() -> None:
    config = parse_words(sys.argv[1])
    if sys.version_info < (3, 10):
        say("Python %d.%d is too old: the kernel needs 3.10 or newer" % sys.version_info[:2])
        os._exit(EXIT_PYTHON_TOO_OLD)
    bell = int(config.get("bell", -1))
    close_inherited((0, 1, 2, bell))
    if "kept" in config:
        run_kept_sandbox(config)

    def become_kernel() -> None:
        load_library()
        signal.alarm(int(config.get("inputSeconds", 0)))
        load_kernel(read_exactly(0, int(config["kernelBytes"])), read_exactly(0, int(config["codeBytes"])))
        signal.alarm(0)
        run_kernel(take_channel(config["channel"]) if "channel" in config else bell)

    run_sandbox(config, bell, become_kernel)


def run_kept_sandbox(config: "dict[str, str]") -> None:
    """Run the first process of a sandbox that outlives bridges. Never returns."""
    keeper = Keeper()

    def become_kernel() -> None:
        load_library()
        signal.alarm(int(config["inputSeconds"]))
        code = keeper.read_exactly(int(config["kernelBytes"])), keeper.read_exactly(int(config["codeBytes"]))
        signal.alarm(0)
        load_kernel(*code)
        del code
        run_kernel(keeper.enter_kernel())

    run_sandbox(config, -1, become_kernel, keeper)


def parse_words(text: str) -> "dict[str, str]":
    return dict(word.split("=", 1) for word in text.split())


def run_sandbox(
    config: "dict[str, str]", bell: int, become_kernel: "Callable[[], None]", keeper: "Keeper | None" = None
) -> None:
    """Run the first process of a sandbox. Never returns."""
    memory = int(config["memoryBytes"])
    try:
        os.chdir("/workspace")
    except OSError:
        pass  # the folder does not exist: stay where the image starts
    memory_enforced = set_limits(memory, int(config["pids"]))
    if "fileBytes" in config:
        lower(resource.RLIMIT_FSIZE, int(config["fileBytes"]))
    kernel = os.fork()
    if kernel == 0:
        default_signals()
        become_kernel()
    else:
        if bell > 2:
            os.close(bell)
        if keeper:
            keeper.stay()
        watch(kernel, memory, memory_enforced, keeper)


def default_signals() -> None:
    """Ignore and block no signal, whatever the bridge was started by: every program of a cell would inherit that."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in range(1, signal.NSIG):
        # Python itself ignores the other two.
        if signal.getsignal(number) == signal.SIG_IGN and number not in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)


def close_inherited(kept: "Container[int]") -> None:
    """Close descriptors that another program opened and the bridge passed on unknowingly: cells must not have them."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                pass  # the descriptor of the list itself


def say(text: str) -> None:
    os.write(2, ("sandbox: " + text + "\n").encode())


def read_exactly(fd: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(fd, min(count, 65536))
        if not part:
            os._exit(0)  # the bridge is gone
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def take_channel(path: str) -> int:
    """Use the socket at `path` for frames. Returns the descriptor of the old stdin, which becomes the bell; -1 if the socket is
    unreachable, with nothing changed."""
    import _socket

    channel = _socket.socket(_socket.AF_UNIX)
    try:
        channel.connect(path)
    except OSError:
        channel.close()
        return -1
    bell = os.dup(0)
    fd = channel.detach()
    os.dup2(fd, 0)
    os.dup2(fd, 1)
    os.close(fd)
    return bell


# --- limits
# -------------------------------------------------------------------------------------------------------------


def set_limits(memory: int, pids: int) -> bool:
    """Set the limits of every process in the sandbox. Returns whether the host enforces the sandbox's memory limit."""
    # Below the sandbox's own limit, so that a cell that wants too much gets a MemoryError and keeps its variables.
    lower(resource.RLIMIT_DATA, memory - min(64 << 20, memory // 8))
    lower(resource.RLIMIT_CORE, 0)
    # Pending timers and signals use kernel memory.
    lower(resource.RLIMIT_SIGPENDING, 4096)
    # Hosts without the controller ignore limits (rootless Podman, cgroup v1); in bubblewrap the files are invisible.
    if not at_most(pids, "/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"):
        lower(resource.RLIMIT_NPROC, pids)
    if at_most(memory, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        lower(resource.RLIMIT_NOFILE, 1024)
        return True
    # Sockets and pipes hold memory of no process, much of it before it can be counted. Few programs need many.
    lower(resource.RLIMIT_NOFILE, 256)
    # RLIMIT_DATA leaves out shared memory. Address space is coarse (libraries, stacks), hence the margin.
    lower(resource.RLIMIT_AS, memory * 2 + (1 << 30))
    return False


def lower(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, value))


def at_most(limit: int, *paths: str) -> bool:
    """True if the first readable one of these cgroup files contains a number of at most `limit`."""
    for path in paths:
        text = read_text(path).strip()
        if text.isdigit():
            return int(text) <= limit
    return False


def read_text(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""


libraries = []  # type: list[ctypes.CDLL]


def libc() -> "ctypes.CDLL":
    """Loaded once and kept: a fork server removes ctypes from sys.modules, so that cells do not find it there."""
    if not libraries:
        import ctypes

        libraries.append(ctypes.CDLL(None, use_errno=True))
    return libraries[0]


# --- PID 1
# --------------------------------------------------------------------------------------------------------------


def watch(kernel: int, memory: int, memory_enforced: bool, keeper: "Keeper | None" = None) -> None:
    """Reap until the kernel or the bridge is gone. End the sandbox if it takes more than `memory` bytes that the host does not count."""
    # Not dumpable: code in the sandbox, of the same user, can neither trace this process nor write to its memory.
    libc().prctl(4, 0, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Only the kernel reads and writes frames: its end must close the channel.
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 1)
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)

    usage = MemoryUse(memory, memory_enforced)
    global kills_before
    kills_before = oom_kills()
    code = reap(kernel)
    while code is None:
        if keeper:
            code = keeper.tick()
        if code is None and wait(woken, kernel, usage, keeper):
            code = reap(kernel)
        if code is None and usage.is_due() and usage.is_too_much():
            say("out of memory: more than %d MiB in use" % (memory >> 20))
            code = EXIT_OUT_OF_MEMORY
    if keeper:
        keeper.say_end(code)
    os._exit(code)


def wait(woken: int, kernel: int, usage: "MemoryUse", keeper: "Keeper | None") -> bool:
    """Returns True if a process may have ended."""
    poll = select.poll()
    poll.register(woken, select.POLLIN)
    if keeper:
        for fd, events in keeper.watched():
            poll.register(fd, events)
    else:
        # Detects only that the bridge is gone. The kernel cannot, while it is busy in C code.
        poll.register(0, select.POLLRDHUP)
    ready = poll.poll(min(usage.wait_ms(), keeper.wait_ms()) if keeper else usage.wait_ms())
    may_have_ended = not ready
    for fd, events in ready:
        if fd == woken:
            os.read(woken, 4096)
            may_have_ended = True
        elif keeper:
            keeper.handle(fd, events)
        else:
            end_without_bridge(kernel)
    return may_have_ended


def end_without_bridge(kernel: int) -> None:
    """Report the kernel's exit if it is ending: it closes its output just before it exits, and a cluster then closes the input."""
    for _ in range(100):
        code = reap(kernel)
        if code is not None:
            os._exit(code)
        if has_memory(kernel):
            break
        select.select([], [], [], 0.01)
    os._exit(0)


def has_memory(pid: int) -> bool:
    """True until a process has begun to exit: it releases its memory first, then its files."""
    with open("/proc/%d/statm" % pid) as file:
        return not file.read().startswith("0 ")


def reap(kernel: int) -> "int | None":
    """Returns the sandbox's exit code if its kernel has ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 1
        if pid == 0:
            return None
        if pid == kernel:
            return exit_code(status)


def exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    if code == -signal.SIGKILL and oom_kills() > kills_before:
        say("out of memory: the kernel was ended by the host")
        return EXIT_OUT_OF_MEMORY
    if code == -signal.SIGKILL:
        return EXIT_KILLED_INSIDE  # 137 is for a sandbox that is killed as a whole
    if code < 0:
        return 128 - code
    # A cell can exit with any code. Replace codes that have a special meaning.
    reserved = (EXIT_OUT_OF_MEMORY, EXIT_PYTHON_TOO_OLD, EXIT_KILLED_INSIDE, EXIT_ENGINE)
    return 1 if code in reserved or code > 128 else code


# The visible cgroup may be that of others (rootless Podman, cgroup v1): what it counted before is theirs.
kills_before = 0


def oom_kills() -> int:
    text = read_text("/sys/fs/cgroup/memory.events") or read_text("/sys/fs/cgroup/memory/memory.oom_control")
    for line in text.splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return 0
