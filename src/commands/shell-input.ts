// Lines from a terminal, with history and completion. The terminal is ours only while a line is awaited: what runs between two may ask in it, too.
import { createInterface, type Interface } from 'node:readline'
import { MAX_LINES } from './shell-history.ts'

/** What came of waiting for a line: Ctrl-C gives up what was begun, Ctrl-D ends. */
export type Typed = { line: string } | 'given up' | 'ended'

/** Words that can stand at the end of a line, and how much of the line they replace. */
export type Complete = (line: string) => Promise<{ words: string[]; replaced: string }>

type Found = [words: string[], replaced: string]
type Completed = (error: null, found: Found) => void

export class ShellInput {
  readonly #complete: Complete
  #history: string[]
  /** Lines that came with one that was read, as when several are pasted. */
  readonly #ahead: string[] = []
  /** The beginning of the next one. */
  #begun = ''
  #open: Interface | undefined

  constructor(history: string[], complete: Complete) {
    this.#history = history
    this.#complete = complete
  }

  /** The newest first. */
  get history(): readonly string[] {
    return this.#history
  }

  read(prompt: string): Promise<Typed> {
    const line = this.#ahead.shift()
    if (line !== undefined) return Promise.resolve({ line })
    const terminal = this.#openTerminal()
    terminal.removeAllListeners('line')
    terminal.setPrompt(prompt)
    terminal.prompt()
    if (this.#begun) terminal.write(this.#begun)
    this.#begun = ''
    return new Promise((resolve) => {
      const settle = (typed: Typed): void => {
        terminal.removeAllListeners('line').removeAllListeners('SIGINT')
        // Not all of its listeners: readline itself has one, which lets go of the terminal.
        terminal.removeListener('close', onClose)
        // Those of the same paste follow at once.
        terminal.on('line', (next) => this.#ahead.push(next))
        resolve(typed)
      }
      const onClose = (): void => settle('ended')
      terminal.once('line', (typed) => settle({ line: typed }))
      terminal.once('SIGINT', () => {
        process.stdout.write('^C\n')
        this.#ahead.length = 0
        settle('given up')
        this.release()
        this.#begun = ''
      })
      terminal.once('close', onClose)
    })
  }

  /** Leave the terminal to others until the next line is awaited. */
  release(): void {
    const terminal = this.#open
    this.#open = undefined
    if (!terminal) return
    this.#begun = terminal.line
    terminal.close()
  }

  #openTerminal(): Interface {
    this.#open ??= createInterface({
      input: process.stdin,
      output: process.stdout,
      terminal: true,
      history: [...this.#history],
      historySize: MAX_LINES,
      removeHistoryDuplicates: true,
      completer: (line: string, done: Completed) => void this.#completeTo(line, done),
    }).on('history', (lines) => (this.#history = [...lines]))
    return this.#open
  }

  /** Readline must hear something in any case: it is paused until then. */
  async #completeTo(line: string, done: Completed): Promise<void> {
    let found: Found = [[], '']
    try {
      const { words, replaced } = await this.#complete(line)
      found = [words, replaced]
    } catch {
      // Nothing is known of what could stand here.
    }
    done(null, found)
  }
}
