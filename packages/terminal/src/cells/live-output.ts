// Shows what a cell prints while it runs. A pipe gets exactly that. On a terminal, text appears line by line and as it
// finally reads: nothing in it controls the terminal, goes back over what is shown, looks like a notice of the bridge,
// or appears while a question waits for its answer.
import { fromOthers, noticeLine } from '@sandbridge/core/cell/render'
import { TerminalText } from '@sandbridge/core/util/text'
import type { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'

type Stream = 'stdout' | 'stderr'
interface Output {
  isTTY?: boolean
  write(text: string): unknown
}

/** While a question waits. The rest of longer output is left out. */
const MAX_HELD_CHARS = 1_000_000

export class LiveOutput {
  readonly #bar: ProgressBar
  readonly #outputs: Record<Stream, Output>
  readonly #lines = { stdout: new TerminalText({ isLive: true }), stderr: new TerminalText({ isLive: true }) }
  #held: [Stream, string][] = []
  #heldChars = 0
  #hasHeard = false

  constructor(bar: ProgressBar, outputs: Record<Stream, Output>) {
    this.#bar = bar
    this.#outputs = outputs
    bar.onShow = () => this.#showHeld()
  }

  readonly write = (stream: Stream, text: string): void => {
    this.#hasHeard = true
    if (!this.#outputs[stream].isTTY) return this.#show(stream, text)
    const lines = fromOthers(this.#lines[stream].push(text))
    if (!this.#bar.isHidden) return this.#show(stream, lines)
    this.#heldChars += lines.length
    if (this.#heldChars <= MAX_HELD_CHARS) this.#held.push([stream, lines])
  }

  /**
   * Shows unfinished lines. Call when the cell has ended.
   * @param whole all that it printed, shown if nothing was heard meanwhile: masked output comes only with the result
   */
  end(whole?: Record<Stream, string>): void {
    if (whole && !this.#hasHeard) for (const stream of ['stderr', 'stdout'] as const) this.write(stream, whole[stream])
    this.#showHeld()
    for (const stream of ['stdout', 'stderr'] as const) this.#show(stream, fromOthers(this.#lines[stream].end()))
  }

  #showHeld(): void {
    for (const [stream, lines] of this.#held) this.#show(stream, lines)
    if (this.#heldChars > MAX_HELD_CHARS)
      this.#show('stderr', `${noticeLine('Output was left out while a question waited.')}\n`)
    this.#held = []
    this.#heldChars = 0
  }

  #show(stream: Stream, text: string): void {
    if (text !== '') this.#bar.around(() => this.#outputs[stream].write(text), text.endsWith('\n'))
  }
}
