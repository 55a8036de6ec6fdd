// A cell's progress in the last line of a terminal, if that can erase it; makes room for the cell's output.
import { describeUpstreamProgress, type CellListeners } from '@sandbridge/core/cell'
import { shortNumber, shownText } from '@sandbridge/core/util/text'

const BAR_WIDTH = 24
const CLEAR_LINE = '\r\x1b[K'

interface Terminal {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

export class ProgressBar {
  readonly #terminal: Terminal
  readonly #isDumb: boolean
  #line = ''
  /** What the command waits for; takes precedence over the cell's progress. */
  #waiting = ''
  #isShown = false
  #hidings = 0
  /** Called when the bar is no longer hidden. */
  onShow = (): void => {}
  /** The questions that are asked at the moment. */
  asking: Promise<unknown> = Promise.resolve()

  /** @param env of the user who sits at the terminal */
  constructor(terminal: Terminal, env: Readonly<Record<string, string | undefined>>) {
    this.#terminal = terminal
    this.#isDumb = env['TERM'] === 'dumb'
  }

  /** Pass these when running a cell. */
  readonly listeners = {
    onPreparing: (message: string) => {
      this.#show(message)
      // Preparation is over when the cell prints, so it is not drawn again below the output.
      this.#line = ''
    },
    onProgress: ({ done, total, message }) => this.#show([bar(done, total), message].filter(Boolean).join('  ')),
    onToolCall: ({ name, number, total }) => this.#show(`calling ${name} (${number} of ${total})`),
    onUpstreamProgress: (progress) => this.#show(describeUpstreamProgress(progress)),
  } satisfies CellListeners

  /** Writes something else without the bar in its way; draws the bar below it again. */
  around(write: () => void, endsLine: boolean): void {
    this.clear()
    write()
    if (endsLine) this.#draw()
  }

  /** @param text empty when nothing is waited for any more */
  waitFor(text: string): void {
    if (text === this.#waiting) return
    this.#waiting = oneLine(text)
    if (this.#waiting || this.#line) this.#draw()
    else this.clear()
  }

  get isHidden(): boolean {
    return this.#hidings > 0
  }

  /** Draws nothing until the matching `show`. */
  hide(): void {
    this.#hidings += 1
    this.clear()
  }

  show(): void {
    this.#hidings -= 1
    if (!this.isHidden) this.onShow()
    this.#draw()
  }

  clear(): void {
    if (this.#isShown) this.#terminal.write(CLEAR_LINE)
    this.#isShown = false
  }

  #show(line: string): void {
    this.#line = oneLine(line)
    this.#draw()
  }

  #draw(): void {
    const line = this.#waiting || this.#line
    if (!this.#terminal.isTTY || this.#isDumb || !line || this.#hidings > 0) return
    // A line that wraps could not be cleared.
    this.#terminal.write(CLEAR_LINE + line.slice(0, (this.#terminal.columns ?? 80) - 1))
    this.#isShown = true
  }
}

function oneLine(text: string): string {
  return shownText(text.slice(0, 1_000)).replaceAll(/\n+/g, ' ')
}

function bar(done: number, total: number | undefined): string {
  if (total === undefined || !(total > 0)) return shortNumber(done)
  const filled = Math.round(BAR_WIDTH * Math.min(Math.max(done / total, 0), 1))
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${shortNumber(done)} of ${shortNumber(total)}`
}
