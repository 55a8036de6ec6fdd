// What the runs of the arena come to: tables by size of task, the share that was solved with its interval, and where
// the ways cross. Pure.
import type { Outcome } from './play.ts'
import type { Way } from './surface.ts'

/** Groups of tasks by the calls that a perfect model makes. */
export const SIZES: readonly { name: string; has: (outcome: Pick<Outcome, 'size' | 'isLarge'>) => boolean }[] = [
  { name: '1 call, small result', has: ({ size, isLarge }) => size <= 1 && !isLarge },
  { name: '1 call, large result', has: ({ size, isLarge }) => size <= 1 && isLarge },
  { name: '2 to 4 calls', has: ({ size }) => size >= 2 && size <= 4 },
  { name: '5 to 9 calls', has: ({ size }) => size >= 5 && size <= 9 },
  { name: '10 to 49 calls', has: ({ size }) => size >= 10 && size <= 49 },
  { name: '50 to 300 calls', has: ({ size }) => size >= 50 },
]

/** What a run costs, in dollars for a million tokens. */
export interface Prices {
  input: number
  output: number
  /** For input that the endpoint had in its cache. */
  cached: number
}

export const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length

/** The way and how it was used, for a column or a line of the chart. */
export const labelOf = ({ way, style }: Pick<Outcome, 'way' | 'style'>): string => {
  const ways: Record<Way, string> = {
    direct: 'direct calls',
    search: 'tool search, direct calls',
    sandbridge: 'Sandbridge',
    listed: 'Sandbridge, every tool listed',
    found: 'Sandbridge, search and call',
    proposed: 'Sandbridge, with the proposed tools listed',
  }
  return style === 'calls' ? ways[way] : `${ways[way]}, ${style}`
}

/** The 95 % interval of a share, after Wilson: also right for few runs, and for none or all of them. */
export function wilson(successes: number, total: number): [low: number, high: number] {
  if (total === 0) return [0, 1]
  const z = 1.96
  const share = successes / total
  const middle = share + z ** 2 / (2 * total)
  const spread = z * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2))
  const whole = 1 + z ** 2 / total
  return [Math.max(0, (middle - spread) / whole), Math.min(1, (middle + spread) / whole)]
}

/** The outcomes of each size and label, in the order of both; groups without outcomes are left out. */
export function grouped(outcomes: readonly Outcome[]): { size: string; label: string; of: Outcome[] }[] {
  const labels = [...new Set(outcomes.map(labelOf))]
  return SIZES.flatMap(({ name, has }) =>
    labels
      .map((label) => ({ size: name, label, of: outcomes.filter((one) => has(one) && labelOf(one) === label) }))
      .filter(({ of }) => of.length > 0),
  )
}

/** One row for each size and way, of means for a task. */
export function sizeTable(outcomes: readonly Outcome[], prices?: Prices): string {
  const head = ['tasks', 'way', 'solved', 'turns', 'read', 'of it definitions', 'written', 'context at the end']
  if (prices !== undefined) head.push('solved, 95 %', 'seconds', 'dollars')
  const rows = grouped(outcomes).map(({ size, label, of }) => {
    const solved = of.filter(({ wrong }) => wrong === undefined).length
    const row = [
      size,
      label,
      `${solved} of ${of.length}`,
      mean(of.map(({ turns }) => turns)).toFixed(1),
      whole(mean(of.map(({ tokens }) => tokens.read))),
      whole(mean(of.map(({ tokens }) => tokens.readTools))),
      whole(mean(of.map(({ tokens }) => tokens.written))),
      whole(mean(of.map(({ tokens }) => tokens.context))),
    ]
    if (prices === undefined) return row
    const [low, high] = wilson(solved, of.length)
    row.push(`${percent(low)} to ${percent(high)}`, mean(of.map(({ ms }) => ms / 1000)).toFixed(1))
    return [...row, mean(of.map((one) => dollars(one, prices))).toFixed(4)]
  })
  return table(head, rows)
}

