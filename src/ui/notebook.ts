// Cells that are typed into the page: they run in a session of their own, and show as every other cell does.
import type { Bridge } from '../bridge.ts'
import type { CellResult } from '../cell/cell-result.ts'
import { type Completions, completionsIn } from '../session/completions.ts'
import { newId } from '../events/new-id.ts'
import type { CellRequest } from '../session/cell-run.ts'
import type { Session } from '../session/session.ts'

/** What the events of a cell do not tell. */
export interface Outcome extends Pick<CellResult, 'status' | 'notes'> {
  /** Its number in the session of the page. */
  cell: number | undefined
  traceback: string | undefined
  hint: string | undefined
}

export class Notebook {
  readonly #bridge: Bridge
  #session: Session | undefined
  #running = 0
  #completing: Promise<unknown> = Promise.resolve()
  #lastAsked = ''

  constructor(bridge: Bridge) {
    this.#bridge = bridge
  }

  /** The cell itself comes as events. */
  async run(code: string): Promise<Outcome> {
    this.#running += 1
    const result = await this.#run(code).finally(() => (this.#running -= 1))
    const { cell, status, notes, error } = result
    return { cell, status, notes, traceback: error?.traceback, hint: error?.hint }
  }

  /** Nothing while a cell runs, and for what was asked before the last: a cell must not have to wait for either. */
  async complete(code: string): Promise<Completions> {
    this.#lastAsked = code
    await this.#completing
    if (this.#running > 0 || this.#lastAsked !== code) return { words: [], replaced: '' }
    const completions = completionsIn((asked) => this.#run(asked, { timeoutMs: COMPLETION_MS, aside: true }), code)
    this.#completing = completions.catch(() => {})
    return completions
  }

  #run(code: string, how: Partial<Pick<CellRequest, 'timeoutMs' | 'aside'>> = {}): Promise<CellResult> {
    this.#session ??= this.#bridge.openSession()
    return this.#bridge.runCell(this.#session, {
      code,
      timeoutMs: this.#bridge.settings.timeoutMs,
      ...how,
      forPerson: true,
      run: { id: newId(), client: 'page' },
    })
  }
}

const COMPLETION_MS = 10_000
