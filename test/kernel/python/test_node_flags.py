"""The flags that Node starts with, by its version and the memory that a process may have."""

import resource
import subprocess
import unittest
from unittest.mock import Mock, patch

from sandbridge_kernel.javascript import node

MIB = 1 << 20


def flags(limit, version):
    with patch.object(resource, "getrlimit", lambda _: (limit, limit)), patch.object(node, "_installed", lambda: version):
        return node._memory_flags()


class NodeFlags(unittest.TestCase):
    def test_node_25_and_newer_do_without_machine_code_in_little_memory(self):
        self.assertEqual(flags(448 * MIB, (26, 10)), ["--max-old-space-size=268", "--jitless"])
        self.assertEqual(flags(448 * MIB, (25, 0)), ["--max-old-space-size=268", "--jitless"])

    def test_older_ones_and_those_with_more_memory_have_it(self):
        self.assertEqual(flags(448 * MIB, (24, 9)), ["--max-old-space-size=268"])
        self.assertEqual(flags(640 * MIB, (26, 10)), ["--max-old-space-size=384"])
        self.assertEqual(flags(resource.RLIM_INFINITY, (26, 10)), [])

    def test_node_is_asked_for_its_version_once(self):
        run = Mock(return_value=Mock(stdout="v26.10.1\n"))
        node._installed.cache_clear()
        self.addCleanup(node._installed.cache_clear)
        with patch.object(subprocess, "run", run):
            self.assertEqual([node._installed(), node._installed()], [(26, 10), (26, 10)])
        self.assertEqual(run.call_count, 1)
