// Shares a number of places between users: each may take as many as it leaves free. One user alone gets half of them,
// two get a third each, and there is always a place for a user who has none.

export class Shares {
  readonly #max: number
  readonly #takenBy = new Map<object, number>()
  #taken = 0

  /** @param max how many places there are */
  constructor(max: number) {
    this.#max = max
  }

  /**
   * Takes a place.
   * @param user any object that stands for the user; without one, the place is refused only if all are taken
   * @returns false when it is refused
   */
  take(user?: object): boolean {
    const own = this.#ofUser(user)
    if (this.#taken + own >= this.#max) return false
    this.#taken += 1
    if (user) this.#takenBy.set(user, own + 1)
    return true
  }

  /** Gives back a place that was taken. */
  giveBack(user?: object): void {
    this.#taken -= 1
    if (!user) return
    const left = this.#ofUser(user) - 1
    if (left > 0) this.#takenBy.set(user, left)
    else this.#takenBy.delete(user)
  }

  #ofUser(user: object | undefined): number {
    return user ? (this.#takenBy.get(user) ?? 0) : 0
  }
}
