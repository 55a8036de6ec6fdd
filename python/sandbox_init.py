"""The first process of a native sandbox (container or bubblewrap): limits, kernel, reaping, watching (with sandbox_memory.py).

It is passed to `python3 -c` as text, so that no host path is needed in the sandbox, and reads the kernel's sources from its
input; or it is forked from a process that has them (sandbox_fork_server.py). It runs as PID 1 of a PID namespace: nothing
inside can kill it, and everything inside dies with it. It never reads a frame. Python 3.6 can parse it, so that an image whose
Python is too old is told so. It imports little: what it holds, every waiting sandbox holds besides its kernel.

Argument: words such as pids=128, namely
  id            for people who look at a list of processes
  kernelBytes   length of the kernel's sources on stdin: one JSON object, path -> text
  codeBytes     length of what compile_kernel.py made of them, behind it; 0 when they have to be compiled
  memoryBytes   memory limit of the sandbox
  pids          limit on processes and threads
  bell          descriptor of the kernel's bell (port_pipe.py); missing where there is none
  door          path of a socket where a bridge waits: the sandbox may outlive it (sandbox_relay.py), and all comes over this; or
                `stdio`, where bridges attach to stdin and stdout
  channel       path of a socket for frames, of which stdin is the bell; missing, or out of reach, they go over stdin and stdout
  fileBytes     largest file that may be written; missing where the folders set the limit
  inputSeconds  how long to wait for the kernel's sources; missing where the end of the bridge always closes stdin
"""

import _signal as signal  # its Python half is enumerations, a fifth of what this process would take
import os
import resource
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Container
    from importlib.machinery import ModuleSpec

    from sandbox_memory import MemoryUse  # sent in front of this file
    from sandbox_relay import Relay  # the same, where the sandbox has a door

# Exit codes that the bridge explains in words. Those of the kernel itself are kept apart from them.
EXIT_OUT_OF_MEMORY = 86
EXIT_PYTHON_TOO_OLD = 87
EXIT_KILLED_INSIDE = 88
# `run` of an engine ends with it when the engine is the reason.
EXIT_ENGINE = 125

# Where the kernel's files seem to be.
ROOT = "/sandbridge"
# Packages that the user has asked for: partner of PACKAGES_TARGET in package-folder.ts.
PACKAGES = "/opt/site-packages"


def main() -> None:
    config = parse_words(sys.argv[1])
    if sys.version_info < (3, 10):
        say("Python %d.%d is too old: the kernel needs 3.10 or newer" % sys.version_info[:2])
        os._exit(EXIT_PYTHON_TOO_OLD)
    bell = int(config.get("bell", -1))
    close_inherited((0, 1, 2, bell))
    if "door" in config:
        run_kept_sandbox(config)

    def become_kernel() -> None:
        load_library()
        signal.alarm(int(config.get("inputSeconds", 0)))
        run = load_kernel(read_exactly(0, int(config["kernelBytes"])), read_exactly(0, int(config["codeBytes"])))
        signal.alarm(0)
        run_kernel(run, take_channel(config["channel"]) if "channel" in config else bell)

    run_sandbox(config, bell, become_kernel)


def run_kept_sandbox(config: "dict[str, str]") -> None:
    """Be the first process of a sandbox that bridges come to and leave. Never returns."""
    door = config["door"]
    relay = Relay(None if door == "stdio" else door, float(config["inputSeconds"]))

    def become_kernel() -> None:
        load_library()
        signal.alarm(int(config["inputSeconds"]))
        code = relay.read_exactly(int(config["kernelBytes"])), relay.read_exactly(int(config["codeBytes"]))
        signal.alarm(0)
        run = load_kernel(*code)
        del code
        run_kernel(run, relay.enter_kernel())

    run_sandbox(config, -1, become_kernel, relay)


def parse_words(text: str) -> "dict[str, str]":
    return dict(word.split("=", 1) for word in text.split())


def run_sandbox(
    config: "dict[str, str]", bell: int, become_kernel: "Callable[[], None]", relay: "Relay | None" = None
) -> None:
    """Be the first process of a sandbox. Never returns."""
    memory = int(config["memoryBytes"])
    try:
        os.chdir("/workspace")
    except OSError:
        pass  # a sandbox without one: stay where the image starts
    memory_enforced = set_limits(memory, int(config["pids"]))
    if "fileBytes" in config:
        lower(resource.RLIMIT_FSIZE, int(config["fileBytes"]))
    kernel = os.fork()
    if kernel == 0:
        become_kernel()
    else:
        if bell > 2:
            os.close(bell)
        if relay:
            relay.stay()
        watch(kernel, memory, memory_enforced, relay)


