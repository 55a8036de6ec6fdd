// Stored state: a saved tool in a new session, and files that leave a sandbox and come back.
import {
  closeTestBridge,
  openTestBridge,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const SAVE = `
import math
def distance(ax: float, ay: float, bx: float, by: float) -> float:
    """Distance of two points in the plane."""
    return math.hypot(ax - bx, ay - by)
runtime.save_tool(distance)`

const USE = `
[found] = await runtime.search_tool_docs("distance of two points", limit=1)
from user_tools import distance
found.tool, distance(0, 0, 3, 4)`

export default async function stateRows(): Promise<BenchRow[]> {
  const bridge = await openTestBridge()
  await bridge.run(SAVE)
  let cells = 0
  let right = true
  const times = await samples(5, async () => {
    await bridge.run('runtime.reset()')
    return timed(async () => {
      cells += 1
      right &&= (await bridge.run(USE)) === "('distance', 5.0)"
    })
  })
  const perSession = cells / times.length
  const rows: BenchRow[] = [
    {
      name: 'saved tool found, loaded and called in a new session',
      value: right ? `${perSession} cell, ${ms(median(times))}` : 'wrong answer',
      goal: 'one cell',
      ok: right && perSession === 1,
    },
    await artifactRow(bridge),
  ]
  await closeTestBridge(bridge)
  return rows
}

async function artifactRow(bridge: TestBridge): Promise<BenchRow> {
  const megabytes = 20
  await bridge.run(`import os\ndata = os.urandom(${megabytes} << 20)`)
  const saving = await timed(() => bridge.run('runtime.save_artifact("bench.bin", data)', { timeout: 100 }))
  let same = ''
  const opening = await timed(async () => {
    same = await bridge.run('runtime.open_artifact("bench.bin").getvalue() == data', { timeout: 100 })
  })
  const rate = (time: number) => `${((megabytes * 1000) / time).toFixed(0)} MiB/s`
  return {
    name: `an artifact of ${megabytes} MiB saved, and opened again`,
    value: same === 'True' ? `${rate(saving)}, ${rate(opening)}` : same,
    goal: 'works',
    ok: same === 'True',
  }
}
