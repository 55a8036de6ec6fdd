// Counts the cost of conversations per day: an observer. A conversation is a session in which its client ran a cell,
// counted once a day.
import type { CostsOptions } from '@sandbridge/core/observe/costs-part.ts'
import type { BridgeEvent } from '@sandbridge/core/observe/events/event.ts'
import type { Subscriber } from '@sandbridge/core/observe/events/event-stream.ts'
import { addCost, type DailyCosts } from './daily-costs.ts'
import { estimateTokens } from '@sandbridge/core/util/tokens/estimate-tokens.ts'

interface CostCounterOptions extends Omit<CostsOptions, 'store'> {
  /** Adds costs to the saved ones. */
  keep: (more: DailyCosts) => Promise<void>
}

/** Costs are saved in batches: each save takes a lock and a file. */
const KEEP_EVERY_MS = 1_000
/** The clients' tool. A scheduled workflow runs under its own name. */
const TOOL = 'run_python'
/** Most conversations counted per day. */
const MAX_CONVERSATIONS = 10_000

export class CostCounter implements Subscriber {
  readonly name = 'costs'
  readonly #options: CostCounterOptions
  /** Client runs in progress. */
  readonly #runs = new Set<string>()
  /** Sessions counted today. */
  #conversations = new Set<string>()
  #today = ''
  #waiting: DailyCosts = new Map()
  #timer: NodeJS.Timeout | undefined
  #keeping = Promise.resolve()

  constructor(options: CostCounterOptions) {
    this.#options = options
  }

  receive(events: readonly BridgeEvent[]): void {
    for (const event of events) {
      if (event.type === 'run.started' && event.tool === TOOL) this.#runs.add(event.id)
      else if (event.type === 'cell.started' && this.#runs.has(event.parent ?? '')) this.#converses(event)
      else if (event.type === 'run.ended' && this.#runs.delete(event.id))
        this.#add(event.at, 0, tokensIn(event.content))
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#keep()
  }

  #converses({ at, session = '' }: Pick<BridgeEvent, 'at' | 'session'>): void {
    const day = dayOf(at)
    if (day !== this.#today) this.#conversations = new Set()
    this.#today = day
    if (this.#conversations.has(session) || this.#conversations.size >= MAX_CONVERSATIONS) return
    this.#conversations.add(session)
    this.#add(at, 1, 0)
  }

  #add(at: number, conversations: number, returned: number): void {
    addCost(this.#waiting, dayOf(at), { conversations, returned, listed: 0 })
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#keep()
    }, KEEP_EVERY_MS).unref()
  }

  #keep(): Promise<void> {
    this.#keeping = this.#keeping.then(() => this.#keepWaiting()).catch(this.#options.onError)
    return this.#keeping
  }

  async #keepWaiting(): Promise<void> {
    if (this.#waiting.size === 0) return
    const more = this.#waiting
    this.#waiting = new Map()
    const listed = await this.#options.listedTokens()
    for (const cost of more.values()) cost.listed = cost.conversations * listed
    await this.#options.keep(more)
  }
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

function tokensIn(content: readonly unknown[]): number {
  return content.reduce<number>((sum, block) => {
    const { text } = (block ?? {}) as { text?: unknown }
    return sum + (typeof text === 'string' ? estimateTokens(text) : 0)
  }, 0)
}
