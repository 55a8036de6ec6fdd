// This file verifies that programs of the same user can watch a bridge and interrupt its cells, and that a bridge that
// has ended leaves nothing behind.
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { BridgeEvent } from '../../src/observe/events/event.ts'
import { LiveClient } from '../../src/observe/live/live-client.ts'
import { liveBridges, liveFolder } from '../../src/observe/live/live-folder.ts'
import { hostId } from '../../src/util/process/process-id.ts'
import { fixtureServer } from '../support/bridge-process.ts'
import { openObserved } from '../support/observed-bridge.ts'

const good = fixtureServer('raw.mjs', 'good')

async function attached(options: { onEvent?: (event: BridgeEvent) => void } = {}) {
  const observed = await openObserved({ servers: { raw: good }, env: { MCP_BRIDGE_LIVE: '1' } })
  const stateDir = path.join(observed.home, 'MCPs')
  while ((await liveBridges(stateDir)).length === 0) await sleep(10)
  const [bridge] = await liveBridges(stateDir)
  const client = await LiveClient.attach(bridge!, options)
  return { ...observed, stateDir, watched: bridge!, live: client }
}

// Making the snapshot of the embedded sandbox can take a while.
describe('a bridge that is watched', { timeout: 120_000 }, () => {
  it('a bridge that is watched sends its state, then its events, over a socket that only its user can open', async () => {
    const types: string[] = []
    const { run, live, watched, stateDir, bridge } = await attached({ onEvent: ({ type }) => types.push(type) })
    expect(watched).toMatchObject({ pid: process.pid, host: hostId() })
    expect(statSync(watched.socket).mode & 0o777).toBe(0o600)
    expect(live.hello.sessions).toHaveLength(1)
    await run('await mcp_raw.echo(text="x")')
    while (!types.includes('run.ended')) await sleep(5)
    expect(types.indexOf('cell.started')).toBeLessThan(types.indexOf('call.started'))
    expect(live.state.counts).toMatchObject({ runs: 1, cells: 1, calls: 1, failed: 0 })
    expect(live.state.servers.get('raw')).toMatchObject({ state: 'running', calls: 1 })
    const second = await LiveClient.attach(watched)
    expect(second.hello.counts).toMatchObject({ runs: 1, calls: 1 })
    second.close()
    await bridge.close()
    expect(await liveBridges(stateDir)).toEqual([])
    expect(readdirSync(liveFolder(stateDir))).toEqual([])
  })

  it('a bridge that is watched interrupts the cell it is asked to, and no other', async () => {
    const { run, live } = await attached()
    const running = run('import time\nwhile True: time.sleep(0.05)')
    while (live.state.cells.size === 0) await sleep(10)
    const [cell] = live.state.cells.keys()
    expect(await live.ask('interrupt', { cell: 'ffffffffffffffff' })).toBe(false)
    expect(await live.ask('interrupt', { cell })).toBe(true)
    expect(JSON.stringify((await running).content)).toContain('[sandbridge: Interrupted.')
    await expect(live.ask('rm -rf')).rejects.toThrow("no method 'rm -rf'")
    live.close()
  })

  it('a bridge that is watched survives garbage, a line without end, and a reader that never reads', async () => {
    const { run, watched, live } = await attached()
    const garbage = connect(watched.socket)
    garbage.write('not json\n[]\n{"id":1}\nnull\n')
    const endless = connect(watched.socket)
    endless.on('error', () => {})
    endless.write('x'.repeat(2 << 20))
    const deaf = connect(watched.socket)
    deaf.pause()
    await run('for n in range(300):\n    print("y" * 60_000)\n')
    // A reader that is slow at the moment misses events, and gets later ones.
    const { cells } = live.state.counts
    while (live.state.counts.cells === cells) await run('1 + 1')
    for (const socket of [garbage, endless, deaf]) socket.destroy()
    live.close()
  })
})

it('liveBridges forgets entries whose process is gone, and deletes nothing that is not a socket', async () => {
  const { stateDir } = await attached()
  const folder = liveFolder(stateDir)
  const kept = path.join(stateDir, 'servers.json')
  const gone = { pid: 2 ** 22 + 1, host: hostId(), startedAt: 1, version: '1', cwd: '/' }
  writeFileSync(path.join(folder, 'a.json'), JSON.stringify({ ...gone, socket: path.join(folder, 'a.sock') }))
  writeFileSync(path.join(folder, 'b.json'), JSON.stringify({ ...gone, socket: kept }))
  writeFileSync(path.join(folder, 'c.json'), 'garbage')
  expect(await liveBridges(stateDir)).toHaveLength(1)
  expect(readdirSync(folder).filter((name) => /^[abc]\./.test(name))).toEqual([])
  expect(statSync(kept).size).toBeGreaterThan(0)
})
