// What a task of the arena is: servers with fresh data, what the user says, the calls of a perfect model, and a checker
// of the end state.
import type { RemoteEntry, ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'

/** A call of a server's tool, by the names that the server gives. */
export interface GoldCall {
  server: string
  tool: string
  args: Record<string, unknown>
}

/** One message of the user, and what a perfect model does about it. */
export interface Exchange {
  prompt: string
  /** Calls of one step do not depend on each other: a model can make them in one turn. */
  steps: GoldCall[][]
  /** What a perfect model does in one cell. Missing: the calls one after the other, and each result is printed. */
  cell?: string
  /** Wordings that a model would search tools by. Missing: the names of the tools, in words. */
  queries?: string[]
  /** What it says in the end. */
  answer: string
}

/** A task whose data was just made. */
export interface World {
  servers: Record<string, ServerEntry | RemoteEntry>
  exchanges: Exchange[]
  /** Paths that differ from run to run, and what is counted in their place. */
  renamed?: [path: string, as: string]
  /** Called before each message of the user. */
  begin?(exchange: number): Promise<void>
  /** Returns what is wrong with the end state or the last answer; undefined when the task is solved. */
  check(answer: string): Promise<string | undefined>
  close(): Promise<void>
  /** Of a published benchmark: what host.py does besides. */
  host?(what: string, ...args: unknown[]): Promise<unknown>
}

export interface Task {
  id: string
  source: 'own' | 'agentdojo' | 'bfcl' | 'tau2'
  /** The calls of a perfect model without code. */
  size: number
  /** A call whose result, or its argument, is large. */
  isLarge?: boolean
  open(): Promise<World>
}

/** The task with no other servers than those that its solution calls. */
export function withItsServersOnly(task: Task): Task {
  return {
    ...task,
    open: async () => {
      const world = await task.open()
      const needed = world.exchanges.flatMap(({ steps }) => steps.flat().map(({ server }) => server))
      const servers = Object.entries(world.servers).filter(([name]) => needed.includes(name))
      return { ...world, servers: Object.fromEntries(servers) }
    },
  }
}

/** So many of them, from the first to the last. */
export const spread = <T>(all: readonly T[], limit: number): T[] =>
  all.filter((_, at) => at === 0 || Math.floor((at * limit) / all.length) > Math.floor(((at - 1) * limit) / all.length))
