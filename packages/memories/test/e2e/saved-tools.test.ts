// @module-tag whole: a bridge for most tests
// This file verifies that a function typed into a cell can be used in every later session, or that its author is told
// why it cannot be saved.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  bridgeEnv,
  closeTestBridge,
  openTestBridge,
  published,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

let bridge: TestBridge
/** What the cell printed that saved `letter_entropy`. */
let saved: string

// Every save starts a sandbox, so the functions that several tests use are saved once, in a session before theirs.
beforeAll(async () => {
  bridge = await openTestBridge({ servers: { everything: published.everything() } })
  // The sandbox may have to be prepared first, and the server listed.
  await bridge.run('await runtime.search_tool_docs("echo")')
  saved = await bridge.run(`
import math
from collections import Counter as Count

def letter_entropy(text: str, base: float = 2) -> float:
    """Shannon entropy of the letters of a text. In bits."""
    counts = Count(text)
    return -sum(n / len(text) * math.log(n / len(text), base) for n in counts.values())
runtime.save_tool(letter_entropy)`)
  await bridge.run(`
import functools, asyncio
import xml.etree.ElementTree
from os.path import *
def sum_of_squares(numbers: list):
    """Add the squares of numbers."""
    return 0
@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
async def shout(words, times=1):
    "Echo words, loudly."
    answer = await mcp_everything.echo(message=words.upper() * fib(times))
    return answer, basename("/a/b"), xml.etree.ElementTree.fromstring("<a/>").tag, await asyncio.sleep(0, "slept")
def fails(x):
    return 1 / x
def twice(x): return x * 2
for func in (sum_of_squares, fib, fails, twice):
    runtime.save_tool(func)
runtime.save_tool(shout, description="Say it loud")`)
  await bridge.run('runtime.reset()')
})
afterAll(() => closeTestBridge(bridge))

const sandbridge = (...args: string[]) => runCommand(args, bridgeEnv(bridge.home))
const failure = async (code: string) => {
  const { text, isError } = await bridge.call({ code })
  expect(isError, text).toBe(true)
  return text.trim().split('\n').at(-1)!
}

