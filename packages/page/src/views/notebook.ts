// Runs cells typed into the page, in its session or a conversation's, whose client is told of them.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { type CellResult, TimeLimit } from '@sandbridge/core/cell'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { CellRequest, Session } from '@sandbridge/core/cell/session'
import { functionCode, functionIn } from '@sandbridge/commands/cell-function.ts'
import { type Completions, completionsIn } from '@sandbridge/commands/completions.ts'

/** Parts of a cell's result that its events do not carry. */
export interface Outcome extends Pick<CellResult, 'status' | 'notes'> {
  session: string
  /** Its number in the session. */
  cell: number | undefined
  traceback: string | undefined
  hint: string | undefined
}

/** A cell that is to be kept. */
export interface Saving {
  code: string
  name: string
  description: string
  as: 'tool' | 'workflow'
}

/** A tool, under the name that its own function has, if the cell defines one; or a workflow with a title. */
export interface Saved {
  name: string
  title?: string
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

  /**
   * Keeps a cell by a cell in the page's session, as a model would. Its own code does not run.
   * @throws BridgeError STATE_REFUSED with the reason
   */
  async save({ code, name, description, as }: Saving): Promise<Saved> {
    const made = functionIn(await this.#done(functionCode([code], name)))
    const title = as === 'tool' ? undefined : name.toLowerCase().replaceAll('_', '-')
    const first = title === undefined ? '' : `${JSON.stringify(title)}, `
    const about = description === '' ? '' : `, description=${JSON.stringify(description)}`
    await this.#done(`${made.source}\n\nruntime.save_${as}(${first}${made.function}${about})`)
    return title === undefined ? { name: made.function } : { name, title }
  }

  async #done(code: string): Promise<CellResult> {
    const result = await this.#run(this.own, code, {})
    if (result.status === 'ok') return result
    const { message = `The cell that saves it ended: ${result.status}`, hint = '' } = result.error ?? {}
    throw new BridgeError('STATE_REFUSED', message, { hint })
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
