// Draws a few lines at the bottom of a terminal again and again, while finished output scrolls up above them.
import { visibleInline } from './print.ts'

interface Terminal {
  isTTY?: boolean
  columns?: number
  rows?: number
  write(text: string): unknown
}

/** Writes nothing without a terminal. */
export class LiveLines {
  readonly #terminal: Terminal
  #shownCount = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** Replaces the lines at the bottom. Lines that do not fit are left out. */
  show(lines: readonly string[]): void {
    if (!this.#terminal.isTTY) return
    const { columns = 80, rows = 24 } = this.#terminal
    // A line that wraps or has scrolled away could not be erased.
    const shown = lines.slice(0, Math.max(1, rows - 2)).map((line) => visibleInline(line).slice(0, columns - 1))
    this.#terminal.write(this.#taken() + shown.map((line) => `${line}\n`).join(''))
    this.#shownCount = shown.length
  }

  /** Erases the lines, so that something else can be written in their place. */
  clear(): void {
    if (this.#shownCount > 0) this.#terminal.write(this.#taken())
    this.#shownCount = 0
  }

  #taken(): string {
    return this.#shownCount === 0 ? '' : `\u001b[${this.#shownCount}A\r\u001b[J`
  }
}
