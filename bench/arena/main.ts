// `npm run arena`: plays tasks in every way and prints what each costs. Every outcome is a line of a file, so that a
// run that was cut off goes on where it stopped.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { chart } from './chart.ts'
import { modelPlayer, type Endpoint } from './endpoint.ts'
import { goldPlayer, stylesOf } from './gold.ts'
import { play, type Outcome, type Player } from './play.ts'
import { breakEvenTable, fewestTools, kindTable, sizeTable } from './report.ts'
import { WAYS, type Way } from './surface.ts'
import { ownTasks } from './tasks/own.ts'
import { publishedTasks } from './tasks/published.ts'
import { spread, type Task } from './task.ts'

/** One task in one way, by one player. */
interface Job {
  task: Task
  way: Way
  style: string
  run: number
  player: () => Player
}

/** The chart has room for no others. */
const DRAWN = new Set<Way>(['direct', 'search', 'sandbridge'])

const SOURCES: Record<string, () => Promise<Task[]>> = {
  own: () => Promise.resolve(ownTasks()),
  agentdojo: () => publishedTasks('agentdojo'),
  bfcl: () => publishedTasks('bfcl'),
}

const { values: options } = parseArgs({
  options: {
    sources: { type: 'string', default: 'own' },
    ways: { type: 'string', default: WAYS.join() },
    limit: { type: 'string', default: '1000' },
    out: { type: 'string', default: 'arena.jsonl' },
    chart: { type: 'string' },
    // A model in place of the gold calls.
    endpoint: { type: 'string' },
    api: { type: 'string', default: 'openai' },
    model: { type: 'string' },
    'key-variable': { type: 'string', default: 'ARENA_KEY' },
    runs: { type: 'string', default: '1' },
    // Dollars for a million tokens: read, written, read from the endpoint's cache.
    prices: { type: 'string', default: '0,0,0' },
  },
})

const print = (text: string) => void process.stdout.write(`${text}\n`)
const chosen = <T extends string>(given: string, all: readonly T[]): T[] => {
  const unknown = given.split(',').filter((one) => !all.includes(one as T))
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}. There are: ${all.join(', ')}`)
  return given.split(',') as T[]
}

/** The ways of a player: the gold calls in each style, or the model. */
function players(way: Way): Pick<Job, 'style' | 'player'>[] {
  const { endpoint: url, model } = options
  if (url === undefined) return stylesOf(way).map((style) => ({ style, player: () => goldPlayer(way, style) }))
  if (model === undefined) throw new Error('--endpoint needs --model')
  const [api = 'openai'] = chosen<Endpoint['api']>(options.api, ['openai', 'anthropic'])
  const key = process.env[options['key-variable']]
  return [{ style: model, player: () => modelPlayer({ url: url.replace(/\/+$/, ''), api, model, key }) }]
}

async function jobs(): Promise<Job[]> {
  const ways = chosen(options.ways, WAYS)
  const all: Job[] = []
  for (const source of chosen(options.sources, Object.keys(SOURCES)))
    for (const task of spread(await SOURCES[source]!(), Number(options.limit)))
      for (const way of ways)
        for (const played of players(way))
          for (let run = 1; run <= Number(options.runs); run += 1) all.push({ task, way, run, ...played })
  return all
}

const keyOf = ({ source, task, way, style, run }: Pick<Outcome, 'source' | 'task' | 'way' | 'style' | 'run'>): string =>
  JSON.stringify([source, task, way, style, run])

/** The outcomes of the file so far. A line that was cut off is dropped. */
function kept(file: string): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>()
  if (!existsSync(file)) return outcomes
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    try {
      const outcome = JSON.parse(line) as Outcome
      outcomes.set(keyOf(outcome), outcome)
    } catch {
      continue
    }
  }
  return outcomes
}

async function main(): Promise<void> {
  const known = kept(options.out)
  const outcomes: Outcome[] = []
  for (const { task, way, style, run, player } of await jobs()) {
    const key = keyOf({ source: task.source, task: task.id, way, style, run })
    const before = known.get(key)
    const outcome = before ?? { ...(await play(task, way, style, player())), run }
    outcomes.push(outcome)
    if (before !== undefined) continue
    // Behind a line that was cut off, a new one begins.
    appendFileSync(options.out, `\n${JSON.stringify(outcome)}`)
    const { tokens, turns, wrong } = outcome
    const verdict = wrong ?? 'solved'
    print(`${task.source} ${task.id}, ${way}, ${style}: ${turns} turns, ${tokens.read} tokens read, ${verdict}`)
  }
  const isModel = options.endpoint !== undefined
  const [input = 0, output = 0, cached = 0] = options.prices.split(',').map(Number)
  print(`\n${sizeTable(outcomes, isModel ? { input, output, cached } : undefined)}`)
  if (isModel) print(`\n${kindTable(outcomes)}`)
  else if (options.ways === WAYS.join()) print(`\n${breakEvenTable(outcomes)}`)
  const what = isModel ? `as ${options.model} did it` : 'at least (replay of gold calls)'
  if (options.chart !== undefined)
    writeFileSync(
      options.chart,
      chart(
        [...outcomes.filter(({ way }) => DRAWN.has(way)), ...fewestTools(outcomes)],
        `Tokens that a model reads for a task, ${what}`,
      ),
    )
}

await main()
