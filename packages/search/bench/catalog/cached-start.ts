// How fast a bridge answers when all its 300 servers are in the catalog, and that it starts none of them. The servers
// are real: they are indexed first.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bridgeEnv,
  CLI,
  fixtureServer,
  makeHome,
  openTestBridge,
  type ServerEntry,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { median, ms, samples } from '../../../../bench/measure.ts'
import type { BenchRow } from '../../../../bench/row.ts'

const SERVERS = 300
const GOAL_MS = 300
/** Run by each server at its start. */
const MARK = 'data:text/javascript,import{appendFileSync}from"node:fs";appendFileSync(process.env.STARTS,"x")'

export async function cachedStartRow(): Promise<BenchRow> {
  const home = makeHome(
    Object.fromEntries(Array.from({ length: SERVERS }, (_, index) => [`server-${index}`, marked(index)])),
  )
  const starts = path.join(home, 'starts')
  const env = { STARTS: starts }
  execFileSync(process.execPath, [CLI, 'index'], { cwd: home, env: bridgeEnv(home, env), stdio: 'ignore' })
  const indexed = readFileSync(starts, 'utf8').length
  rmSync(starts)
  const times = await samples(5, async () => {
    const startedAt = performance.now()
    const bridge = await openTestBridge({ home, env })
    await bridge.client.listTools()
    const time = performance.now() - startedAt
    await sleep(1_500) // its background work is done by then
    await bridge.client.close()
    return time
  })
  const started = existsSync(starts)
  rmSync(home, { recursive: true, force: true })
  const time = median(times)
  return {
    name: `bridge start with ${indexed} cached servers → tools/list answered, no server started`,
    value: started ? 'servers were started' : ms(time),
    goal: `≤ ${ms(GOAL_MS)}`,
    ok: indexed === SERVERS && !started && time <= GOAL_MS,
  }
}

function marked(index: number): ServerEntry {
  const { command, args = [] } = fixtureServer('resources.mjs', 'none', String(index))
  return { command, args: ['--import', MARK, ...args], env: { STARTS: '${STARTS}' } }
}
