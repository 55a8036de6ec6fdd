// Counts the cells that the user ran in a client's session. The client's next result mentions them in one sentence,
// without their output.

export class GuestCells {
  #first: number | undefined
  #last = 0
  #count = 0

  /** @param cell its number; missing for a cell that never ran */
  add(cell: number | undefined): void {
    if (cell === undefined) return
    this.#first ??= cell
    this.#last = cell
    this.#count += 1
  }

  /** Returns a note about cells not yet mentioned, if any. */
  tell(): string[] {
    const count = this.#count
    const first = this.#first
    this.#first = undefined
    this.#count = 0
    if (first === undefined) return []
    if (count === 1) return [`The user ran cell ${first} in this session, so variables may have changed.`]
    return [`The user ran ${count} cells in this session, ${first} to ${this.#last}, so variables may have changed.`]
  }
}
