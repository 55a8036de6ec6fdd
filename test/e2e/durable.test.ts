// This file verifies that a sandbox outlives its bridge: a real one is killed between cells and in the middle of one, and the next goes on with it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
import { until } from '../support/processes.ts'
import { runProgram } from '../support/run-program.ts'

vi.setConfig({ testTimeout: 240_000 })

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
    open: async (more: BridgeOptions = {}) => {
      const bridge = await openTestBridge({ home, env, ...more })
      bridges.push(bridge)
      return bridge
    },
    lines: () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []),
    sandbridge: (...args: string[]) => runProgram(process.execPath, [CLI, ...args], bridgeEnv(home, env)),
    /** Whether a file of this name is in the sandbox. */
    has: (name: string) =>
      spawnSync(engine, ['exec', `sandbridge-durable-${ids()[0]}`, 'test', '-e', `/workspace/${name}`]).status === 0,
  }
}

async function kill(bridge: TestBridge): Promise<void> {
  const ended = new Promise<void>((resolve) => (bridge.client.onclose = resolve))
  process.kill(bridge.pid, 'SIGKILL')
  await ended
}

describe.each(['docker', 'podman'] as const)('%s', (engine) => {
  it('keeps the variables of a bridge that is killed between two cells', async (ctx) => {
    await providerOrSkip(engine, ctx)
    const { open, sandbridge, ids } = setUp(engine)
    const first = await open()
    expect(await first.run('x = 41\nruntime.session().mode')).toBe("'durable'")
    // The client has that result: it is told no second time.
    expect(await first.run('x')).toBe('41')
    await kill(first)
    const [listed] = JSON.parse((await sandbridge('sandboxes', '--json')).stdout) as Record<string, unknown>[]
    expect(listed).toMatchObject({ id: ids()[0], provider: engine, state: 'waiting', client: 'test' })
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
    const { stdout } = spawnSync(engine, ['ps', '--all', '--filter', `name=sandbridge-durable-${String(listed?.['id'])}`, '--quiet'])
    expect(stdout.toString().trim()).toBe('')
  })

  it('lets a cell go on without a bridge, and makes no call of it twice', async (ctx) => {
    await providerOrSkip(engine, ctx)
    const { open, ledger, lines, has } = setUp(engine)
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
    const [id] = setUpIds(first.home)
    spawnSync(engine, ['exec', `sandbridge-durable-${id}`, 'touch', '/workspace/go'])
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

function setUpIds(home: string): string[] {
  return readdirSync(path.join(home, 'MCPs/sandboxes'))
}
