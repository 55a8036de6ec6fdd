"""Forks sandboxes for bubblewrap, from a process that has imported the kernel once, instead of starting a Python for each.

Sent after the files of a first process (sandbox_init.py), and started by bubblewrap: it is the first process of a PID namespace and sees
the read-only system that sandboxes see, without network or host files. Each sandbox is forked into its own namespaces,
gets its own /proc and its own writable folders, and loses every capability before its kernel reads a byte. This process has one
thread, holds no secret, and reads nothing from a sandbox.

Argument: words such as slots=16, namely
  id            for people who look at a list of processes
  slots         number of sandboxes it can make: as many groups of descriptors are open, from FIRST_FD on

It reads from stdin three lengths of ten digits each, then the kernel, its bytecode (both as for sandbox_init.py) and the
system call filter, with these lengths, and then lines:
  start SLOT WORDS   make a sandbox on that slot's descriptors; words of sandbox_init.py, and
                       folders=/tmp:64,/workspace:128  its writable folders with their sizes in MiB
                       hold=1  wait for one byte on its stdin before it starts its kernel
  kill SLOT          kill it
and writes lines:
  up                 ready to fork
  made SLOT PID      the sandbox is isolated; its first process id in this process's namespace
  failed SLOT TEXT   it could not be made: a system call was refused
  ended SLOT CODE    exit code of its first process, or minus the number of a signal
"""

import _signal as signal
import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Sent before this file.
    from sandbox_init import close_inherited, libc, parse_words, read_exactly, read_text, run_sandbox
    from sandbox_kernel import load_kernel, load_library, run_kernel

# Descriptors of a slot: stdin, stdout, stderr and bell. Must match fork-server.ts.
FIRST_FD = 3
FDS_EACH = 4
SIZE_DIGITS = 10  # must match native-kernel.ts
BELL = 3
REPORT = 4

# Modules that a kernel has loaded by the end of its first cell.
WARM = ("sandbridge_kernel.serve", "sandbridge_kernel.wire.port_pipe", "sandbridge_kernel.run.loop")

# linux/sched.h: mount, cgroup, UTS, IPC, user, PID and network namespaces
NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
# linux/mount.h
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
# linux/prctl.h
PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 22, 24, 38, 47
SECCOMP_MODE_FILTER = 2
PR_CAP_AMBIENT_CLEAR_ALL = 4


def serve() -> None:
    import gc

    config = parse_words(sys.argv[1])
    # A collection writes to every object, and each sandbox would get its own copy of their pages.
    gc.disable()
    load_library()
    kernel_bytes, code_bytes, filter_bytes = [int(read_exactly(0, SIZE_DIGITS)) for _ in range(3)]
    load_kernel(read_exactly(0, kernel_bytes), read_exactly(0, code_bytes))
    walls = Walls(read_exactly(0, filter_bytes))
    load_ahead()
    gc.freeze()
    gc.enable()
    Server(int(config["slots"]), walls).serve()


def load_ahead() -> None:
    """Import what every kernel needs, and nothing that only few need."""
    from importlib import import_module

    for name in WARM:
        import_module(name)
    # C code of cells prints each line at once (output.py).
    libc().setvbuf(ctypes.c_void_p.in_dll(libc(), "stdout"), None, 1, 0)
    # Cells import ctypes themselves, as in every other sandbox. `libc` keeps its reference.
    for name in [name for name in sys.modules if name.partition(".")[0] == "ctypes"]:
        del sys.modules[name]


class Walls:
    """Isolates a sandbox as bubblewrap does, inside the system that bubblewrap set up for this process."""

    def __init__(self, seccomp: bytes) -> None:
        class Program(ctypes.Structure):
            _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

        self.instructions = ctypes.create_string_buffer(seccomp, len(seccomp))
        self.program = Program(len(seccomp) // 8, ctypes.addressof(self.instructions))
        self.program_at = ctypes.addressof(self.program)
        # linux/capability.h: version 3, this process; no effective, permitted or inheritable capabilities.
        self.header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        self.no_capabilities = (ctypes.c_uint32 * 6)()
        libc().prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
        libc().mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]

    def unshare(self) -> None:
        """Leave all namespaces; the PID namespace changes for the next child."""
        uid, gid = os.getuid(), os.getgid()
        check(libc().unshare(NEW_NAMESPACES), "unshare")
        write_text("/proc/self/uid_map", f"{uid} {uid} 1\n")
        write_text("/proc/self/gid_map", f"{gid} {gid} 1\n")

    def build(self, folders: str) -> None:
        """Run in the first process of a new PID namespace."""
        # Otherwise a cell could signal its process group, which crosses namespaces.
        os.setsid()
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        # Forbid further namespaces, as bubblewrap's --disable-userns does.
        write_text("/proc/sys/user/max_user_namespaces", "0\n")
        mount("/proc/sys", "/proc/sys", None, MS_BIND)
        mount(None, "/proc/sys", None, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
        for folder in folders.split(","):
            path, _, mebibytes = folder.partition(":")
            mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=1777,size={mebibytes}m")
        os.chdir("/workspace")
        self.drop_rights()

    def drop_rights(self) -> None:
        prctl = libc().prctl
        capability = 0
        while prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
            capability += 1
        check(int(capability == 0), "prctl(PR_CAPBSET_DROP)")
        check(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), "prctl(PR_CAP_AMBIENT)")
        check(libc().capset(self.header, self.no_capabilities), "capset")
        check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
        check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self.program_at, 0, 0), "prctl(PR_SET_SECCOMP)")


