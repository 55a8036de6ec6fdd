// Rows of pauses: how long one input of an outsider keeps the event loop, on which the resident serves every client.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ms } from './measure.ts'
import { atMost, type BenchRow } from './row.ts'

const LIMIT_MS = 200

/** By name. Each makes its input, and returns what reads it. */
export type Attacks = Record<string, (folder: string) => () => unknown>

export async function pauseRows(attacks: Attacks): Promise<BenchRow[]> {
  const root = mkdtempSync(path.join(tmpdir(), 'pauses-'))
  try {
    const rows: BenchRow[] = []
    for (const [name, prepare] of Object.entries(attacks)) {
      const work = prepare(mkdtempSync(path.join(root, 'of-')))
      rows.push(atMost(name, await longestPause(work), LIMIT_MS, ms))
    }
    return rows
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** The longest time on a processor between two turns of the event loop, which no other load lengthens. */
async function longestPause(work: () => unknown): Promise<number> {
  const now = (): number => process.cpuUsage().user / 1_000
  let longest = 0
  let last = now()
  let isOver = false
  const turn = (): void => {
    longest = Math.max(longest, now() - last)
    last = now()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await new Promise((resolve) => setTimeout(resolve, 10))
  longest = 0
  await work()
  await new Promise((resolve) => setTimeout(resolve, 10))
  isOver = true
  return longest
}
