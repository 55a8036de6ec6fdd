// This file verifies that a sandbox outlives its bridge: a real bridge is killed between cells and during one, and the
// next one continues with it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  bridgeEnv,
  type BridgeOptions,
  CLI,
  fixtureServer,
  makeHome,
  openTestBridge,
  type TestBridge,
} from '../support/bridge-process.ts'
import { providerOrSkip, runtimeEnv } from '../support/engines.ts'
import { startHttpBridge } from '../support/http-bridge.ts'
import { until } from '../support/processes.ts'
import { runProgram } from '../support/run-program.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A home that outlives bridges, with a server whose effects are lines of a file. */
function setUp(engine: 'docker' | 'podman') {
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-ledger-'))
  const ledger = path.join(folder, 'lines')
  const home = makeHome({ ledger: { ...fixtureServer('ledger.mjs'), env: { LEDGER: ledger } } })
  const env = { ...runtimeEnv(engine), MCP_BRIDGE_SESSION: 'durable' }
  const bridges: TestBridge[] = []
  const ids = () => {
    const all = path.join(home, 'MCPs/sandboxes')
    return existsSync(all) ? readdirSync(all) : []
  }
  let first: string | undefined
  /** The id of the first sandbox; call it before another one exists. */
  const keptId = () => (first ??= ids()[0])
  const inSandbox = (...command: string[]) =>
    spawnSync(engine, ['exec', `sandbridge-durable-${keptId()}`, ...command]).status === 0
  onTestFinished(async () => {
    await Promise.all(bridges.map((bridge) => bridge.client.close()))
    for (const id of ids()) spawnSync(engine, ['rm', '--force', `sandbridge-durable-${id}`])
    rmSync(home, { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    home,
    ledger,
    ids,
    keptId,
    open: async (more: BridgeOptions = {}) => {
      const bridge = await openTestBridge({ home, env, ...more })
      bridges.push(bridge)
      return bridge
    },
    lines: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []),
    sandbridge: (...args: string[]) => runProgram(process.execPath, [CLI, ...args], bridgeEnv(home, env)),
    /** Whether a file of this name is in the sandbox. */
    has: (name: string) => inSandbox('test', '-e', `/workspace/${name}`),
    make: (name: string) => inSandbox('touch', `/workspace/${name}`),
  }
}

/**
 * Kills the bridge after it has recorded that the client has the results so far, which it does right after sending
 * them.
 */
async function kill(bridge: TestBridge): Promise<void> {
  await bridge.client.listTools()
  const ended = new Promise<void>((resolve) => (bridge.client.onclose = resolve))
  process.kill(bridge.pid, 'SIGKILL')
  await ended
}

describe.each(['docker', 'podman'] as const)('%s', (engine) => {
  it(`a kept sandbox on ${engine} keeps the variables of a bridge that is killed between two cells`, async (ctx) => {
    await providerOrSkip(engine, ctx)
    const { open, sandbridge, ids } = setUp(engine)
    const first = await open()
    expect(await first.run('x = 41\nruntime.session().mode')).toBe("'durable'")
    // The client has this result: it must not be reported again.
    expect(await first.run('x')).toBe('41')
    await kill(first)
    const [listed] = JSON.parse((await sandbridge('sandboxes', '--json')).stdout) as Record<string, unknown>[]
    expect(listed).toMatchObject({ id: ids()[0], provider: engine, state: 'waiting', client: 'inspector-cli' })
    const second = await open()
    expect(await second.run('x + 1')).toBe('42')
    await second.client.close()
    const third = await open({ era: 'legacy' })
    expect(await third.run('x + 2, runtime.session().cellCount')).toBe('(43, 4)')
    expect((await sandbridge('sandboxes')).stdout).toContain(`in use (process ${third.pid})`)
    const refused = await sandbridge('sandboxes', 'remove', ids()[0]!)
    expect(refused.stderr).toContain(`A bridge (process ${third.pid}) is using the sandbox`)
    await kill(third)
    expect((await sandbridge('sandboxes', 'remove', ids()[0]!)).stdout).toContain('Its variables are gone')
    expect(ids()).toEqual([])
    const { stdout } = spawnSync(engine, [
      'ps',
      '--all',
      '--filter',
      `name=sandbridge-durable-${String(listed?.['id'])}`,
      '--quiet',
    ])
    expect(stdout.toString().trim()).toBe('')
  })

  it(`a kept sandbox on ${engine} runs its cell on without a bridge, and none of its calls is made twice`, async (ctx) => {
    await providerOrSkip(engine, ctx)
    const { open, ledger, lines, has, make } = setUp(engine)
    writeFileSync(`${ledger}.silent`, '')
    const first = await open()
    const cell = `
import asyncio
first = asyncio.ensure_future(mcp_ledger.add_line(text='first'))
while not os.path.exists('/workspace/go'): await asyncio.sleep(0.05)
print('printed alone')
second = asyncio.ensure_future(mcp_ledger.add_line(text='second'))
await asyncio.sleep(0.1)
open('/workspace/called', 'w')
answers = await asyncio.gather(first, second, return_exceptions=True)
[getattr(answer, 'code', answer) for answer in answers]`
    await first.run('import os')
    const answer = first.run(cell).catch(() => 'no answer')
    await until(() => lines().includes('first'))
    await kill(first)
    expect(await answer).toBe('no answer')
    make('go')
    await until(() => has('called'))
    rmSync(`${ledger}.silent`)
    const second = await open()
    const text = await second.run('"next"')
    expect(text).toMatch(/^'next'/)
    expect(text).toMatch(/Cell 2, which ran when the bridge ended, has finished/)
    expect(text).toContain('printed alone')
    expect(text).toContain("['CALL_INTERRUPTED', 'added second']")
    expect(lines()).toEqual(['first', 'second'])
    expect(await second.run('len(answers)')).toBe('2')
  })
})

const ENGINE = 'docker'
const WAIT = `
import asyncio, os
runs = globals().get('runs', 0) + 1
open('/workspace/begun', 'w')
while not os.path.exists('/workspace/go'): await asyncio.sleep(0.05)
os.remove('/workspace/go'), os.remove('/workspace/begun')
f'run {runs}'`

it('a kept sandbox is given to one bridge at a time, and the same source does not run its cell again', async (ctx) => {
  await providerOrSkip(ENGINE, ctx)
  const { open, has, make, ids, keptId, home } = setUp(ENGINE)
  const first = await open()
  expect(await first.run('x = 1')).not.toContain('[')
  const kept = keptId()
  const other = await open()
  expect(await other.run('"x" in globals()')).toMatch(
    new RegExp(`^False\\n\\[sandbridge: Another bridge \\(process ${first.pid}\\) has the kept sandbox ${kept}`),
  )
  expect(ids()).toHaveLength(2)
  void first.run(WAIT).catch(() => {})
  await until(() => has('begun'))
  await kill(first)
  const second = await open()
  const answer = second.run(WAIT)
  make('go')
  expect(await answer).toMatch(/^'run 1'\n\[sandbridge: Cell 2 had the same source .* It was not run again/)
  // A bridge that is asked to end leaves its cell running, too.
  const left = second.run(WAIT)
  await until(() => has('begun'))
  process.kill(second.pid, 'SIGTERM')
  expect(await left).toContain('The cell goes on, and the next call gets its result')
  await second.client.close()
  make('go')
  await until(() => !has('begun'))
  const third = await open()
  expect(await third.run('runs')).toMatch(
    /^2\n\[sandbridge: Cell 3, which ran when the bridge ended, has finished. It showed:\n> 'run 2'/,
  )
  // The other session has its own variables.
  expect(await other.run('"runs" in globals()')).toBe('False')
  await kill(third)
  const changed = await open({
    env: { ...runtimeEnv(ENGINE), MCP_BRIDGE_SESSION: 'durable', MCP_BRIDGE_MEMORY: '300m' },
    home,
  })
  const text = await changed.run('"runs" in globals()')
  expect(text).toMatch(/^False\n\[.*was made with other settings, so the bridge ended it/s)
})

it('a kept sandbox interrupts a cell whose time ends without a bridge, and ends when no bridge comes back', async (ctx) => {
  await providerOrSkip(ENGINE, ctx)
  const { open, has, ids } = setUp(ENGINE)
  const first = await open({
    env: { ...runtimeEnv(ENGINE), MCP_BRIDGE_SESSION: 'durable', MCP_BRIDGE_DURABLE_TIMEOUT: '10' },
  })
  void first
    .call({
      code: "import time\nx = 1\nopen('/workspace/begun', 'w')\ntry:\n    while True: time.sleep(0.01)\nfinally: open('/workspace/over', 'w')",
      timeout: 2,
    })
    .catch(() => {})
  await until(() => has('begun'))
  await kill(first)
  await until(() => has('over'))
  const second = await open({
    env: { ...runtimeEnv(ENGINE), MCP_BRIDGE_SESSION: 'durable', MCP_BRIDGE_DURABLE_TIMEOUT: '10' },
  })
  expect(await second.run('x')).toMatch(/^1\n\[sandbridge: Cell 1 reached its time limit while no bridge was there/)
  await kill(second)
  const [id] = ids()
  const runs = () =>
    spawnSync(ENGINE, ['ps', '--quiet', '--filter', `label=sandbridge.durable=${id}`]).stdout.length > 0
  expect(runs()).toBe(true)
  await until(() => !runs())
  const third = await open()
  expect(await third.run('"x" in globals()')).toMatch(/^False\n\[sandbridge: The kept sandbox .* has ended/)
})

it('a kept sandbox of this machine that stands still is ended when a cell does not stop, and the next cell has another one', async (ctx) => {
  await providerOrSkip(ENGINE, ctx)
  const { open, ids } = setUp(ENGINE)
  const bridge = await open({ env: { ...runtimeEnv(ENGINE), MCP_BRIDGE_SESSION: 'durable', MCP_BRIDGE_POOL: '0' } })
  await bridge.run('import asyncio')
  const [paused] = ids()
  const running = bridge.run('await asyncio.sleep(600)', { timeout: 3 })
  expect(spawnSync(ENGINE, ['pause', `sandbridge-durable-${paused}`]).status).toBe(0)
  expect(await running).toContain('All variables are gone')
  await until(() => !ids().includes(paused!))
  expect(await bridge.run('6 * 7')).toContain('42')
})

it('a kept sandbox refuses code of a cell that poses as its sandbox', async (ctx) => {
  await providerOrSkip(ENGINE, ctx)
  const { open, ids } = setUp(ENGINE)
  const first = await open()
  await first.run(`
import socket, threading, time
x, seen = 7, {'let in': 0, 'turned away': 0, 'told': b''}
words = 'hello version=1 key=%s cell=9 running=1 pending=1 late=0 dropped=0 deadline=0 digest=- open=-\\n1 {}\\n' % ('0' * 64)
def stand_in():
    while True:
        end = socket.socket(socket.AF_UNIX)
        try:
            end.connect('/run/sandbridge/bridge')
            seen['let in'] += 1
            end.sendall(words.encode())
            seen['told'] += end.recv(4096)
        except OSError:
            seen['turned away'] += 1
            time.sleep(0.001)
        end.close()
threading.Thread(target=stand_in, daemon=True).start()`)
  // While a bridge is connected, no other connection is let in.
  expect(await first.run("import asyncio\nawait asyncio.sleep(0.2)\nseen['let in'], seen['turned away'] > 5")).toBe(
    '(0, True)',
  )
  await kill(first)
  const second = await open()
  expect(await second.run('x')).toBe('7')
  expect(await second.run("seen['let in'] > 0, seen['told']")).toBe("(True, b'')")
  // Ending the session removes the container and the record.
  const [id] = ids()
  await second.run('runtime.reset()')
  await second.client.close()
  expect(ids()).toEqual([])
  const { stdout } = spawnSync(ENGINE, ['ps', '--all', '--quiet', '--filter', `label=sandbridge.durable=${id}`])
  expect(stdout.toString()).toBe('')
})

it('a kept sandbox is given back to a modern client by its handle, and to no client without it', async (ctx) => {
  await providerOrSkip(ENGINE, ctx)
  const { home } = setUp(ENGINE)
  const env = { ...runtimeEnv(ENGINE), MCP_BRIDGE_SESSION: 'durable' }
  const first = await startHttpBridge({ home, env })
  const client = await first.connect('modern')
  const [, session] = /session="([\w-]+)"/.exec(await client.run('x = 5'))!
  await until(() => readdirSync(path.join(home, 'MCPs/sandboxes')).length === 1)
  await client.client.listTools()
  const ended = new Promise<void>((resolve) => first.child.once('exit', () => resolve()))
  first.child.kill('SIGKILL')
  await ended
  const second = await startHttpBridge({ home, env })
  const again = await second.connect('modern')
  expect((await again.call({ code: 'x', session: `${session!.slice(1)}A` })).text).toContain(
    'Unknown or expired session',
  )
  expect(await again.run('x', { session })).toBe('5')
  const [id] = readdirSync(path.join(home, 'MCPs/sandboxes'))
  // The home is deleted before `setUp` looks into it.
  onTestFinished(() => void spawnSync(ENGINE, ['rm', '--force', `sandbridge-durable-${id}`]))
  const record = path.join(home, 'MCPs/sandboxes', id!, 'record.json')
  expect(readFileSync(record, 'utf8')).not.toContain(session)
  expect(statSync(record).mode & 0o777).toBe(0o600)
})

it.each(['bubblewrap', 'pyodide'])(
  'MCP_BRIDGE_SESSION=durable is refused with %s at the start, and the error names the sandboxes that support it',
  async (runtime) => {
    const home = makeHome()
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const env = bridgeEnv(home, { MCP_BRIDGE_RUNTIME: runtime, MCP_BRIDGE_SESSION: 'durable' })
    const { code, stderr } = await runProgram(process.execPath, [CLI, 'run'], env)
    expect(code).not.toBe(0)
    expect(stderr).toContain('MCP_BRIDGE_SESSION=durable needs docker, podman or kubernetes')
  },
)
