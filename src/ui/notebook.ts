// Cells that are typed into the page: they run in a session of their own, and show as every other cell does.
import type { Bridge } from '../bridge.ts'
import type { CellResult } from '../cell/cell-result.ts'
import { completionCode, completionsIn } from '../session/completions.ts'
import { newId } from '../events/new-id.ts'
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

  constructor(bridge: Bridge) {
    this.#bridge = bridge
  }

  /** The cell itself comes as events. */
  async run(code: string): Promise<Outcome> {
    const result = await this.#run(code)
    const { cell, status, notes, error } = result
    return { cell, status, notes, traceback: error?.traceback, hint: error?.hint }
  }

  async complete(code: string): Promise<{ words: string[]; replaced: string }> {
    return completionsIn((asked) => this.#run(asked, COMPLETION_MS), code)
  }

  /** Completions are cells as well, and nobody wants to see them. */
  isCompletion({ session, code }: { session?: string | undefined; code: string }): boolean {
    return session !== undefined && session === this.#session?.id && code.startsWith(completionCode('').slice(0, 60))
  }

  #run(code: string, timeoutMs = this.#bridge.settings.timeoutMs): Promise<CellResult> {
    this.#session ??= this.#bridge.openSession()
    return this.#bridge.runCell(this.#session, {
      code,
      timeoutMs,
      forPerson: true,
      run: { id: newId(), client: 'page' },
    })
  }
}

const COMPLETION_MS = 10_000
