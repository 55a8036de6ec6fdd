"""Checks which calls in a cell's source are taken to be made whenever it runs."""

import ast
import unittest

from sandbridge_kernel.source.made_calls import made_calls

NOT_MADE = """
def f(): x()

async def f(): await x()

class A:
    def f(self): x()

g = lambda: x()

if 1 > 2: x()

if y: pass
else: x()

x() if y else None

y and x()

for i in y: x()

while y: x()

try: pass
except ValueError: x()

[x() for i in y]

{x(): 1 for i in y}

[i for j in y for i in x()]

[i for i in y if x()]

raise SystemExit
x()

match y:
    case 1: x()
""".split("\n\n")

MADE = """
x()

await x()

y(await x())

if x(): pass

x() and y

y if x() else None

z if x() else y

for i in x(): pass

while x(): pass

with y: await x()

try: x()
finally: pass

try: pass
finally: x()

def f(a=x()): pass

@x()
def f(): pass

class A: b = x()

[i for i in x()]

assert x()

raise x()

match x():
    case 1: pass
""".split("\n\n")


class MadeCallsTest(unittest.TestCase):
    def names(self, source: str) -> list[str]:
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
        tree = compile(source, "cell", "exec", flags)
        made = made_calls(tree.body)
        return [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) in made]

    def test_a_call_that_may_not_run_is_not_made(self) -> None:
        for source in NOT_MADE:
            with self.subTest(source):
                self.assertNotIn("x", self.names(source))

    def test_a_call_that_always_runs_is_made(self) -> None:
        for source in MADE:
            with self.subTest(source):
                self.assertIn("x", self.names(source))
