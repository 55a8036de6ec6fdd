// Finds out whether a server that left a call unanswered still answers anything, by a ping. Ends nothing.
import type { Connection } from '../connection/connection.ts'

const ANSWER_WITHIN_MS = 2_000

type Asked = Pick<Connection, 'answers'>

export class Silence {
  readonly #withinMs: number
  /** The latest ping that was not answered, or not yet. */
  #latest: { connection: Asked; answers: Promise<boolean>; isOver: boolean } | undefined

  constructor(withinMs = ANSWER_WITHIN_MS) {
    this.#withinMs = withinMs
  }

  /** Whether the server behind this connection was asked, and has not answered. */
  doubts(connection: Asked): boolean {
    return this.#latest?.connection === connection
  }

  /** Resolves with whether the server answers a ping. Callers at the same time share one. Never rejects. */
  ask(connection: Asked): Promise<boolean> {
    if (this.#latest && this.doubts(connection) && !this.#latest.isOver) return this.#latest.answers
    const latest = { connection, isOver: false, answers: connection.answers(this.#withinMs) }
    this.#latest = latest
    void latest.answers.then((doesAnswer) => {
      latest.isOver = true
      if (doesAnswer && this.#latest === latest) this.#latest = undefined
    })
    return latest.answers
  }

  /** Resolves with whether the server that was last asked left the ping unanswered. */
  async isDeaf(): Promise<boolean> {
    return this.#latest !== undefined && !(await this.#latest.answers)
  }
}
