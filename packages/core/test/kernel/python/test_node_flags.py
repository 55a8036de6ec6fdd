"""The flags that Node starts with, by the memory that a process may have and whether it starts with that."""

import resource
import subprocess
import unittest
from unittest.mock import Mock, patch

from sandbridge_kernel.javascript import node

MIB = 1 << 20


class NodeFlags(unittest.TestCase):
    def setUp(self):
        node._has_room.cache_clear()
        self.addCleanup(node._has_room.cache_clear)

    def flags(self, limit, ends_with):
        self.run_program = Mock(return_value=Mock(returncode=ends_with))
        with (
            patch.object(resource, "getrlimit", lambda _: (limit, limit)),
            patch.object(subprocess, "run", self.run_program),
        ):
            return [node._memory_flags(), node._memory_flags()][1]

    def test_a_node_that_ends_in_little_memory_does_without_machine_code_and_is_tried_once(
        self,
    ):
        self.assertEqual(
            self.flags(448 * MIB, -5), ["--max-old-space-size=268", "--jitless"]
        )
        self.assertEqual(self.run_program.call_count, 1)

    def test_a_node_that_starts_in_it_has_machine_code(self):
        self.assertEqual(self.flags(448 * MIB, 0), ["--max-old-space-size=268"])

    def test_without_a_limit_it_is_not_tried(self):
        self.assertEqual(self.flags(resource.RLIM_INFINITY, -5), [])
        self.assertEqual(self.run_program.call_count, 0)
