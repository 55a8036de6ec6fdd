// What the gates of a server set share between cells: questions, call counts, and what the user allowed for a session.
import * as z from 'zod'
import type { Permissions } from '@sandbridge/core/calls'
import type { Rule } from '@sandbridge/core/config/rules'
import { JsonDocument } from '@sandbridge/core/util/stores'
import { KeptQuestions } from './kept-questions.ts'
import { type Counts, type Hours, type LimitReached, takeCall } from './limits.ts'

interface SessionState {
  counts: Counts
  /** Keys of tools that the user has allowed for the session. */
  tools: Set<string>
}

/** Maximum number of open questions, over all sessions. */
const MAX_QUESTIONS = 50

export class SetState {
  /** Questions that the client cannot ask. */
  readonly kept: KeptQuestions
  openQuestions = 0
  readonly #hours: JsonDocument<Hours>
  /** Those of this bridge, by the monotonic clock. */
  readonly #ofBridge: Hours = new Map()
  readonly #sessions = new WeakMap<object, SessionState>()

  constructor({ settings: { stateDir, askTimeoutMs }, hours }: Permissions['options']) {
    this.kept = new KeptQuestions(stateDir, askTimeoutMs)
    this.#hours = new JsonDocument<Hours>({
      document: hours,
      empty: () => new Map(),
      parse: (json) => hourlyCalls.safeParse(json).data,
      serialize: (counts) => Object.fromEntries(counts),
      indent: 0,
      damaged: 'empty',
    })
  }

  get hasRoom(): boolean {
    return this.openQuestions < MAX_QUESTIONS
  }

  of(session: object): SessionState {
    const known = this.#sessions.get(session) ?? { counts: new Map(), tools: new Set() }
    this.#sessions.set(session, known)
    return known
  }

  /**
   * Counts a call that is about to be made, unless a limit is reached. Waits only where a rule limits calls per hour.
   */
  count(
    rules: readonly Rule[],
    cell: Counts,
    session: object,
  ): Promise<LimitReached | undefined> | LimitReached | undefined {
    if (rules.length === 0) return undefined
    const counts = { cell, session: this.of(session).counts }
    const isHourly = rules.some(({ limits }) => limits?.perHour !== undefined)
    return isHourly ? this.#countHourly(rules, counts) : takeCall(rules, { ...counts, hours: new Map() }, 0)
  }

  async #countHourly(
    rules: readonly Rule[],
    counts: { cell: Counts; session: Counts },
  ): Promise<LimitReached | undefined> {
    // A change may be made again in a document that is read anew, and a refused call does not count.
    const look = (hours: Hours, now: number): LimitReached | undefined =>
      takeCall(rules, { cell: new Map(counts.cell), session: new Map(counts.session), hours }, now)
    // The clock of this machine may be set back or forth, which lifts no limit of this bridge.
    let reached = look(new Map(this.#ofBridge), performance.now())
    if (reached) return reached
    await this.#hours.update((hours) => void (reached = look(hours, Date.now()))).catch(() => {})
    return reached ?? takeCall(rules, { ...counts, hours: this.#ofBridge }, performance.now())
  }
}

const hourlyCalls = z
  .record(z.string(), z.array(z.number()))
  .transform((hours): Hours => new Map(Object.entries(hours)))

const ofSets = new WeakMap<Permissions, SetState>()

/** That of a server set, which ends with it. */
export function stateOf(permissions: Permissions): SetState {
  const known = ofSets.get(permissions)
  if (known) return known
  const state = new SetState(permissions.options)
  ofSets.set(permissions, state)
  permissions.onClose = () => state.kept.close()
  return state
}
