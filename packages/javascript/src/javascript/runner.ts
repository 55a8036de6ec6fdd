// Runs a session's JavaScript cells in Node: `node runner.cjs CHANNEL BELL`, two inherited sockets. The kernel starts
// it in the sandbox and forwards its requests. Trusted no more than the cells that it runs: they can change everything
// here.
import { createRequire } from 'node:module'
import vm from 'node:vm'
import { Api } from './api.ts'
import { startBreaker } from './breaker.ts'
import { Cells } from './cells.ts'
import { openChannel } from './channel.ts'
import { Sources, stackOfCells } from './failure.ts'
import { Link } from './link.ts'
import { useOutput } from './output.ts'
import { bundle, mediaBeside } from './show.ts'
import { endTimers, watchTimers } from './timers.ts'
import type { Scripts } from './transform.ts'

const sources = new Sources()
const write = openChannel(Number(process.argv[2]), (line) => {
  const message = link.receive(line)
  if (message?.type === 'ping') link.send({ type: 'pong' })
  else if (message?.type === 'interrupt') cells.interrupt()
  // Outside of the read callback: an interrupt may terminate the running code anywhere.
  else if (message) void Promise.resolve().then(() => cells.start(message))
})
const link = new Link(write)
const turn = setImmediate
Error.stackTraceLimit = 30
Error.prepareStackTrace = stackOfCells(sources)
useOutput()
watchTimers()
const breaker = startBreaker(Number(process.argv[3]))
const api = new Api(link, (value) => {
  const data = bundle(value, false)
  if (data) link.send({ type: 'display', data, media: mediaBeside(value) })
})
const cells = new Cells(link, api, sources, {
  run,
  withoutTypes,
  enter,
  turn: () => new Promise((resolve) => turn(resolve)),
  endTimers,
})
process.exit = (code: unknown) => cells.exit(Number(code ?? process.exitCode ?? 0))
// SIGINT is for programs that cells started; this process is interrupted in other ways.
process.on('SIGINT', () => {})
process.on('uncaughtException', (error: unknown) => cells.fail(error))
process.on('unhandledRejection', (error: unknown, promise) => cells.rejected(error, promise))
process.on('rejectionHandled', (promise) => cells.handled(promise))
void breaker.then(() => link.send({ type: 'ready', node: process.versions.node }))

function run(scripts: Scripts, file: string): unknown {
  const options = { filename: file, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }
  const body = new vm.Script(scripts.body, { ...options, lineOffset: -1 })
  if (scripts.functions !== undefined) new vm.Script(scripts.functions, options).runInThisContext()
  return body.runInThisContext()
}

function enter(cwd: string): void {
  try {
    process.chdir(cwd)
  } catch {
    // The folder was removed.
  }
  const scope = globalThis as unknown as { require: unknown }
  scope.require = createRequire(`${process.cwd()}/`)
}

function withoutTypes(source: string): string {
  const types = createRequire(process.argv[1]!)('./types.cjs') as typeof import('./types.ts')
  return types.withoutTypes(source)
}