/** What the tokens are of, as means for a task: what is read once counts once, however many turns read it again. */
export function kindTable(outcomes: readonly Outcome[]): string {
  const kinds = ['tools', 'prompts', 'calls', 'results', 'answers'] as const
  const rows = grouped(outcomes).map(({ size, label, of }) => [
    size,
    label,
    ...kinds.map((kind) => whole(mean(of.map(({ tokens }) => tokens[kind])))),
    mean(of.map(({ calls }) => calls)).toFixed(1),
    mean(of.map(({ errors }) => errors)).toFixed(1),
  ])
  return table(['tasks', 'way', 'definitions', 'prompts', 'calls', 'results', 'answers', 'calls made', 'errors'], rows)
}

/** As the endpoint counts them; what it does not count is taken from our own count. */
export function dollars({ usage, tokens }: Outcome, prices: Prices): number {
  const { input, output, cached } = usage ?? { input: tokens.read, output: tokens.written, cached: 0 }
  return ((input - cached) * prices.input + cached * prices.cached + output * prices.output) / 1_000_000
}

/**
 * The tokens of listed definitions above which a way reads less than direct calls do for the same task. Negative: it
 * reads less even where direct calls have no definitions to read.
 */
export function breakEven(direct: Outcome, other: Outcome): number {
  const withoutDefinitions = direct.tokens.read - direct.tokens.readTools
  return (other.tokens.read - withoutDefinitions) / direct.turns
}

/** What direct calls would read if no tools were listed but those that were called. */
export const readWithCalledTools = ({ tokens, turns }: Outcome): number =>
  tokens.read - tokens.readTools + tokens.calledTools * turns

/** The direct calls of the outcomes as they would be if a client listed only the tools that are called. */
export const fewestTools = (outcomes: readonly Outcome[]): Outcome[] =>
  outcomes
    .filter(({ way }) => way === 'direct')
    .map((one) => ({ ...one, style: 'no other tools', tokens: { ...one.tokens, read: readWithCalledTools(one) } }))

/** For each task, what each way reads, and where Sandbridge begins to pay. */
export function breakEvenTable(outcomes: readonly Outcome[]): string {
  const rows = pairs(outcomes).map(({ direct, search, cell, step, listed, found, proposed }) => {
    const reads = [
      direct.tokens.read,
      readWithCalledTools(direct),
      ...[search, cell, step, listed, found, proposed].map((one) => one?.tokens.read),
    ]
    const from = [breakEven(direct, cell), breakEven(direct, step)].map((at) => (at <= 0 ? 'always' : whole(at)))
    return [direct.task, String(direct.size), ...reads.map((read) => (read === undefined ? '' : whole(read))), ...from]
  })
  const head = [
    'task',
    'calls',
    'direct',
    'direct, no other tools',
    'search',
    'one cell',
    'a cell a step',
    'every tool listed',
    'search and call',
    'with the proposal',
    'one cell pays from',
    'steps pay from',
  ]
  return table(head, rows)
}

/** The outcomes of a task in all ways. */
interface Pair extends Record<'direct' | 'cell' | 'step', Outcome> {
  search: Outcome | undefined
  listed: Outcome | undefined
  found: Outcome | undefined
  proposed: Outcome | undefined
}

/** The outcomes of each task side by side. */
export function pairs(outcomes: readonly Outcome[]): Pair[] {
  return [...new Set(outcomes.map(({ task }) => task))].flatMap((task) => {
    const played = (way: Way, style = 'calls') =>
      outcomes.find((one) => one.task === task && one.way === way && one.style === style)
    const direct = played('direct')
    const cell = played('sandbridge', 'one cell')
    const step = played('sandbridge', 'a cell a step')
    if (direct === undefined || cell === undefined || step === undefined) return []
    const [search, listed, found, proposed] = [played('search'), played('listed'), played('found'), played('proposed')]
    return [{ direct, search, cell, step, listed, found, proposed }]
  })
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

export const whole = (value: number): string => Math.round(value).toLocaleString('en')
const percent = (share: number): string => `${Math.round(share * 100)} %`