it('a saved function is found by `sandbridge search`, beside the tools of servers', async () => {
  const { stdout, stderr } = await sandbridge('search', 'sum of squares')
  expect(stdout, stderr).toMatch(/^.*sum_of_squares\(numbers: list\) {2}# saved; Add the squares of numbers$/m)
  const found = JSON.parse((await sandbridge('search', 'sum of numbers', '--json')).stdout) as { line: string }[]
  const lines = found.map(({ line }) => line)
  for (const name of ['sum_of_squares(', 'mcp_everything.get_sum(']) expect(lines.join('\n')).toContain(name)
  expect(stderr).not.toContain('No tool fits')
  const needs = (await sandbridge('search', 'sum of squares', 'echo a message')).stdout
  for (const name of ['sum_of_squares(', 'mcp_everything.echo(']) expect(needs.split(name)).toHaveLength(2)
  const weak = await sandbridge('search', 'book a flight')
  expect(weak.stderr).toMatch(/^No tool fits\. .*other wordings.* Nearest \(\d+ tools searched\):\n/)
  expect(weak.stdout).toMatch(/^await mcp_|^from user_tools /)
})

it('a saved function is found, imported and called in a later session, in one cell', async () => {
  const line =
    'from user_tools import letter_entropy; letter_entropy(text: str, base: float=2) -> float  # saved; Shannon entropy of the letters of a text'
  expect(saved).toBe(`${line} (version 1)`)
  const answer = await bridge.run(`
found = await runtime.search_tool_docs("entropy of a text", limit=1)
print(found)
from user_tools import letter_entropy
letter_entropy("abab")`)
  expect(answer).toBe(`${line}\n1.0`)
})

it('a saved function is ranked with the tools of servers, and only when all servers are searched', async () => {
  expect(await bridge.run('[doc.server for doc in await runtime.search_tool_docs("echo a message", limit=1)]')).toBe(
    "['everything']",
  )
  expect(
    await bridge.run(
      '"user_tools" in [doc.server for doc in await runtime.search_tool_docs("entropy", servers=["everything"])]',
    ),
  ).toBe('False')
  expect(await bridge.run('runtime.capability_summary()')).toContain(
    'from user_tools import letter_entropy; letter_entropy(',
  )
})

it('a saved function may be asynchronous, decorated, recursive, and use servers and other saved tools', async () => {
  expect(
    await bridge.run(
      'from user_tools import shout, fib\nprint(fib(20), fib.cache_info().hits > 0)\nawait shout("hi", 3)',
    ),
  ).toBe("6765 True\n('Echo: HIHI', 'b', 'a', 'slept')")
  expect(await bridge.run('runtime.show_tool("shout")')).toMatch(
    /^# shout, version 1 of 1, .*\nfrom user_tools import fib\nfrom os\.path import basename\nimport xml\.etree\.ElementTree\nimport asyncio|^# shout/,
  )
  // The bridge refuses a server that the cell may not reach when the call is made.
  expect(await bridge.run('from user_tools import shout\nawait shout("hi")', { servers: [] })).toMatch(
    /Server 'everything' is not available/,
  )
})

it('a saved function gets a version when it changes, and the newest one is imported', async () => {
  await bridge.run('def twice(x): return x + x\nruntime.save_tool(twice)\nruntime.save_tool(twice)')
  expect(await bridge.run('from user_tools import twice\ntwice("ab"), runtime.show_tool("twice").versions')).toBe(
    "('abab', [1, 2])",
  )
  expect(await bridge.run('runtime.show_tool("twice", 1).source')).toContain('x * 2')
  // An imported function can be changed and saved again, too.
  expect(await bridge.run('runtime.save_tool(twice).version')).toBe('2')
})

it('a saved function shows its own lines in a traceback', async () => {
  expect(await bridge.run('from user_tools import fails\nfails(0)')).toMatch(
    /user_tools\/fails\.py[\s\S]*return 1 \/ x[\s\S]*ZeroDivisionError/,
  )
})

it.each([
  ['a lambda', '', 'lambda x: x', /a lambda has no name; write it as a def/],
  ['a class', 'class Thing: pass', 'Thing', /Thing is a class/],
  [
    'a closure',
    'def outer():\n    secret = 1\n    def inner(): return secret\n    return inner',
    'outer()',
    /inner is a closure: secret/,
  ],
  [
    'a nested function',
    'def outer():\n    def inner(): return 1\n    return inner',
    'outer()',
    /defined inside another function/,
  ],
  ['a method', 'class Thing:\n    def act(self): pass', 'Thing().act', /is a method/],
  ['a function of a class', 'class Thing:\n    def act(self): pass', 'Thing.act', /belongs to the class Thing/],
  ['a builtin', '', 'len', /built into Python/],
  ['a library function', 'import json', 'json.dumps', /belongs to the module json/],
  ['a partial', 'import functools', 'functools.partial(print, 1)', /a partial has no source/],
  ['a value', '', '"def f(): pass"', /a str is not a function/],
  ['a function without source', 'exec("def made(): pass")', 'made', /source of made is not known/],
  [
    'a decorator without wraps',
    'def deco(f):\n    def wrapper(): return f()\n    return wrapper\n@deco\ndef work(): pass',
    'work',
    /closure: f .*functools\.wraps/,
  ],
  [
    'a variable of the session',
    'rate = 0.5\ndef pay(x): return x * rate',
    'pay',
    /only this session has: rate \(float\)/,
  ],
  ['a helper', 'def helper(): pass\ndef work(): helper()', 'work', /helper \(function\).*can be saved first/],
  [
    'a decorator of the session',
    'def mark(f): return f\n@mark\ndef work(): pass',
    'work',
    /only this session has: mark \(function\)/,
  ],
  ['a default of the session', 'start = [1]\ndef work(x=start): pass', 'work', /only this session has: start \(list\)/],
  ['a name that is not defined', 'def work(): return nowhere', 'work', /nowhere \(not defined\)/],
  [
    'a tool by itself',
    'from mcp.servers.everything import echo\ndef work(): return echo(message="x")',
    'work',
    /call mcp_everything\.echo/,
  ],
  ['a name with an underscore first', 'def _x(): pass', '_x', /name: must be a plain Python name/],
  ['a description that is none', 'def work(): pass', 'work, 5', /description is a str/],
])('a function that cannot be saved is refused with the reason: %s', async (_, code, func, expected) => {
  expect(await failure(`${code}\nruntime.save_tool(${func})`)).toMatch(expected)
})

it('a function that a fresh sandbox cannot load is not saved', async () => {
  // The module exists in this session only.
  await bridge.run('import sys, types\nsys.modules["homemade"] = types.ModuleType("homemade")\nimport homemade')
  expect(await failure('def work(): return homemade\nruntime.save_tool(work)')).toMatch(
    /'work' was not saved: a fresh sandbox cannot load it: .*No module named 'homemade'/,
  )
  expect(await failure('def later(x=1 / (1 - len("a"))): pass')).toMatch(/ZeroDivisionError/)
  expect(await bridge.run('[tool.name for tool in runtime.list_saved_tools() if tool.name == "work"]')).toBe('[]')
})

it('a function is not saved when its helper has changed since that was saved', async () => {
  await bridge.run('def base(): return 1\nruntime.save_tool(base)')
  expect(await failure('def base(): return 2\ndef top(): return base()\nruntime.save_tool(top)')).toMatch(
    /base has changed since it was saved/,
  )
})

it('a saved function with an invalid name is refused by the host, whatever the sandbox sends', async () => {
  const send = (fields: string) =>
    failure(
      `from sandbridge_kernel.api import bridge as _b\n_b.ask_sync("save_tool", tool={"name": "x", "source": "def x(): pass", "signature": "()", "isAsync": False, ${fields}})`,
    )
  expect(await send('"name": "../../x"')).toMatch(/name: must be a plain Python name/)
  expect(await send('"source": "x" * 300_000')).toMatch(/source: Too big/)
  expect(await send('"source": "x = 1"')).toMatch(/cannot load it: .*x is not a function/)
  expect(await send('"source": "import os; os._exit(3)"')).toMatch(/cannot load it: the sandbox ended/)
  expect(await send('"source": "def x(", "imports": []')).toMatch(/cannot load it: .*SyntaxError/)
  expect(await send('"source": "runtime.save_artifact(\'a\', \'b\')\\ndef x(): pass"')).toMatch(
    /must not make calls while it is imported/,
  )
  expect(await bridge.run('1')).toBe('1')
})

it('a broken saved function is reported and left out, and the others work', async () => {
  const folder = path.join(bridge.home, 'MCPs/.sandbridge/tools/torn/1')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'tool.json'), '{"name":')
  const good = JSON.parse(
    readFileSync(path.join(bridge.home, 'MCPs/.sandbridge/tools/letter_entropy/1/tool.json'), 'utf8'),
  ) as object
  mkdirSync(path.join(folder, '../../unloadable/1'), { recursive: true })
  writeFileSync(
    path.join(folder, '../../unloadable/1/tool.json'),
    JSON.stringify({ ...good, name: 'unloadable', imports: ['import no_such_module'] }),
  )
  const listed = await bridge.run('runtime.list_saved_tools()')
  expect(listed).toMatch(/torn \(version 1\) is broken: .*damaged/)
  expect(listed).toMatch(/unloadable \(version 1\) is broken: it cannot be loaded: .*No module named 'no_such_module'/)
  const found = await bridge.run('print(await runtime.search_tool_docs("entropy of a text"))')
  expect(found).toMatch(
    /import letter_entropy;[^]*\n\[sandbridge: Not searched, because they cannot be loaded: torn, unloadable /,
  )
  expect(found).not.toMatch(/import unloadable/)
  // Reported once.
  expect(await bridge.run('print(await runtime.search_tool_docs("entropy of a text"))')).not.toMatch(/broken/)
  const summary = await bridge.run('runtime.capability_summary()')
  expect(summary).toMatch(/- torn is broken: .*damaged/)
  expect(summary).toMatch(/- unloadable is broken: .*no_such_module/)
  expect(summary).not.toMatch(/import unloadable/)
  expect(await failure('from user_tools import torn')).toMatch(/'torn' is damaged.*delete_tool/)
  expect(await failure('from user_tools import unloadable')).toMatch(
    /cannot be loaded here: ModuleNotFoundError.*show_tool/,
  )
  const star = await bridge.call({ code: 'from user_tools import *\nletter_entropy("ab")' })
  expect(star.structured).toMatchObject({ status: 'ok', stderr: expect.stringMatching(/user_tools: .*unloadable/) })
})

it('sandbridge saved lists and shows saved functions', async () => {
  const { code, stdout } = await sandbridge('saved')
  expect(stdout).toContain('from user_tools import letter_entropy; ')
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^broken +torn: /m)])
  expect(stdout).toMatch(/^broken +unloadable: .*no_such_module/m)
  expect((await sandbridge('saved', 'twice', '1')).stdout).toBe('def twice(x): return x * 2\n')
  // As workflows are called.
  expect((await sandbridge('saved', 'letter-entropy')).stdout).toContain('def letter_entropy(')
  expect((await sandbridge('saved', 'nowhere')).stderr).toMatch(/There is no saved tool or workflow 'nowhere'/)
  expect((await sandbridge('saved', 'twice', 'x')).stderr).toMatch(/'x' is not a version/)
})

it('sandbridge saved deletes one function', async () => {
  expect((await sandbridge('saved', '--remove', 'torn')).stdout).toMatch(/Deleted 'torn'/)
  expect((await sandbridge('saved', '--remove', 'torn')).stderr).toMatch(/There is no saved tool/)
})
