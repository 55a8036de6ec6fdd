// Runs cells typed into the page, in its session or a conversation's, whose client is told of them.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { type CellResult, TimeLimit, type CellRequest, type Session } from '@sandbridge/core/cell'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { type Completions, completionsIn } from '@sandbridge/shared/terminal/completions.ts'

/** Parts of a cell's result that its events do not carry. */
export interface Outcome extends Pick<CellResult, 'status' | 'notes'> {
  session: string
  /** Its number in the session. */
  cell: number | undefined
  traceback: string | undefined
  hint: string | undefined
}

export class Notebook {
  readonly #bridge: Bridge
  /** By the folder that the page shows: what a cell has left must not run with the servers of another one. */
  readonly #own = new Map<string | undefined, Session>()
  #completing: Promise<unknown> = Promise.resolve()
  #lastAsked = ''

  constructor(bridge: Bridge) {
    this.#bridge = bridge
  }

  /** The page's own session, which belongs to no conversation. */
  get own(): Session {
    const folder = this.#bridge.page.tenant.context.cwd
    const own = this.#own.get(folder) ?? this.#bridge.sessions.open(this.#bridge.page.tenant)
    this.#own.set(folder, own)
    return own
  }

  /**
   * The cell itself is reported by events.
   * @throws BridgeError TOOL_ARGUMENTS_INVALID for an ended session, and what Cells.run throws
   */
  async run(code: string, session?: string): Promise<Outcome> {
    const place = this.#find(session)
    const { cell, status, notes, error } = await this.#run(place, code, {
      guest: ![...this.#own.values()].includes(place),
    })
    return { session: place.id, cell, status, notes, traceback: error?.traceback, hint: error?.hint }
  }

  /** Empty while a cell runs, and for all requests but the latest: completion must not delay a cell. */
  async complete(code: string, session?: string): Promise<Completions> {
    const place = this.#find(session)
    this.#lastAsked = code
    await this.#completing
    if (place.isBusy || this.#lastAsked !== code) return { words: [], replaced: '' }
    const completions = completionsIn(
      (asked) => this.#run(place, asked, { timeoutMs: COMPLETION_MS, aside: true }),
      code,
    )
    this.#completing = completions.catch(() => {})
    return completions
  }

  #find(id: string | undefined): Session {
    if (id === undefined) return this.own
    const session = this.#bridge.sessions.find(id)
    if (session) return session
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'This session has ended', { hint: 'Choose another one.' })
  }

  #run(
    session: Session,
    code: string,
    how: Partial<Pick<CellRequest, 'timeoutMs' | 'aside' | 'guest'>>,
  ): Promise<CellResult> {
    const { timeoutMs = this.#bridge.settings.timeoutMs, ...rest } = how
    const timeLimit = new TimeLimit(timeoutMs)
    return this.#bridge.cells.run(session, {
      code,
      timeoutMs,
      timeLimit,
      hold: (work) => timeLimit.hold(work),
      ...rest,
      forPerson: true,
      run: { client: 'page' },
    })
  }
}

const COMPLETION_MS = 10_000
