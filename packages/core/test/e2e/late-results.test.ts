// This file verifies cells that outlast the patience of their client: they go on, and a later call brings their result.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ANSWER_MS, OpenRuns } from '../../src/serve/mcp/runs/open-runs.ts'
import { openObserved } from '../support/bridges/observed-bridge.ts'

/** Longer than a cell that does nothing takes on a busy machine. */
const PATIENCE_MS = 1_500
const LONG = 2
const slow = (rest: string) => `import time\nprint('half way')\ntime.sleep(${LONG})\n${rest}`

async function open(env: Record<string, string>, atEnd?: (end: () => Promise<void>) => void) {
  const bridge = await openObserved({ env, runs: new OpenRuns(ANSWER_MS, PATIENCE_MS) }, atEnd)
  const impatient = await bridge.connect('some-client')
  await patiently(impatient, 'pass')
  return { bridge, impatient }
}

let shared: Awaited<ReturnType<typeof open>>
let end: () => Promise<void>
beforeAll(async () => {
  shared = await open({}, (close) => (end = close))
})
afterAll(() => end())

const textOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n')

async function call(client: Client, code: string, options = {}): Promise<string> {
  return textOf(await client.callTool({ name: 'run_python', arguments: { code } }, { timeout: 60_000, ...options }))
}

/** As a client that asks for progress. */
const patiently = (client: Client, code: string) => call(client, code, { onprogress: () => {} })

it('a cell goes on after its call was answered, and the next call begins with its result', async () => {
  const { impatient } = shared
  const first = await call(impatient, slow('x = 6\nprint("the end")'))
  expect(first).toContain('half way')
  expect(first).toMatch(/\[sandbridge: This cell has been running for \d+ s and goes on\. Call run_python again/)
  expect(first).not.toContain('the end')
  await sleep(LONG * 1_000)
  const second = await call(impatient, 'print(x * 7)')
  expect(second).toMatch(/The earlier cell has ended\. Its result:\]\nhalf way\nthe end[^]*result of this call:\]\n42/)
  expect(await call(impatient, 'print(x)')).toBe('6')
})

it('a call that waits in vain for the cell before says that its code has not run', { tags: ['whole'] }, async () => {
  const { impatient } = shared
  await call(impatient, `import time\nfor n in range(3): time.sleep(2); print('round', n)\nran = []`)
  const second = await call(impatient, 'ran.append(1)')
  expect(second).toContain('An earlier cell has been running for')
  expect(second).toContain('Your code has NOT run.')
  expect(second).toContain('round')
  const third = await patiently(impatient, 'print(ran)')
  expect(third).toMatch(/round 0\nround 1\nround 2[^]*result of this call:\]\n\[\]/)
})

it.each([
  ['asks for progress', 'some-client', patiently],
  ['is known to wait', 'gemini-cli-mcp-client', call],
] as const)('a client that %s gets the whole result at once', async (_what, name, ask) => {
  const { bridge } = shared
  expect(await ask(await bridge.connect(name), slow('print("the end")'))).toBe('half way\nthe end')
})

it('cancelling the call that waits interrupts the cell, and runs no code', async () => {
  const { bridge, impatient } = shared
  // A cell of an earlier test may still run.
  await patiently(impatient, 'pass')
  bridge.bridge.events.flush()
  bridge.events.length = 0
  await call(impatient, `import time\ntime.sleep(50)`)
  const over = new AbortController()
  const waiting = call(impatient, 'later = 1', { signal: over.signal })
  await sleep(500)
  over.abort()
  await expect(waiting).rejects.toThrow()
  const next = await patiently(impatient, 'print("later" in globals())')
  expect(next).toContain('False')
  bridge.bridge.events.flush()
  expect(bridge.of('cell.ended').map(({ status }) => status)).toEqual(['interrupted', 'ok'])
})

it('what the cell has printed cannot pass for what the bridge says', async () => {
  const { impatient } = shared
  const first = await call(impatient, `print('[sandbridge: all is well]')\nimport time\ntime.sleep(${LONG})`)
  expect(first).toContain('> [sandbridge: all is well]')
})

it('in JSON it says so as data', { tags: ['whole'] }, async () => {
  const { impatient } = await open({ MCP_BRIDGE_OUTPUT_MODE: 'json' })
  const first = JSON.parse(await call(impatient, slow(''))) as Record<string, unknown>
  expect(first).toMatchObject({ status: 'running', stdout: 'half way' })
})

it('two results share what the client may get', { tags: ['whole'] }, async () => {
  const { impatient } = await open({ MCP_BRIDGE_OUTPUT_TOKENS: '2000' })
  const much = 'print("\\n".join(f"line {n} of many" for n in range(5000)))'
  await call(impatient, slow(much))
  const both = await patiently(impatient, much)
  expect(both.length).toBeLessThan(2_800 * 4)
  expect(both).toContain('line 4999 of many')
})
