// What share of the CPU time of tool calls some code of the bridge takes. The profiler of V8 looks at fixed times at
// what runs, so that other load on the machine changes little: on a busy one, times of the same calls differed by a
// half, and these shares by a hundredth. Linux only.
import type { Profiler } from 'node:inspector'
import { rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { Bridge } from '../packages/core/src/bridge/bridge.ts'
import { features, plugIn } from '../packages/core/src/serve/cli/package.ts'
import { readSettings } from '../packages/core/src/config/settings/settings.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { SILENT } from '../packages/core/src/util/log.ts'
import { bridgeEnv, makeHome, published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { CALL } from './call-loop.ts'
import { treeOf, useOf } from './cpu.ts'

const INTERVAL_US = 100
const CALLS_PER_CELL = 100
const CELL_MS = 60_000

/**
 * Opens a bridge in this process, and makes tool calls in its cells.
 * @param isCounted what code counts, with all that it calls, by its file and function
 * @returns its share of the CPU time of all processes that take part
 */
export async function cpuShare(
  env: Record<string, string>,
  isCounted: (file: string, name: string) => boolean,
  { warmUp, calls }: { warmUp: number; calls: number },
): Promise<number> {
  plugIn(PACKAGES)
  const home = makeHome({ everything: published.everything() })
  const settings = readSettings(bridgeEnv(home, { MCP_BRIDGE_POOL: '0', ...env }), { home })
  const bridge = await Bridge.open(settings, SILENT, { methods: features.methods })
  const session = bridge.sessions.open(bridge.tenants.of())
  const make = async (count: number): Promise<void> => {
    const code = `for _ in range(${CALLS_PER_CELL}): ${CALL}`
    for (let made = 0; made < count; made += CALLS_PER_CELL) {
      const { status } = await bridge.cells.run(session, { code, timeoutMs: CELL_MS })
      if (status !== 'ok') throw new Error(`the calls failed: ${status}`)
    }
  }
  await make(warmUp)
  const profiler = new Session()
  profiler.connect()
  await profiler.post('Profiler.enable')
  await profiler.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  const processes = treeOf(process.pid)
  const used = (): number[] => [[process.pid], processes].map((some) => useOf(some).microseconds)
  await profiler.post('Profiler.start')
  const [ownBefore, allBefore] = used() as [number, number]
  await make(calls)
  const [own, all] = used() as [number, number]
  const { profile } = await profiler.post('Profiler.stop')
  profiler.disconnect()
  await bridge.close()
  await rm(home, { recursive: true, force: true, maxRetries: 3 })

  return (countedShare(profile, isCounted) * (own - ownBefore)) / (all - allBefore)
}

/** tsx adds `__name`, which the built bridge has not. */
const NOT_OURS = /^(?:\((?:idle|program|garbage collector)\)|__name)$/

/** The share of samples of the bridge's own code. */
function countedShare(profile: Profiler.Profile, isCounted: (file: string, name: string) => boolean): number {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const counted = new Map<number, boolean>()
  const visit = (id: number, isWithin: boolean): void => {
    const { callFrame, children = [] } = nodes.get(id)!
    if (NOT_OURS.test(callFrame.functionName)) return
    const counts = isWithin || isCounted(callFrame.url, callFrame.functionName)
    counted.set(id, counts)
    for (const child of children) visit(child, counts)
  }
  visit(profile.nodes[0]!.id, false)
  const ours = profile.samples!.filter((id) => counted.has(id))
  return ours.filter((id) => counted.get(id)).length / ours.length
}
