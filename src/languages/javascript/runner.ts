// The program that runs the JavaScript cells of a session, in the sandbox: `node runner.cjs CHANNEL BELL`, two inherited sockets. The kernel starts it and
// forwards what it asks for. It is as little trusted as the cells that it runs: they can change all of it.
import { createRequire } from 'node:module'
import vm from 'node:vm'
import { Api } from './api.ts'
import { startBreaker } from './breaker.ts'
import { describeFailure, describeSyntaxError, type Failure, Sources, stackOfCells } from './failure.ts'
import { Link, type RunMessage } from './link.ts'
import { useOutput } from './output.ts'
import { readCell } from './read-cell.ts'
import { seenCalls } from './seen-calls.ts'
import { bundle, mediaBeside, type Shown } from './show.ts'
import { endTimers, watchTimers } from './timers.ts'
import { toScripts } from './transform.ts'

interface Outcome {
  status: 'ok' | 'error' | 'refused' | 'interrupted'
  value?: Shown
  media?: [string, string][]
  error?: Failure
  notes?: string[]
}

interface RunningCell {
  /** The first unhandled failure. */
  rejected?: { error: unknown; promise: Promise<unknown> }
  end: (outcome: Outcome) => void
}

const sources = new Sources()
/** The cell that runs. */
let current: RunningCell | undefined
let folder = ''

const link = new Link(Number(process.argv[2]), (message) => {
  if (message.type === 'ping') link.send({ type: 'pong' })
  else if (message.type === 'interrupt') current?.end({ status: 'interrupted' })
  // Not in the midst of reading: an interrupt may end what runs at any place.
  else void Promise.resolve().then(() => start(message))
})
const turn = setImmediate
Error.stackTraceLimit = 30
Error.prepareStackTrace = stackOfCells(sources)
useOutput()
watchTimers()
startBreaker(Number(process.argv[3]))
const api = new Api(link, (value) => {
  const data = bundle(value, false)
  if (data) link.send({ type: 'display', data, media: mediaBeside(value) })
})
process.exit = (code: unknown) => {
  const status = Number(code ?? process.exitCode ?? 0)
  const error = { name: 'ExitStatus', message: String(status), traceback: `Exit status ${status}.\n` }
  current?.end(status === 0 ? { status: 'ok' } : { status: 'error', error })
  throw new Error(`process.exit(${status}) ends the cell`)
}
// It goes to what cells have started; this program is interrupted in other ways.
process.on('SIGINT', () => {})
process.on('uncaughtException', (error: unknown) => {
  // Nothing may be left that would end the cell in another way.
  current?.end({ status: 'error', error: describeFailure(error, sources) })
})
process.on('unhandledRejection', (error: unknown, promise) => {
  if (current) current.rejected ??= { error, promise }
})
process.on('rejectionHandled', (promise) => {
  if (current?.rejected?.promise === promise) delete current.rejected
})
link.send({ type: 'ready', node: process.versions.node })

async function start({ cell: number, code, cwd, servers, json }: RunMessage): Promise<void> {
  const file = `Cell ${number}`
  let isOver = false
  const cell: RunningCell = {
    end: (outcome) => {
      if (isOver) return
      isOver = true
      current = undefined
      link.abandon()
      const timers = endTimers()
      const notes =
        timers > 0
          ? [`${timers} timer${timers === 1 ? '' : 's'} of the cell ended with it: await what should happen`]
          : []
      link.send({ type: 'done', cell: number, ...outcome, ...(notes.length > 0 && { notes }) })
    },
  }
  current = cell
  sources.add(file, code)
  if (cwd !== folder) enter(cwd)
  if (servers) api.setServers(servers)
  link.isOpen = true
  try {
    const value = await run(code, file)
    if (value === REFUSED) return cell.end({ status: 'refused' })
    // What the cell has begun and not awaited is done as well, as when a program of Node ends.
    do {
      await link.idle()
      await new Promise((resolve) => turn(resolve))
    } while (link.isOpen && link.hasOpen)
    if (cell.rejected) throw cell.rejected.error
    const shown = bundle(value, json === true)
    cell.end({ status: 'ok', ...(shown && { value: shown, media: mediaBeside(value) }) })
  } catch (error) {
    cell.end({ status: 'error', error: error instanceof Unreadable ? error.failure : describeFailure(error, sources) })
  }
}

const REFUSED = Symbol('refused')

class Unreadable extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

async function run(code: string, file: string): Promise<unknown> {
  let scripts
  try {
    const { source, program } = readCell(code, withoutTypes)
    const { calls, mayKnowBetter } = seenCalls(program, api.aliases, api.isOurs)
    if (calls.length > 0 && (await link.ask({ type: 'check', calls, mayKnowBetter })) !== true) return REFUSED
    scripts = toScripts(source, program)
  } catch (error) {
    throw error instanceof SyntaxError ? new Unreadable(describeSyntaxError(error, file, sources)) : error
  }
  for (const name of scripts.names) declare(name)
  const options = { filename: file, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }
  // Both are compiled before either runs.
  const body = new vm.Script(scripts.body, { ...options, lineOffset: -1 })
  if (scripts.functions !== undefined) new vm.Script(scripts.functions, options).runInThisContext()
  return body.runInThisContext()
}

/** A variable that cells may set, whatever Node has there. */
function declare(name: string): void {
  const found = Object.getOwnPropertyDescriptor(globalThis, name)
  if (found && (found.writable || !found.configurable)) return
  const value: unknown = (globalThis as Record<string, unknown>)[name]
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true })
}

function enter(cwd: string): void {
  folder = cwd
  try {
    process.chdir(cwd)
  } catch {
    // It is gone.
  }
  const scope = globalThis as unknown as { require: unknown }
  scope.require = createRequire(`${process.cwd()}/`)
}

function withoutTypes(source: string): string {
  const types = createRequire(process.argv[1]!)('./types.cjs') as typeof import('./types.ts')
  return types.withoutTypes(source)
}
