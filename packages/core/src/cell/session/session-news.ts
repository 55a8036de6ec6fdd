// What happened to a session since its client's last result, as data. src/cell/render/ makes sentences of it.
import type { MissingPackage } from '../../isolation/provider.ts'
import type { CellResult } from '../cell-result.ts'
import type { LostReason } from '../protocol/frames.ts'
import type { Restorable } from './checkpoint.ts'

export type SessionNews =
  /** A sentence of other code. */
  | { what: 'said'; text: string }
  | { what: 'packages-missing'; missing: readonly MissingPackage[] }
  /** Between two cells. */
  | { what: 'sandbox-ended'; how: string; restorable: Restorable | undefined }
  | { what: 'idle'; seconds: number; restorable: Restorable | undefined }
  | { what: 'guest-ended-sandbox' }
  /** While the cell ran. */
  | { what: 'closed'; why: string }
  | { what: 'reset' }
  | { what: 'restores'; restorable: Restorable }
  | { what: 'guest-cells'; first: number; last: number; count: number }
  /** Of a cell that an earlier bridge began. */
  | { what: 'same-cell-left'; cell: number }
  | { what: 'cell-late'; cell: number }
  | { what: 'output-dropped'; cell: number; bytes: number }
  | { what: 'cell-left'; cell: number; ran: CellResult }

export class SessionNewsKeeper {
  /** Why variables of earlier cells are gone, for the next new kernel. */
  lost: LostReason | undefined
  #news: SessionNews[] = []
  /** Keys of what its client was told. */
  readonly told = new Set<string>()
  /** Cells that the user ran, which the client does not know of yet. */
  #guests: { first: number; last: number; count: number } | undefined

  /** For the running or next cell's result. */
  add(...news: SessionNews[]): void {
    this.#news.push(...news)
  }

  /** Adds a piece of news unless the session has had one with this key. */
  addOnce(key: string, news: SessionNews): void {
    if (this.told.has(key)) return
    this.told.add(key)
    this.add(news)
  }

  /** The user ran a cell. @param cell its number; missing for a cell that never ran */
  guestRan(cell: number | undefined): void {
    if (cell === undefined) return
    const { first, count } = this.#guests ?? { first: cell, count: 0 }
    this.#guests = { first, last: cell, count: count + 1 }
  }

  /** What the result of a cell tells. Only a client's own cell has heard of the user's cells then. */
  tell(isClients: boolean): SessionNews[] {
    const guests = isClients ? this.#guests : undefined
    if (guests) this.#guests = undefined
    return [...(guests ? [{ what: 'guest-cells' as const, ...guests }] : []), ...this.#news]
  }

  /** The client has it all. */
  clear(): void {
    this.#news = []
  }
}
