// Runs a session's cells one at a time: parses, has the kernel check calls, runs, reports. For every engine.
import type { Api } from './api.ts'
import { describeFailure, describeSyntaxError, type Failure, type Sources } from './failure.ts'
import type { Link, RunMessage } from './link.ts'
import { readCell } from './read-cell.ts'
import { seenCalls } from './seen-calls.ts'
import { bundle, mediaBeside, type Shown } from './show.ts'
import { type Scripts, toScripts } from './transform.ts'

interface Outcome {
  status: 'ok' | 'error' | 'refused' | 'interrupted'
  value?: Shown
  media?: [string, string][]
  error?: Failure
  notes?: string[]
}

/** The JavaScript engine: Node or QuickJS. */
export interface Engine {
  /** Compiles both scripts before it runs either. @returns a promise of the cell's value */
  run: (scripts: Scripts, file: string) => unknown
  withoutTypes: (source: string) => string
  /** Changes the current folder. */
  enter: (folder: string) => void
  /** Resolves after one turn of the event loop, when everything that was ready has run. */
  turn: () => Promise<void>
  /** Ends the cell's timers. @returns their number */
  endTimers: () => number
}

interface RunningCell {
  /** The first unhandled rejection. */
  rejected?: { error: unknown; promise: Promise<unknown> }
  end: (outcome: Outcome) => void
}

const REFUSED = Symbol('refused')

class Unreadable extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

export class Cells {
  readonly #link: Link
  readonly #api: Api
  readonly #sources: Sources
  readonly #engine: Engine
  #current: RunningCell | undefined
  #folder = ''

  constructor(link: Link, api: Api, sources: Sources, engine: Engine) {
    this.#link = link
    this.#api = api
    this.#sources = sources
    this.#engine = engine
  }

  async start({ cell: number, code, cwd, servers, functions, json }: RunMessage): Promise<void> {
    const link = this.#link
    const file = `Cell ${number}`
    const cell = this.#begin(number)
    this.#sources.add(file, code)
    if (cwd !== this.#folder) this.#engine.enter((this.#folder = cwd))
    if (servers) this.#api.setServers(servers)
    if (functions) this.#api.setFunctions(functions)
    link.isOpen = true
    try {
      const value = await this.#run(code, file)
      if (value === REFUSED) return cell.end({ status: 'refused' })
      // Wait for work that the cell started and did not await, as Node does before it exits.
      do {
        await link.idle()
        await this.#engine.turn()
      } while (link.isOpen && link.hasOpen)
      if (cell.rejected) throw cell.rejected.error
      const shown = bundle(value, json === true)
      cell.end({ status: 'ok', ...(shown && { value: shown, media: mediaBeside(value) }) })
    } catch (error) {
      const failure = error instanceof Unreadable ? error.failure : describeFailure(error, this.#sources)
      cell.end({ status: 'error', error: failure })
    }
  }

  interrupt(): void {
    this.#current?.end({ status: 'interrupted' })
  }

  /** Ends the cell as `process.exit` does. */
  exit(status: number): never {
    const error = { name: 'ExitStatus', message: String(status), traceback: `Exit status ${status}.\n` }
    this.#current?.end(status === 0 ? { status: 'ok' } : { status: 'error', error })
    throw new Error(`process.exit(${status}) ends the cell`)
  }

  /** Fails the cell on an uncaught exception. */
  fail(error: unknown): void {
    this.#current?.end({ status: 'error', error: describeFailure(error, this.#sources) })
  }

  rejected(error: unknown, promise: Promise<unknown>): void {
    if (this.#current) this.#current.rejected ??= { error, promise }
  }

  handled(promise: Promise<unknown>): void {
    if (this.#current?.rejected?.promise === promise) delete this.#current.rejected
  }

  #begin(number: number): RunningCell {
    let isOver = false
    return (this.#current = {
      end: (outcome) => {
        if (isOver) return
        isOver = true
        this.#current = undefined
        this.#link.abandon()
        const timers = this.#engine.endTimers()
        const notes =
          timers > 0
            ? [`${timers} timer${timers === 1 ? '' : 's'} of the cell ended with it: await what should happen`]
            : []
        this.#link.send({ type: 'done', cell: number, ...outcome, ...(notes.length > 0 && { notes }) })
      },
    })
  }

  async #run(code: string, file: string): Promise<unknown> {
    let scripts
    try {
      const { source, program } = readCell(code, this.#engine.withoutTypes)
      const { calls, mayKnowBetter } = seenCalls(program, this.#api.aliases, this.#api.isOurs)
      if (calls.length > 0 && (await this.#link.ask({ type: 'check', calls, mayKnowBetter })) !== true) return REFUSED
      scripts = toScripts(source, program)
    } catch (error) {
      throw error instanceof SyntaxError ? new Unreadable(describeSyntaxError(error, file, this.#sources)) : error
    }
    for (const name of scripts.names) declare(name)
    return this.#engine.run(scripts, file)
  }
}

/** Creates a global variable that cells can assign, whatever the engine defines there. */
function declare(name: string): void {
  const found = Object.getOwnPropertyDescriptor(globalThis, name)
  if (found && (found.writable || !found.configurable)) return
  const value: unknown = (globalThis as Record<string, unknown>)[name]
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true })
}
