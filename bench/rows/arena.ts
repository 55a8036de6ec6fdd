// Rows of what tasks cost at least through Sandbridge, beside the same calls made directly: replays of the calls of a
// perfect model, in tokens of o200k.
import { ratio } from '../measure.ts'
import { atMost, type BenchRow, reported } from '../row.ts'
import type { Outcome } from '../arena/play.ts'
import { replay } from '../arena/replay.ts'
import { breakEven, labelOf, pairs, readWithCalledTools, whole } from '../arena/report.ts'
import { ownTasks } from '../arena/tasks/own.ts'
import { publishedTasks, PYTHONS, type Source } from '../arena/tasks/published.ts'
import { spread, withItsServersOnly } from '../arena/task.ts'

const GOALS = { oneCall: 1.3, listed: 1.1, many: 0.1 }
/** Of each published benchmark. All of them take an hour. */
const PUBLISHED = 24
/** From so many calls on, a task is one for a loop. */
const MANY = 10

export default async function arenaRows(): Promise<BenchRow[]> {
  const outcomes: Outcome[] = []
  const alone: Outcome[] = []
  for (const task of ownTasks()) {
    outcomes.push(...(await replay(task)))
    if (task.size === 1 && !task.isLarge) alone.push(...(await replay(withItsServersOnly(task))))
  }
  return [...rowsOf(outcomes, alone), ...(await publishedRows('agentdojo')), ...(await publishedRows('bfcl'))]
}

async function publishedRows(source: Source): Promise<BenchRow[]> {
  if (process.env[PYTHONS[source]] === undefined)
    return [{ name: `${source}: not measured`, value: `${PYTHONS[source]} is not set`, goal: '', ok: null }]
  const outcomes: Outcome[] = []
  for (const task of spread(await publishedTasks(source), PUBLISHED)) outcomes.push(...(await replay(task)))
  const ratios = pairs(outcomes).map(({ direct, cell }) => cell.tokens.read / direct.tokens.read)
  return [
    solvedRow(`${source}: tasks that the gold calls solve, in every way`, outcomes),
    atMost(`${source}: tokens read in one cell ÷ direct calls, worst`, Math.max(...ratios), GOALS.oneCall, ratio),
  ]
}

function solvedRow(name: string, outcomes: readonly Outcome[]): BenchRow {
  const solved = outcomes.filter(({ wrong }) => wrong === undefined)
  return {
    name,
    value: `${solved.length} of ${outcomes.length}`,
    goal: 'all',
    ok: solved.length === outcomes.length,
  }
}

/** @param alone one-call tasks, with no other server than the one that is called */
export function rowsOf(outcomes: readonly Outcome[], alone: readonly Outcome[]): BenchRow[] {
  const all = pairs(outcomes)
  const ones = all.filter(({ direct }) => direct.size === 1 && !direct.isLarge)
  const many = all.filter(({ direct }) => direct.size >= MANY)
  const worst = (of: { direct: Outcome; cell: Outcome }[], read: (direct: Outcome) => number): number =>
    Math.max(...of.map(({ direct, cell }) => cell.tokens.read / read(direct)))
  const read = ({ tokens }: Outcome): number => tokens.read
  const ways = ['listed', 'found', 'proposed'] as const
  const beside = (name: string, of: typeof all): BenchRow[] =>
    ways.flatMap((way) => {
      const ratios = of.flatMap(({ direct, [way]: one }) => (one ? [read(one) / read(direct)] : []))
      const row = `one call, ${labelOf({ way, style: 'calls' })} ÷ direct calls, ${name}, worst`
      if (ratios.length === 0) return []
      return [
        way === 'found'
          ? reported(row, ratio(Math.max(...ratios)))
          : atMost(row, Math.max(...ratios), GOALS.listed, ratio),
      ]
    })
  const from = ones.map(({ direct, cell }) => breakEven(direct, cell))
  return [
    solvedRow('tasks that the gold calls solve, in every way', outcomes),
    atMost(
      'one call: tokens read ÷ direct calls, three servers listed, worst',
      worst(ones, read),
      GOALS.oneCall,
      ratio,
    ),
    atMost('one call: the same, only its server listed, worst', worst(pairs(alone), read), GOALS.oneCall, ratio),
    ...beside(
      'three servers listed',
      all.filter(({ direct }) => direct.size === 1),
    ),
    ...beside('only its server listed', pairs(alone)),
    reported('one call: the same, only its tool listed, worst', ratio(worst(ones, readWithCalledTools))),
    reported(
      'one call: definitions listed from which Sandbridge reads less',
      `${whole(Math.min(...from))} to ${whole(Math.max(...from))} tokens`,
    ),
    atMost(
      `${MANY} calls and more: tokens read in one cell ÷ direct calls, worst`,
      worst(many, read),
      GOALS.many,
      ratio,
    ),
  ]
}
