// Reads lines from a terminal, with completion and a history that outlives the shell. The shell uses the terminal only
// while it waits for a line, so that a cell may ask in it, too.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { readOrdinary, replaceFile } from '@sandbridge/core/util/files'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'

const MAX_LINES = 1_000

/** The result of waiting for a line: Ctrl-C discards the current input, Ctrl-D ends. */
export type Typed = { line: string } | 'given up' | 'ended'

/** Words that can complete a line, and the part of the line that they replace. */
export type Complete = (line: string) => Promise<{ words: string[]; replaced: string }>

type Found = [words: string[], replaced: string]
type Completed = (error: null, found: Found) => void

export class ShellInput {
  readonly #terminal: Pick<Terminal, 'stdin' | 'stdout'>
  readonly #complete: Complete
  #history: string[]
  /** Further lines that arrived with one that was read, as after a paste. */
  readonly #ahead: string[] = []
  /** The beginning of the next line. */
  #begun = ''
  #open: Interface | undefined

  constructor(terminal: Pick<Terminal, 'stdin' | 'stdout'>, history: string[], complete: Complete) {
    this.#terminal = terminal
    this.#history = history
    this.#complete = complete
  }

  /** Newest first. */
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
        // Only this listener: readline's own one releases the terminal.
        terminal.removeListener('close', onClose)
        // Further lines of the same paste arrive immediately.
        terminal.on('line', (next) => this.#ahead.push(next))
        resolve(typed)
      }
      const onClose = (): void => settle('ended')
      terminal.once('line', (typed) => settle({ line: typed }))
      terminal.once('SIGINT', () => {
        this.#terminal.stdout.write('^C\n')
        this.#ahead.length = 0
        settle('given up')
        this.release()
        this.#begun = ''
      })
      terminal.once('close', onClose)
    })
  }

  /** Leaves the terminal to others until the next line is awaited. */
  release(): void {
    const terminal = this.#open
    this.#open = undefined
    if (!terminal) return
    this.#begun = terminal.line
    terminal.close()
  }

  #openTerminal(): Interface {
    this.#open ??= createInterface({
      input: this.#terminal.stdin,
      output: this.#terminal.stdout,
      terminal: true,
      history: [...this.#history],
      historySize: MAX_LINES,
      removeHistoryDuplicates: true,
      completer: (line: string, done: Completed) => void this.#completeTo(line, done),
    }).on('history', (lines) => (this.#history = [...lines]))
    return this.#open
  }

  /** Always calls `done`: readline is paused until then. */
  async #completeTo(line: string, done: Completed): Promise<void> {
    let found: Found = [[], '']
    try {
      const { words, replaced } = await this.#complete(line)
      found = [words, replaced]
    } catch {
      // Offer no completion.
    }
    done(null, found)
  }
}

/** Newest first, as readline requires. */
export async function readHistory(file: string): Promise<string[]> {
  const text = await readOrdinary(file).then(String, () => '')
  return text.split('\n').filter(Boolean).slice(-MAX_LINES).toReversed()
}

/**
 * Writes a file that only the owner can read, because input may contain secrets. If the folder is not writable, only
 * the history is lost.
 */
export async function writeHistory(file: string, lines: readonly string[]): Promise<void> {
  const text = lines
    .slice(0, MAX_LINES)
    .toReversed()
    .map((line) => `${line}\n`)
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    await replaceFile(file, text.join(''))
  } catch {
    // The next shell starts without this history.
  }
}
