// Counts costs per day: an observer. A conversation is a session whose client ran a cell, once a day.
import type { CostsOptions } from '@sandbridge/core/parts'
import type { Subscriber } from '@sandbridge/core/observe/events'
import { calledTokens, returnedTokens } from '@sandbridge/shared/run-cost.ts'
import type { Run, Told } from '@sandbridge/core/observe/runs'
import { addCost, type DailyCosts, type DayCost } from './daily-costs.ts'

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
  /** Sessions counted today. */
  #conversations = new Set<string>()
  #today = ''
  #waiting: DailyCosts = new Map()
  #timer: NodeJS.Timeout | undefined
  #keeping = Promise.resolve()

  constructor(options: CostCounterOptions) {
    this.#options = options
  }

  receive(told: readonly Told[]): void {
    for (const { event, run } of told) {
      if (event.type !== 'run.ended' || run?.request?.tool !== TOOL) continue
      const cost = { returned: returnedTokens(event.content), called: calledTokens(run) }
      this.#add(event.at, { ...cost, conversations: run.number > 0 && this.#isNew(event.at, run) ? 1 : 0 })
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#keep()
  }

  #isNew(at: number, { session }: Run): boolean {
    const day = dayOf(at)
    if (day !== this.#today) this.#conversations = new Set()
    this.#today = day
    if (this.#conversations.has(session) || this.#conversations.size >= MAX_CONVERSATIONS) return false
    this.#conversations.add(session)
    return true
  }

  #add(at: number, cost: Partial<DayCost>): void {
    addCost(this.#waiting, dayOf(at), cost)
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
