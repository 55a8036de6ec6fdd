"""When an interrupt ends Node, and with it the variables of JavaScript cells: how much processor time it had decides."""

import asyncio
import os
import signal
import sys
import tempfile
import unittest
from pathlib import Path
from unittest.mock import MagicMock, patch

from sandbridge_kernel.javascript import node

# Says hello like Node, then answers pings, or burns processor time.
PROGRAM = f"""#!{sys.executable} -S
import json, signal, socket, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
channel = socket.socket(fileno=int(sys.argv[-2]))
channel.sendall(b'{{"node": "22.12.0"}}\\n')
for line in channel.makefile():
    while sys.argv[-3].endswith("busy/runner.cjs"):
        pass
    if json.loads(line)["type"] == "ping":
        channel.sendall(b'{{"type": "pong"}}\\n')
"""


async def interrupted(kind, stopped_for=None):
    """Whether Node can go on after an interrupt, in a machine that gives it no processor for a while."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, node.PROGRAM)
        program.write_text(PROGRAM)
        program.chmod(0o755)
        with patch.dict(os.environ, PATH=f"{folder}{os.pathsep}{os.environ['PATH']}"):
            running = node.Node(f"{folder}/{kind}", MagicMock())
        try:
            await running.connect()
            await running.receive()
            if stopped_for is not None:
                os.kill(running._process.pid, signal.SIGSTOP)
                asyncio.get_running_loop().call_later(stopped_for, os.kill, running._process.pid, signal.SIGCONT)
            return await running.interrupt(1)
        finally:
            running.end()


@unittest.skipUnless(os.path.exists("/proc/self/task"), "processor times of threads are read from /proc")
class NodeInterrupt(unittest.TestCase):
    def test_node_that_gets_no_processor_for_a_while_is_not_ended(self):
        self.assertTrue(asyncio.run(interrupted("idle", stopped_for=0.8)))

    def test_node_that_computes_and_does_not_answer_is_ended(self):
        self.assertFalse(asyncio.run(interrupted("busy")))

    def test_node_that_gets_no_processor_at_all_is_ended(self):
        self.assertFalse(asyncio.run(interrupted("idle", stopped_for=60)))
