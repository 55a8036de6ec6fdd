// Plays a task in one way: a player says what the model does, the servers answer, and everything that a model would
// have read or written is counted.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { openSurface, type Surface, type ToolResult, type Way } from './surface.ts'
import type { Exchange, Task, World } from './task.ts'

export interface Call {
  name: string
  args: Record<string, unknown>
  /** As the endpoint names it. */
  id?: string
  /** What the model wrote in place of arguments, when it is not JSON. */
  invalid?: string
}

/** What a model does when it is asked: calls tools, or, without calls, answers. */
export interface Turn {
  text: string
  calls: Call[]
  /** As the endpoint counts them. */
  usage?: Usage
}

export interface Usage {
  input: number
  output: number
  /** Of the input, those that the endpoint had in its cache. */
  cached: number
}

export type Message =
  | { role: 'user'; text: string }
  | { role: 'model'; text: string; calls: Call[] }
  | { role: 'results'; results: ToolResult[] }

/** What a model is given in each turn. */
export interface View extends Pick<Surface, 'instructions' | 'tools'> {
  messages: Message[]
  /** What the user wants at the moment, for a player that knows the solution. */
  exchange: Exchange
}

export type Player = (view: View) => Promise<Turn>

/** Tokens of o200k. */
export interface Tokens {
  /** Definitions of tools and instructions, once. */
  tools: number
  /** Of these, the definitions of the tools that were called: with no others listed, a turn would read only them. */
  calledTools: number
  prompts: number
  /** Names and arguments of calls. */
  calls: number
  results: number
  answers: number
  /** Read by the model over all turns, nothing cached. */
  read: number
  /** Of these, definitions of tools and instructions. */
  readTools: number
  /** Written by the model. */
  written: number
  /** In the context at the end. */
  context: number
}

export interface Outcome {
  task: string
  source: Task['source']
  size: number
  isLarge: boolean
  way: Way
  style: string
  /** Of several by a model, which. */
  run?: number
  /** What is wrong with the end; missing when the task is solved. */
  wrong?: string
  turns: number
  calls: number
  errors: number
  tokens: Tokens
  usage?: Usage
  ms: number
}

/** A model that has not ended by then has lost its way: the longest solution has 27 turns. */
const MAX_TURNS = 60

/** @param style how the player works, for the table */
export async function play(task: Task, way: Way, style: string, player: Player): Promise<Outcome> {
  const world = await task.open()
  try {
    const surface = await openSurface(way, world)
    try {
      const tally = new Tally(world.renamed)
      const started = performance.now()
      const wrong = await converse(world, surface, player, tally)
      const { id, source, size, isLarge = false } = task
      const ms = Math.round(performance.now() - started)
      return { task: id, source, size, isLarge, way, style, ...(wrong !== undefined && { wrong }), ...tally.sums(), ms }
    } finally {
      await surface.close()
    }
  } finally {
    await world.close()
  }
}

/** Returns what is wrong with the end; undefined when the task is solved. */
async function converse(world: World, surface: Surface, player: Player, tally: Tally): Promise<string | undefined> {
  const messages: Message[] = []
  const tell = (message: Message): void => {
    messages.push(message)
    tally.add(message)
  }
  let answer = ''
  for (const [at, exchange] of world.exchanges.entries()) {
    await world.begin?.(at)
    await surface.refresh()
    tell({ role: 'user', text: exchange.prompt })
    for (;;) {
      if (tally.turns === MAX_TURNS) return `no end after ${MAX_TURNS} turns`
      tally.request(surface)
      const { text, calls, usage } = await player({ ...surface, messages, exchange })
      if (usage !== undefined) tally.use(usage)
      tell({ role: 'model', text, calls })
      answer = text
      if (calls.length === 0) break
      tell({ role: 'results', results: await Promise.all(calls.map((call) => made(call, surface))) })
    }
  }
  tally.called(surface)
  return world.check(answer)
}

async function made({ name, args, invalid }: Call, surface: Surface): Promise<ToolResult> {
  if (invalid === undefined) return surface.call(name, args)
  return { text: `The arguments are not valid JSON: ${invalid}`, isError: true }
}

/** Counts what a model reads and writes. */
class Tally {
  turns = 0
  readonly #renamed: World['renamed']
  readonly #counts = { calls: 0, errors: 0 }
  readonly #tokens: Tokens = {
    tools: 0,
    prompts: 0,
    calls: 0,
    results: 0,
    answers: 0,
    calledTools: 0,
    read: 0,
    readTools: 0,
    written: 0,
    context: 0,
  }
  readonly #called = new Set<string>()
  #usage: Usage | undefined

  constructor(renamed: World['renamed']) {
    this.#renamed = renamed
  }

  /** A turn begins: the model reads the tools and the whole conversation. */
  request({ instructions, tools }: Pick<Surface, 'instructions' | 'tools'>): void {
    const tokens = this.#tokens
    this.turns += 1
    tokens.tools = this.#cost(JSON.stringify(tools)) + this.#cost(instructions)
    tokens.readTools += tokens.tools
    tokens.read += tokens.tools + tokens.prompts + tokens.calls + tokens.results + tokens.answers
  }

  /** At the end. */
  called({ tools }: Pick<Surface, 'tools'>): void {
    const used = tools.filter(({ name }) => this.#called.has(name))
    this.#tokens.calledTools = this.#cost(JSON.stringify(used))
  }

  add(message: Message): void {
    const tokens = this.#tokens
    if (message.role === 'user') tokens.prompts += this.#cost(message.text)
    else if (message.role === 'results') {
      for (const { text, isError } of message.results) {
        tokens.results += this.#cost(text)
        if (isError) this.#counts.errors += 1
      }
    } else {
      tokens.answers += this.#cost(message.text)
      for (const { name, args } of message.calls) {
        tokens.calls += this.#cost(JSON.stringify({ name, arguments: args }))
        this.#counts.calls += 1
        this.#called.add(name)
      }
    }
  }

  use({ input, output, cached }: Usage): void {
    const before = this.#usage ?? { input: 0, output: 0, cached: 0 }
    this.#usage = { input: before.input + input, output: before.output + output, cached: before.cached + cached }
  }

  sums(): Pick<Outcome, 'turns' | 'calls' | 'errors' | 'tokens' | 'usage'> {
    const { tools, prompts, calls, results, answers } = this.#tokens
    const tokens = { ...this.#tokens, written: calls + answers, context: tools + prompts + calls + results + answers }
    return { turns: this.turns, ...this.#counts, tokens, ...(this.#usage !== undefined && { usage: this.#usage }) }
  }

  #cost(text: string): number {
    if (text === '') return 0
    const [path, as] = this.#renamed ?? ['', '']
    return countTokens(path === '' ? text : text.replaceAll(path, as))
  }
}
