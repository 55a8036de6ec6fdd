// The duration of `sandbridge doctor`.
import { rm } from 'node:fs/promises'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import { atMost, type BenchRow } from '../../../bench/row.ts'

const SERVERS = 20
const GOAL_MS = 10_000

export default async function doctorRows(): Promise<BenchRow[]> {
  const healthy = Array.from({ length: SERVERS }, (_, index) => [`server-${index}`, fixtureServer('raw.mjs', 'good')])
  const home = makeHome(Object.fromEntries(healthy) as Record<string, ReturnType<typeof fixtureServer>>)
  const times = await samples(3, () =>
    timed(async () => {
      const { code, stdout } = await runProgram(process.execPath, [CLI, 'doctor', '--deep', '--json'], bridgeEnv(home))
      if (code === 2) throw new Error(stdout)
    }),
  )
  await rm(home, { recursive: true, force: true })
  return [atMost(`sandbridge doctor --deep with ${SERVERS} healthy servers`, median(times), GOAL_MS, ms)]
}
