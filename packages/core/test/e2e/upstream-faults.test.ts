// @module-tag whole: a bridge for most tests; upstream/ asks the same without one
// This file verifies that a misbehaving upstream is one clear Python exception and affects neither the session nor
// other servers.
import { expect, it } from 'vitest'
import { fixtureServer, type ServerEntry } from '../support/bridges/bridge-process.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const raw = (mode: string, ...args: string[]): ServerEntry => fixtureServer('raw.mjs', mode, ...args)

/** Servers start when a cell names them, so each test has its own. */
const shared = sharedBridge({
  servers: {
    slow: raw('hang'),
    sly: raw('named', 'print,echo,len,runtime,mcp'),
    odd: raw('odd-names'),
    deaf: raw('goes-deaf'),
    promises: raw('broken-promises'),
  },
})

it("a result that its tool's output schema forbids reaches the code, and is said once to do so", async () => {
  const call = (value: string) => shared().run(`await mcp_promises.promise(value=${value})`)
  expect(await call('{"a": 1}')).toBe("{'a': 1}")
  expect(await call('{"b": 1}')).toBe(
    `{'b': 1}\n[sandbridge: A result of promises.promise does not fit its output schema: result lacks the key 'a'. The code got it as it is.]`,
  )
  expect(await call('{"c": 1}')).toBe("{'c': 1}")
})

it('a server that hangs in initialize is given up with the cell, not with the session', async () => {
  const bridge = shared()
  const { structured } = await bridge.call({ code: 'await mcp_slow.echo(text="x")', timeout: 1 })
  expect(structured['status']).toBe('timeout')
  expect(await bridge.run('1')).toBe('1')
})

it('a server that hangs when a search reads its tools is reported as not searched', async () => {
  const bridge = await startBridge({
    servers: { slow: raw('hang'), dead: { command: 'no-such-command' }, good: raw('good') },
  })
  const code = 'found = await runtime.search_tool_docs("echo")\n[doc.server for doc in found][:1]'
  expect(await bridge.run(code)).toMatch(
    /^\['good'\]\n[\s\S]*Unavailable and not searched: dead \(Server 'dead' could not be started: the command `no-such-command` was not found\)\. Not searched: slow \(it is still starting\)\. Search again later\./,
  )
  // Reported once per cell, and only for servers that the search covered.
  expect(await bridge.run('for n in range(3):\n    found = await runtime.search_tool_docs("x", servers="good")')).toBe(
    '(no output)',
  )
})

it('a server that names tools like builtins and our own names does not replace them', async () => {
  const bridge = shared()
  const code = 'from mcp.servers.sly import *\nprint(await echo(), len("ab"), runtime.__name__, mcp.__name__)'
  expect(await bridge.run(code)).toBe('echo 2 mcp.runtime mcp')
  expect(await bridge.run('dir(mcp_sly)')).toBe("['echo', 'len', 'mcp', 'print', 'runtime']")
  // Available when imported by name.
  expect(await bridge.run('from mcp.servers.sly import print as say\nawait say(), await mcp_sly.len()')).toBe(
    "('print', 'len')",
  )
})

it('a server with tool names that are not valid in Python can still be called', async () => {
  const bridge = shared()
  const aliases =
    'docs = await runtime.list_tools("odd")\nnames = [d["toolAlias"] for d in docs]\nlen(set(names)), all(n.isidentifier() for n in names)'
  expect(await bridge.run(aliases)).toBe('(7, True)')
  expect(await bridge.run('import keyword\n[n for n in names if keyword.iskeyword(n)]')).toBe('[]')
  // The true names are sent.
  const called =
    'd = next(d for d in docs if d["tool"] == "class")\nawait getattr(mcp_odd, d["toolAlias"])(from_date="x")'
  expect(await bridge.run(called)).toBe("['class', {'from-date': 'x'}]")
  const all = 'sent = [(await getattr(mcp_odd, d["toolAlias"])())[0] for d in docs]\nsent == [d["tool"] for d in docs]'
  expect(await bridge.run(all)).toBe('True')
})

it.for([
  ['fails', 't = asyncio.create_task(mcp_deaf.hang())\nawait mcp_deaf.pid()\n1 / 0'],
  ['ends well', 't = asyncio.create_task(mcp_deaf.hang())\nawait mcp_deaf.pid()'],
  ['gave up the wait', 'await mcp_deaf.pid()\nawait asyncio.wait_for(mcp_deaf.hang(), 0.3)'],
  ['gave up the wait and goes on', 'await asyncio.wait([asyncio.create_task(mcp_deaf.hang())], timeout=0.3)'],
])('a cell that %s names its calls that are still open', async ([, code]) => {
  const text = await shared().run(`import asyncio\n${code}`)
  expect(text).toContain('Cut off, may or may not have taken effect: deaf.hang.')
})

it('a cell that waits for a server that answers nothing more says so, and the next one gets a new process', async () => {
  const bridge = shared()
  const first = await bridge.run('await mcp_deaf.pid()')
  const text = await bridge.run('await mcp_deaf.deafen()', { timeout: 1.2 })
  expect(text).toMatch(/deaf\.deafen [\d.]+ s, still running\./)
  expect(text).toContain('Cut off, may or may not have taken effect: deaf.deafen.')
  expect(text).toContain("Server 'deaf' did not answer. It does not answer a ping either. Its next use restarts it.")
  const second = await bridge.run('await mcp_deaf.pid()')
  expect([first, second].every((pid) => /^'\d+'$/.test(pid))).toBe(true)
  expect(second).not.toBe(first)
})
