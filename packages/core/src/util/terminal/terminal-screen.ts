// The last lines of a terminal whose cursor output moves: progress bars, erased lines. Bounded. Pure.

/** Lines that the cursor reaches. */
export const SCREEN_LINES = 50
/** A longer line goes on in the next row, and is one line again when it leaves the screen. */
const MAX_COLUMNS = 1_000
/** How far a move goes to the right: each may add as many blanks. */
const MAX_MOVE = 250

/* oxlint-disable no-control-regex -- control characters are what this file is about */
/** Moves the cursor up, down or sideways, or erases. */
export const MOVES = /(?:\x1b\[|\x9b)[\d;]*[A-HJKfdsu]|\x1b[78]/
const TOKEN =
  /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b([ -/]*[0-~])|[\n\r\b]|[^\x1b\x9b\n\r\b]+/y
/** The beginning of a sequence, whose rest may follow. */
const UNFINISHED = /^(?:\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b\n]{0,1000}\x1b?|[ -/]*)?|\x9b[0-?]*[ -/]*)$/
/* oxlint-enable no-control-regex */

interface Row {
  text: string
  /** The line goes on in the next row. */
  wraps: boolean
}

export class TerminalScreen {
  #rows: Row[]
  #row: number
  #column = 0
  #saved = { row: 0, column: 0 }
  #rest = ''

  /** @param lines what it shows at first, with the cursor at the beginning of the line after them */
  constructor(lines: string) {
    this.#rows = lines.split('\n').map((text) => ({ text, wraps: false }))
    this.#row = this.#rows.length - 1
  }

  /** @returns the lines that have left the screen */
  write(text: string): string {
    let left = ''
    const whole = this.#rest + text
    this.#rest = ''
    TOKEN.lastIndex = 0
    for (let at = 0; at < whole.length; at = TOKEN.lastIndex) {
      TOKEN.lastIndex = at
      const token = TOKEN.exec(whole)
      if (!token) {
        const rest = whole.slice(at)
        if (UNFINISHED.test(rest)) {
          this.#rest = rest
          break
        }
        TOKEN.lastIndex = at + 1 // a stray escape
        continue
      }
      const [all, numbers, final, other] = token
      if (final !== undefined) this.#control(final, numbers!)
      else if (other !== undefined) this.#keep(other)
      else if (all === '\r') this.#column = 0
      else if (all === '\b') this.#column = Math.max(0, this.#column - 1)
      else if (all === '\n') this.#newLine(false)
      else if (all[0] !== '\x1b') left += this.#print(all)
      left += this.#scroll()
    }
    return left
  }

  /** What it shows. */
  end(): string {
    const rows = this.#rows.map((row, index) => textOf(row, index === this.#rows.length - 1))
    this.#rows = []
    return rows.join('')
  }

  #print(text: string): string {
    let left = ''
    for (let at = 0; at < text.length;) {
      if (this.#column >= MAX_COLUMNS) {
        this.#newLine(true)
        left += this.#scroll()
      }
      const piece = text.slice(at, at + MAX_COLUMNS - this.#column)
      const row = this.#rows[this.#row]!
      const column = this.#column
      row.text = row.text.slice(0, column).padEnd(column) + piece + row.text.slice(column + piece.length)
      this.#column += piece.length
      at += piece.length
    }
    return left
  }

  #newLine(wraps: boolean): void {
    this.#rows[this.#row]!.wraps = wraps
    this.#moveTo(this.#row + 1)
    this.#column = 0
  }

  #moveTo(row: number): void {
    this.#row = Math.max(0, row)
    while (this.#rows.length <= this.#row) this.#rows.push({ text: '', wraps: false })
  }

  #scroll(): string {
    let left = ''
    while (this.#rows.length > SCREEN_LINES) {
      left += textOf(this.#rows.shift()!, false)
      this.#row = Math.max(0, this.#row - 1)
    }
    return left
  }

  #keep(final: string): void {
    if (final === '7') this.#saved = { row: this.#row, column: this.#column }
    if (final === '8') this.#control('u', '')
  }

  #control(final: string, numbers: string): void {
    const [first, second] = numbers.split(';').map((text) => Math.min(Number.parseInt(text, 10) || 0, MAX_COLUMNS))
    const count = first || 1
    const lowest = SCREEN_LINES - 1
    if (final === 'A' || final === 'F') this.#moveTo(this.#row - count)
    if (final === 'B' || final === 'E') this.#moveTo(Math.min(this.#row + count, Math.max(lowest, this.#row)))
    if (final === 'E' || final === 'F') this.#column = 0
    if (final === 'C') this.#column = Math.max(this.#column, Math.min(this.#column + count, MAX_MOVE))
    if (final === 'D') this.#column = Math.max(0, this.#column - count)
    if (final === 'G') this.#column = Math.min(count, MAX_MOVE) - 1
    if (final === 'd') this.#moveTo(Math.min(count - 1, lowest))
    if (final === 'H' || final === 'f') {
      this.#moveTo(Math.min(count - 1, lowest))
      this.#column = Math.min(second || 1, MAX_MOVE) - 1
    }
    if (final === 's') this.#saved = { row: this.#row, column: this.#column }
    if (final === 'u') {
      this.#moveTo(Math.min(this.#saved.row, lowest))
      this.#column = this.#saved.column
    }
    if (final === 'K') this.#eraseLine(first ?? 0)
    if (final === 'J') this.#eraseScreen(first ?? 0)
  }

  #eraseLine(how: number): void {
    const row = this.#rows[this.#row]!
    if (how === 0) row.text = row.text.slice(0, this.#column)
    else row.text = how === 1 ? ' '.repeat(this.#column + 1) + row.text.slice(this.#column + 1) : ''
    if (row.text.trim() === '') row.text = ''
  }

  #eraseScreen(how: number): void {
    if (how === 1) {
      for (const row of this.#rows.slice(0, this.#row)) row.text = ''
      this.#eraseLine(1)
    } else if (how === 0) {
      this.#eraseLine(0)
      this.#rows.length = this.#row + 1
    } else {
      this.#rows = [{ text: '', wraps: false }]
      this.#row = 0
    }
  }
}

function textOf({ text, wraps }: Row, isLast: boolean): string {
  return text + (wraps || isLast ? '' : '\n')
}