class Server:
    def __init__(self, slots: int, walls: Walls) -> None:
        self.slots = slots
        self.walls = walls
        self.made: dict[int, int] = {}  # first process -> slot

    def serve(self) -> None:
        """Serve until the bridge closes stdin. Every sandbox ends with this process."""
        import select

        woken, wake = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        poll = select.poll()
        poll.register(woken, select.POLLIN)
        poll.register(0, select.POLLIN)
        rest = b""
        tell("up")
        while True:
            for fd, _ in poll.poll():
                if fd == woken:
                    os.read(woken, 4096)
                    continue
                data = os.read(0, 65536)
                if not data:
                    os._exit(0)
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self.obey(line.decode())
            self.reap()

    def obey(self, line: str) -> None:
        order, _, rest = line.partition(" ")
        slot, _, words = rest.partition(" ")
        if order == "start":
            try:
                self.start(int(slot), words)
            except OSError as error:  # for example no process is left: the other sandboxes live on
                tell(f"failed {slot} {error.strerror}")
        elif order == "kill":
            for pid in [pid for pid, other in self.made.items() if other == int(slot)]:
                os.kill(pid, signal.SIGKILL)

    def start(self, slot: int, words: str) -> None:
        fds = range(FIRST_FD + FDS_EACH * slot, FIRST_FD + FDS_EACH * (slot + 1))
        report, reporting = os.pipe()
        try:
            child = os.fork()
        except OSError:
            os.close(report)
            os.close(reporting)
            raise
        if child == 0:
            try:
                self.become_sandbox(parse_words(words), [*fds, reporting])
            except BaseException:
                from traceback import format_exc

                os.write(2, format_exc()[-4000:].encode("utf-8", "replace"))
            finally:
                os._exit(1)  # never continue as the server
        os.close(reporting)
        for fd in fds:
            os.close(fd)
        # Wait some milliseconds until the sandbox is isolated: another start could not proceed faster meanwhile.
        answers = dict(line.split(" ", 1) for line in read_to_end(report).decode("utf-8", "replace").splitlines())
        os.waitpid(child, 0)
        pid = int(answers.get("pid", 0))
        if pid and "walls" in answers:
            self.made[pid] = slot
            tell(f"made {slot} {pid}")
        else:
            tell(f"failed {slot} {answers.get('error', 'a process ended too early')}")

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            slot = self.made.pop(pid, None)
            if slot is not None:
                tell(f"ended {slot} {os.waitstatus_to_exitcode(status)}")

    def become_sandbox(self, config: dict[str, str], fds: list[int]) -> None:
        """Run in a child. `fds` become its first descriptors; closes all others."""
        signal.set_wakeup_fd(-1)
        # What is ignored here would be ignored by every program of the sandbox.
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        # The slots' descriptors are in ascending order, and none is below its target.
        for place, fd in enumerate(fds):
            if fd != place:
                os.dup2(fd, place)
        close_inherited(range(len(fds)))
        try:
            self.walls.unshare()
            pid = os.fork()
            if pid:
                os.write(REPORT, b"pid %d\n" % pid)
                os._exit(0)
            self.walls.build(config["folders"])
        except BaseException as error:
            os.write(REPORT, b"error %s\n" % str(error).encode()[:500])
            raise
        rename(f"python3 -I -B -c sandbox_init {' '.join(f'{name}={value}' for name, value in config.items())} ")
        os.write(REPORT, b"walls up\n")
        os.close(REPORT)
        if "hold" in config:
            read_exactly(0, 1)
        run_sandbox(config, BELL, lambda: run_kernel(BELL))


# --- system calls
# -------------------------------------------------------------------------------------------------------


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    from_, to, of, with_ = [text and text.encode() for text in (source, target, kind, data)]
    check(libc().mount(from_, to, of, flags, with_), "mount " + target)


def check(result: int, what: str) -> None:
    if result != 0:
        raise OSError(f"{what}: {os.strerror(ctypes.get_errno())}")


def write_text(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def read_to_end(fd: int) -> bytes:
    parts: list[bytes] = []
    while True:
        part = os.read(fd, 65536)
        if not part:
            os.close(fd)
            return b"".join(parts)
        parts.append(part)


def tell(line: str) -> None:
    os.write(1, line.replace("\n", " ").encode() + b"\n")


def rename(title: str) -> None:
    """Set the title in process lists. It replaces the arguments in memory."""
    fields = read_text("/proc/self/stat").rpartition(")")[2].split()
    # Fields 48 and 49 of proc_pid_stat(5).
    start, end = int(fields[45]), int(fields[46])
    text = title.replace(" ", "\0").encode()[: end - start - 1]
    ctypes.memmove(start, text + bytes(end - start - len(text)), end - start)
