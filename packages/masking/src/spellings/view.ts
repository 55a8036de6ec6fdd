// A text with parts of it replaced, and where each of its characters stands in the text before. Pure.

/** From a position to before another one. */
export type Range = readonly [start: number, end: number]

export class View {
  readonly text: string
  /** Of each replacement: its start and end in this text, then in the one before. */
  readonly #edits: readonly number[]

  constructor(text: string, edits: readonly number[] = []) {
    this.text = text
    this.#edits = edits
  }

  /**
   * @param expression has no groups
   * @param replace receives what was found, where, and where its replacement begins; undefined leaves it as it is
   * @returns undefined if nothing was replaced
   */
  replaced(
    expression: RegExp,
    replace: (found: string, index: number, at: number) => string | undefined,
  ): View | undefined {
    const edits: number[] = []
    let text = ''
    let from = 0
    expression.lastIndex = 0
    for (let match = expression.exec(this.text); match; match = expression.exec(this.text)) {
      const { 0: found, index } = match
      const before = text.length + index - from
      const by = replace(found, index, before)
      if (by === undefined) continue
      text += this.text.slice(from, index) + by
      from = index + found.length
      edits.push(before, text.length, index, from)
    }
    return edits.length === 0 ? undefined : new View(text + this.text.slice(from), edits)
  }

  /** Where a range of this text stands in the one before: a replacement is in it as a whole. */
  before([start, end]: Range): Range {
    return [this.#mapped(start, false), this.#mapped(end, true)]
  }

  #mapped(at: number, isEnd: boolean): number {
    const edits = this.#edits
    let low = 0
    let high = edits.length / 4
    while (low < high) {
      const middle = (low + high) >> 1
      const start = edits[4 * middle]!
      if (isEnd ? start < at : start <= at) low = middle + 1
      else high = middle
    }
    if (low === 0) return at
    const edit = 4 * low - 4
    const end = edits[edit + 1]!
    const oldEnd = edits[edit + 3]!
    return at >= end ? oldEnd + at - end : isEnd ? oldEnd : edits[edit + 2]!
  }
}
