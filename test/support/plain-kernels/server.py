"""Forks plain kernels, for the cells of tests: it has imported the kernel once, which takes ten times as long as a fork.

Arguments: the folder of the kernel's package, and that in which start.py waits for it. It ends with its stdin.
"""

import os
import random
import resource
import selectors
import signal
import socket
import sys

sys.path.insert(0, sys.argv[1])
from sandbridge_kernel import loop, port_pipe, projects, serve  # noqa: E402, F401

# As start.py.
MAX_REQUEST_BYTES = 1 << 17
DESCRIPTORS = 4


def main() -> None:
    os.chdir(sys.argv[2])
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind("kernels")
    listener.listen(64)
    woken, wake = socket.socketpair()
    for end in (listener, woken, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = selectors.DefaultSelector()
    for readable in (listener, woken, sys.stdin):
        poll.register(readable, selectors.EVENT_READ)
    kernels: dict[int, socket.socket] = {}
    print("up", flush=True)
    while True:
        for key, _ in poll.select():
            if key.fileobj is sys.stdin:
                sys.exit()
            if key.fileobj is listener:
                starter, _ = listener.accept()
                request, descriptors, _, _ = socket.recv_fds(starter, MAX_REQUEST_BYTES, DESCRIPTORS)
                if not descriptors:
                    # It was killed before it could send.
                    starter.close()
                    continue
                pid = os.fork()
                if pid == 0:
                    return become_kernel(request, descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)
                kernels[pid] = starter
                poll.register(starter, selectors.EVENT_READ, pid)
            elif key.fileobj is woken:
                woken.recv(4096)
                while ended := end_of_child():
                    pid, code = ended
                    with kernels.pop(pid) as starter:
                        if starter in poll.get_map():
                            poll.unregister(starter)
                        tell(starter, code)
            else:
                # Whoever started it is gone, and it may not have ended yet.
                poll.unregister(key.fileobj)
                kill(key.data)


def end_of_child() -> tuple[int, int] | None:
    """Its id and exit code, or minus the number of a signal."""
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, os.waitstatus_to_exitcode(status)) if pid else None


def tell(starter: socket.socket, code: int) -> None:
    try:
        starter.send(str(code).encode())
    except OSError:
        # It was killed.
        pass


def kill(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def become_kernel(request: bytes, descriptors: list[int]) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
    os.closerange(DESCRIPTORS, os.sysconf("SC_OPEN_MAX"))
    cwd, projects_folder, memory, *variables = request.decode(errors="surrogateescape").split("\0")
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variable.split("=", 1) for variable in variables)
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    random.seed()
    projects.FOLDER = projects_folder
    serve.serve_pipes(DESCRIPTORS - 1)


main()
