// What happened to a session since its client's last result, in sentences.
import { type GuestCells, guestsNote } from '../render/session-notes.ts'
import type { LostReason } from '../protocol/frames.ts'

export class SessionNewsKeeper {
  /** Why variables of earlier cells are gone, for the next new kernel. */
  lost: LostReason | undefined
  #news: string[] = []
  /** Keys of what its client was told. */
  readonly told = new Set<string>()
  #guests: GuestCells | undefined

  /** For the running or next cell's result. */
  add(...news: string[]): void {
    this.#news.push(...news)
  }

  /** Adds a piece of news unless the session has had one with this key. */
  addOnce(key: string, news: () => string): void {
    if (this.told.has(key)) return
    this.told.add(key)
    this.add(news())
  }

  /** The user ran a cell. @param cell its number; missing for a cell that never ran */
  guestRan(cell: number | undefined): void {
    if (cell === undefined) return
    const { first, ran } = this.#guests ?? { first: cell, ran: 0 }
    this.#guests = { first, last: cell, ran: ran + 1 }
  }

  /** What the result of a cell tells. Only a client's own cell has heard of the user's cells then. */
  tell(isClients: boolean): string[] {
    const guests = isClients ? this.#guests : undefined
    if (guests) this.#guests = undefined
    return [...(guests ? [guestsNote(guests)] : []), ...this.#news]
  }

  /** The client has it all. */
  clear(): void {
    this.#news = []
  }
}
