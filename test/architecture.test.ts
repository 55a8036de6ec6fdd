// This file verifies that ARCHITECTURE.md names the functions that a call and a cell pass through: they are
// counted meanwhile.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { InMemoryTransport, type JSONRPCMessage, LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/server'
import { beforeAll, describe, expect, it } from 'vitest'
import { Bridge } from '../packages/core/src/bridge/bridge.ts'
import { Definitions } from '../packages/core/src/config/definitions.ts'
import { readSettings } from '../packages/core/src/config/settings/settings.ts'
import { createLog } from '../packages/core/src/util/log.ts'
import { createServer } from '../packages/core/src/serve/mcp/create-server.ts'
import { oneSession } from '../packages/core/src/serve/mcp/sessions.ts'
import { fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { processContext } from '../packages/core/src/config/settings/client-context.ts'
import { type RanFunction, ranFunctions } from '@sandbridge/core/test/support/sandboxes/ran-functions.ts'

const ROOT = path.join(import.meta.dirname, '..')
const CELLS = 20
const CALLS = 50

/** More than there are readers of configurations. */
const ENTRIES = 60

let perCell: RanFunction[] = []
let perCall: RanFunction[] = []
let perEntry: RanFunction[] = []

beforeAll(async () => {
  const home = makeHome({ raw: fixtureServer('raw.mjs', 'good') })
  const env = {
    MCP_BRIDGE_SOURCES: 'mcps',
    MCP_BRIDGE_POOL: '0',
    MCP_BRIDGE_RUNTIME: 'pyodide',
    // Observers keep working while the next measurement runs.
    MCP_BRIDGE_AUDIT: 'off',
  }
  const settings = readSettings({ ...env, MCP_BRIDGE_CACHE_DIR: path.join(home, 'cache') }, { home })
  const log = createLog('error')
  const bridge = await Bridge.open(settings, log)
  const tenant = bridge.tenants.of()
  const sessions = oneSession(bridge.sessions.open(tenant))
  const server = createServer({ settings, log, getConversation: () => Promise.resolve({ bridge, sessions, tenant }) })
  const run = await connect(server)
  expect(await run('print(await mcp_raw.echo(text="warm"))')).toContain('warm')
  const definitions = manyEntries(home)
  perEntry = await ranFunctions(async () => {
    expect((await definitions.read()).servers).toHaveLength(ENTRIES)
  })
  perCell = await ranFunctions(async () => {
    for (let cell = 0; cell < CELLS; cell += 1) expect(await run('1 + 1')).toBe('2')
  })
  perCall = await ranFunctions(async () => {
    expect(await run(`for n in range(${CALLS}): x = await mcp_raw.echo(text=str(n))\nx`)).toContain('49')
  })
  expect(await run('1 + 1')).toBe('2')
  return () => bridge.close()
})

function manyEntries(home: string): Definitions {
  const stateDir = path.join(home, 'entries')
  mkdirSync(stateDir)
  const entry = (n: number) => [`server-${n}`, { command: 'node', args: ['${HOME}/x.js', String(n)] }]
  const mcpServers: unknown = Object.fromEntries(Array.from({ length: ENTRIES }, (_, n) => entry(n)))
  writeFileSync(path.join(stateDir, 'servers.json'), JSON.stringify({ mcpServers }))
  const settings = readSettings({ MCP_BRIDGE_SOURCES: 'mcps', MCP_BRIDGE_STATE_DIR: stateDir }, { home })
  return new Definitions(settings, processContext())
}

/** @returns a function that runs code like a client, with the text of the result */
async function connect(server: ReturnType<typeof createServer>) {
  const [client, connection] = InMemoryTransport.createLinkedPair()
  await server.connect(connection)
  const waiting = new Map<unknown, (message: JSONRPCMessage) => void>()
  client.onmessage = (message) => 'id' in message && waiting.get(message.id)?.(message)
  let id = 0
  const request = (method: string, params: Record<string, unknown>) =>
    new Promise<JSONRPCMessage>((resolve) => {
      waiting.set((id += 1), resolve)
      void client.send({ jsonrpc: '2.0', id, method, params })
    })
  const clientInfo = { name: 'test', version: '1' }
  await request('initialize', { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo })
  await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return async (code: string) => {
    const answer = await request('tools/call', { name: 'run_python', arguments: { code } })
    const { result } = answer as unknown as { result: { content: { text: string }[] } }
    return result.content[0]!.text
  }
}

interface Step {
  name: string
  file: string
  /** How its body names the next function; undefined when another function is in between. */
  goesOnBy: string | undefined
}

const STEP =
  /^\d+\. `(?<name>#?\w+)` \(`packages\/core\/src\/(?<file>[^`]+)`\)(?:, by `(?<by>#?\w+)`|, (?<then>then) [^:\n]+)?(?:: .+)?$/

function stepsOf(way: string): Step[] {
  const text = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8')
  const section = text.split(`### ${way}\n`)[1]!.split('\n#')[0]!
  const lines = section.split('\n').filter((line) => /^\d/.test(line))
  const steps = lines.map((line) => STEP.exec(line)?.groups ?? expect.fail(`not a step: ${line}`))
  return steps.map(({ name, file, by, then }, index) => {
    return { name: name!, file: file!, goesOnBy: then === undefined ? (by ?? steps[index + 1]?.['name']) : undefined }
  })
}

/** The lines of a function after its first line, as formatted. */
function bodyOf({ name, file }: Step): string | undefined {
  const lines = readFileSync(path.join(ROOT, 'packages/core/src', file), 'utf8').split('\n')
  const declared = new RegExp(
    `(?:^ *(?:static |async |export |function )*${name}(?:<[^>]*>)?(?:\\(|: )|function ${name}\\(|const ${name}\\b)`,
  )
  const start = lines.findIndex((line) => declared.test(line) && /[({]$|=> .+,?$/.test(line.trimEnd()))
  if (start < 0) return undefined
  if (!/[({]$/.test(lines[start]!)) return lines[start]
  const indent = /^ */.exec(lines[start]!)![0]
  const isEnd = (line: string) => line.startsWith(`${indent}}`) && !line.endsWith('{')
  const length = lines.slice(start + 1).findIndex(isEnd)
  return lines.slice(start + 1, start + 1 + length).join('\n')
}

const named = (step: Pick<Step, 'name' | 'file'>) => `${step.name} (${step.file})`

describe.each([
  ['A call', 17],
  ['A cell', 14],
] as const)('the way of %s in ARCHITECTURE.md', (way, most) => {
  const steps = stepsOf(way)

  it(`ARCHITECTURE.md lists at least 3 and at most ${most} functions of the way of ${way}, each of which exists and names the next`, () => {
    const broken = steps.flatMap((step) => {
      const body = bodyOf(step)
      if (body === undefined) return [`${named(step)} does not exist`]
      const isNamed = step.goesOnBy === undefined || new RegExp(`(?<![\\w#])${step.goesOnBy}\\b`).test(body)
      return isNamed ? [] : [`${named(step)} does not name ${step.goesOnBy}`]
    })
    expect(broken).toEqual([])
    expect(steps.length).toBeGreaterThan(2)
    expect(steps.length).toBeLessThanOrEqual(most)
  })
})

it.each([
  ['A call', CALLS, () => perCall],
  ['A cell', CELLS, () => perCell],
] as const)('%s in ARCHITECTURE.md passes each function of its list', (way, times, ran) => {
  const counts = new Map<string, number>()
  for (const one of ran()) counts.set(named(one), Math.max(one.count, counts.get(named(one)) ?? 0))
  const missed = stepsOf(way).filter((step) => (counts.get(named(step)) ?? 0) < times)
  expect(missed.map(named)).toEqual([])
})

it('A configuration entry is handled by functions of at most fifteen files, of config and util', () => {
  const files = new Set(perEntry.filter(({ count }) => count >= ENTRIES).map(({ file }) => file))
  expect([...files].filter((file) => !/^(?:config|util)\//.test(file))).toEqual([])
  expect(files.size).toBeGreaterThan(5)
  expect(files.size).toBeLessThanOrEqual(15)
})