def close_inherited(kept: "Container[int]") -> None:
    """What the bridge was started with by another program, and passed on without knowing, is not for cells."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                pass  # that of the list itself


def say(text: str) -> None:
    os.write(2, ("sandbox: " + text + "\n").encode())


def read_exactly(fd: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(fd, min(count, 65536))
        if not part:
            os._exit(0)  # the bridge went away
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def take_channel(path: str) -> int:
    """Frames go over the socket at `path`. Returns the descriptor of what was stdin, the bell; -1 where the socket is out of reach,
    and nothing has changed."""
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


# --- limits -------------------------------------------------------------------------------------------------------------


def set_limits(memory: int, pids: int) -> bool:
    """Set the limits of every process in the sandbox. Returns whether the host holds the sandbox to its memory limit."""
    # Reached before the sandbox's own limit, so that a cell that asks for too much gets a MemoryError and keeps its variables.
    lower(resource.RLIMIT_DATA, memory - min(64 << 20, memory // 8))
    lower(resource.RLIMIT_CORE, 0)
    # Timers and signals that wait are memory of the kernel.
    lower(resource.RLIMIT_SIGPENDING, 4096)
    # A host without the cgroup controller ignores the limits it was given (rootless Podman on cgroup v1); in bubblewrap none can be seen.
    if not at_most(pids, "/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"):
        lower(resource.RLIMIT_NPROC, pids)
    if at_most(memory, "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        lower(resource.RLIMIT_NOFILE, 1024)
        return True
    # Sockets and pipes hold memory of no process, and much of it before it can be counted: nobody needs many of them.
    lower(resource.RLIMIT_NOFILE, 256)
    # RLIMIT_DATA does not cover shared memory. Address space is a coarse measure (libraries and stacks count), hence the room.
    lower(resource.RLIMIT_AS, memory * 2 + (1 << 30))
    return False


def lower(limit: int, value: int) -> None:
    hard = resource.getrlimit(limit)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(limit, (value, value))


def at_most(limit: int, *paths: str) -> bool:
    """Whether one of these cgroup files holds a number of at most `limit`."""
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
    """Loaded once: a process that has it forks others that cells are not to find it in."""
    if not libraries:
        import ctypes

        libraries.append(ctypes.CDLL(None, use_errno=True))
    return libraries[0]


# --- the kernel's process -----------------------------------------------------------------------------------------------


def load_library() -> None:
    """Import what takes half the time of a kernel's start. Before its sources are read: the bridge, which sends them, is often busy
    with a start of its own."""
    # asyncio loads ssl where it can, for sockets that reach nothing here: megabytes that every waiting sandbox would hold.
    sys.modules["ssl"] = None  # type: ignore[assignment]
    import asyncio  # noqa: F401
    import json  # noqa: F401

    del sys.modules["ssl"]


def load_kernel(sources: bytes, compiled: bytes) -> "Callable[[str, dict[str, object]], None]":
    """Let the kernel's modules be imported from memory, and the rest from the image. Returns what runs a file of the kernel."""
    import json
    import marshal
    import types
    from importlib._bootstrap_external import MAGIC_NUMBER
    from importlib.machinery import ModuleSpec

    size = len(MAGIC_NUMBER)
    # The Python of a host may have been replaced since.
    code = marshal.loads(compiled[size:]) if compiled[:size] == MAGIC_NUMBER else {}
    del compiled
    texts = {}  # type: dict[str, str]

    def read_texts() -> "dict[str, str]":
        # With bytecode, only the lines of a traceback need them, which few cells have.
        if not texts:
            texts.update(json.loads(sources))
        return texts

    names = frozenset(code or read_texts())

    class KernelFinder:
        def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
            stem = name.replace(".", "/")
            for file, is_package in ((stem + "/__init__.py", True), (stem + ".py", False)):
                if file in names:
                    spec = ModuleSpec(name, self, origin=ROOT + "/" + file, is_package=is_package)  # type: ignore[arg-type]
                    spec.has_location = True
                    if is_package:
                        spec.submodule_search_locations = [ROOT + "/" + stem]
                    return spec
            return None

        def create_module(self, spec: object) -> None:
            return None

        def exec_module(self, module: types.ModuleType) -> None:
            run(module.__spec__.origin, module.__dict__)  # type: ignore[union-attr, arg-type]

        def get_source(self, name: str) -> "str | None":
            spec = self.find_spec(name)
            return read_texts()[spec.origin[len(ROOT) + 1 :]] if spec and spec.origin else None

    def run(path: str, namespace: "dict[str, object]") -> None:
        file = path[len(ROOT) + 1 :]
        if file in code:
            module = marshal.loads(code.pop(file))
        else:
            module = compile(read_texts()[file], path, "exec", dont_inherit=True)
        exec(module, namespace)

    sys.meta_path.insert(0, KernelFinder())
    if os.path.isdir(PACKAGES):
        # Before what is installed there already, after the standard library.
        installed = [place for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
        sys.path.insert(sys.path.index(installed[0]) if installed else len(sys.path), PACKAGES)
    return run


def run_kernel(run: "Callable[[str, dict[str, object]], None]", bell: int) -> None:
    """Become the kernel. Never returns."""
    import types

    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv = ["sandbridge", str(bell)] if bell > 2 else ["sandbridge"]
    module.__file__ = ROOT + "/__main__.py"
    run(module.__file__, module.__dict__)


# --- PID 1 --------------------------------------------------------------------------------------------------------------


def watch(kernel: int, memory: int, memory_enforced: bool, relay: "Relay | None" = None) -> None:
    """Reap until the kernel or the bridge is gone; end the sandbox if it takes more than `memory` bytes of what the host does not count."""
    # Same user, but not dumpable: code in the sandbox can neither trace this process nor write to its memory.
    libc().prctl(4, 0, 0, 0, 0)
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

    usage = MemoryUse(memory, memory_enforced)
    code = reap(kernel)
    while code is None:
        if relay:
            code = relay.tick()
        if code is None and wait(woken, kernel, usage, relay):
            code = reap(kernel)
        if code is None and usage.is_due() and usage.is_too_much():
            say("out of memory: more than %d MiB in use" % (memory >> 20))
            code = EXIT_OUT_OF_MEMORY
    if relay:
        relay.say_end(code)
    os._exit(code)


def wait(woken: int, kernel: int, usage: "MemoryUse", relay: "Relay | None") -> bool:
    """Returns whether a process may have ended."""
    poll = select.poll()
    poll.register(woken, select.POLLIN)
    if relay:
        for fd, events in relay.watched():
            poll.register(fd, events)
    else:
        # Only the hang-up: the bridge is gone. A kernel that is busy in C code cannot see that, so it is not left to the kernel.
        poll.register(0, select.POLLRDHUP)
    ready = poll.poll(min(usage.wait_ms(), relay.wait_ms()) if relay else usage.wait_ms())
    may_have_ended = not ready
    for fd, events in ready:
        if fd == woken:
            os.read(woken, 4096)
            may_have_ended = True
        elif relay:
            relay.handle(fd, events)
        else:
            end_without_bridge(kernel)
    return may_have_ended


def end_without_bridge(kernel: int) -> None:
    """A cluster closes the input when the output has ended, which a kernel that ends closes a moment before it has ended: how it did is told."""
    for _ in range(100):
        code = reap(kernel)
        if code is not None:
            os._exit(code)
        if has_memory(kernel):
            break
        select.select([], [], [], 0.01)
    os._exit(0)


def has_memory(pid: int) -> bool:
    """A process that ends lets go of its memory first, and of its files then."""
    with open("/proc/%d/statm" % pid) as file:
        return not file.read().startswith("0 ")


def reap(kernel: int) -> "int | None":
    """The exit code of the sandbox, when its kernel has ended."""
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
    if code == -signal.SIGKILL and oom_kills() > 0:
        say("out of memory: the kernel was ended by the host")
        return EXIT_OUT_OF_MEMORY
    if code == -signal.SIGKILL:
        return EXIT_KILLED_INSIDE  # 137 is what is left for a sandbox that is killed as a whole
    if code < 0:
        return 128 - code
    # A cell can end its Python with any code: with one that means something else, the meaning is not its own to give.
    reserved = (EXIT_OUT_OF_MEMORY, EXIT_PYTHON_TOO_OLD, EXIT_KILLED_INSIDE, EXIT_ENGINE)
    return 1 if code in reserved or code > 128 else code


def oom_kills() -> int:
    text = read_text("/sys/fs/cgroup/memory.events") or read_text("/sys/fs/cgroup/memory/memory.oom_control")
    for line in text.splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill":
            return int(count)
    return 0
