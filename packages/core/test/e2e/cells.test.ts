// This file verifies what a model experiences from cell to cell, in the embedded sandbox.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { thisNode } from '../../src/isolation/pyodide/command.ts'
import {
  ANY_RUNTIME,
  CLI,
  closeTestBridge,
  makeHome,
  openTestBridge,
  REAL_SANDBOX,
} from '../support/bridges/bridge-process.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { needsLinux, skip } from '../support/suite/needs.ts'

const shared = sharedBridge({ env: REAL_SANDBOX })

it('a cell keeps variables, imports and functions for the next one', async () => {
  await shared().run('import math\nradius = 2\ndef area(r): return math.pi * r * r')
  expect(await shared().run('round(area(radius), 3)')).toBe('12.566')
})

it('a cell shows print, stderr and the last value apart', async () => {
  const { structured } = await shared().call({
    code: 'import sys\nprint("out")\nprint("err", file=sys.stderr)\n[1, 2]',
  })
  expect(structured).toEqual({ status: 'ok', stdout: 'out\n', stderr: 'err\n', value: '[1, 2]' })
})

const env = { MCP_BRIDGE_RUNTIME: 'pyodide' }
const tooDeep = { code: 'kept = 1\nimport json\njson.loads("[" * 10**6)' }

it('a value nested too deeply is a RecursionError, and the variables stay', async () => {
  if (!thisNode.hasDeepStack) skip('the stack of a process is limited here')
  const embedded = ANY_RUNTIME === 'pyodide' ? shared() : await startBridge({ env })
  const { text } = await embedded.call(tooDeep)
  expect(text).toContain('RecursionError: Stack overflow')
  await embedded.run('import pickle\nx, y = [], []\nfor _ in range(300_000): x, y = [x], [y]')
  // Not repr(x): CPython compares each list with all lists around it, so its time grows with the square of the depth.
  for (const code of ['json.dumps(x)', 'pickle.dumps(x)', 'x == y']) {
    expect(await embedded.run(code)).toContain('RecursionError: Stack overflow')
  }
  expect(await embedded.run('del x, y\nkept')).toBe('1')
})

it('a value nested too deeply ends the sandbox where its stack is limited, the result says why once, and the next cell runs', async () => {
  needsLinux('there is no ulimit to set')
  const home = makeHome()
  const node = path.join(home, 'node-with-a-small-stack')
  writeFileSync(node, `#!/bin/sh\nulimit -s 8192\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 })
  const limited = await openTestBridge({ home, env, command: { node, cli: CLI } })
  const { text, structured } = await limited.call(tooDeep)
  expect(structured['status']).toBe('killed')
  expect(text.match(/its stack overflowed/g)).toHaveLength(1)
  expect(text).not.toContain('had ended')
  expect(await limited.run('"fine"')).toBe("'fine'")
  await closeTestBridge(limited)
})

it.each([
  ['time.sleep', 'import time\ntime.sleep(60)'],
  ['an await', 'import asyncio\nawait asyncio.sleep(60)'],
  ['a catastrophic regex', 'import re\nre.match(r"(a+)+$", "a" * 40 + "b")'],
  ['a huge number', 'len(str(10 ** (10 ** 8)))'],
])('the time limit interrupts %s', async (_, code) => {
  await shared().run('kept = "still"')
  expect((await shared().call({ code, timeout: 0.5 })).structured['status']).toBe('timeout')
  expect(await shared().run('kept')).toBe("'still'")
})

it('a cell is held to its memory limit, and the session lives', async () => {
  const { text, isError } = await shared().call({
    code: 'blocks = []\nwhile True: blocks.append(bytearray(50_000_000))',
    timeout: 60,
  })
  expect(isError).toBe(true)
  expect(text).toMatch(/MemoryError|out of memory/)
  expect(await shared().run('2 + 2')).toBe('4')
})
