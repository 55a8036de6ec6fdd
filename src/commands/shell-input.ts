// Lines from a terminal, with completion and a history that outlives the shell. The shell owns the terminal only while it waits for a line, so
// that a cell may ask in it, too.
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { replaceFile } from '../storage/replace-file.ts'

/** Of history. */
const MAX_LINES = 1_000

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
      // No completion.
    }
    done(null, found)
  }
}

/** The newest first, as readline wants them. */
export async function readHistory(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean).slice(-MAX_LINES).toReversed()
}

/** Writes for the owner alone, since what was typed may hold secrets. A folder that cannot be written to loses only the history. */
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
