// Runs a session's JavaScript cells in Node: `node runner.cjs CHANNEL BELL`, two inherited sockets. The kernel starts
// it in the sandbox and forwards its requests. Trusted no more than the cells that it runs: they can change everything
// here.
import { createRequire } from 'node:module'
import vm from 'node:vm'
import { Api } from './api.ts'
import { Cells } from './cells.ts'
import { Sources, stackOfCells } from './failure.ts'
import { Link } from './link.ts'
import { bundle, mediaBeside } from './show.ts'
import { endTimers, watchTimers } from './timers.ts'
import type { Scripts } from './transform.ts'
import { Worker } from 'node:worker_threads'
import net from 'node:net'
import { Console } from 'node:console'
import fs from 'node:fs'
import { Writable } from 'node:stream'

// Stops code that blocks the main thread. The kernel reaches this worker thread while the main thread is busy; the
// worker makes V8 terminate the running code, wherever it is. Variables are kept.

const PROGRAM = `
const { Session } = require('node:inspector')
const net = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const session = new Session()
session.connectToMainThread()
new net.Socket({ fd: Number(workerData) }).on('data', () => {
  session.post('Runtime.terminateExecution', () => {})
}).on('error', () => {})
parentPort.postMessage(0)
`

/**
 * Resolves when it can stop code: a first cell may be interrupted before this thread has had a processor.
 * @param fd terminates the running code at each byte received
 */
function startBreaker(fd: number): Promise<unknown> {
  const worker = new Worker(PROGRAM, { eval: true, workerData: fd, stderr: true })
  worker.unref()
  // Node may lack an inspector. The kernel then ends the whole process.
  return new Promise((resolve) => worker.once('message', resolve).on('error', resolve))
}

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

function openChannel(fd: number, onLine: (line: string) => void): (line: string) => void {
  const socket = new net.Socket({ fd, readable: true, writable: true })
  let parts: string[] = []
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    const [first = '', ...rest] = text.split('\n')
    parts.push(first)
    if (rest.length === 0) return
    const lines = [parts.join(''), ...rest.slice(0, -1)]
    parts = [rest.at(-1)!]
    for (const line of lines) onLine(line)
  })
  // Without the kernel, this process has no purpose.
  const { reallyExit } = process as unknown as { reallyExit: (code: number) => never }
  for (const event of ['close', 'error']) socket.on(event, () => reallyExit(0))
  return (line) => void socket.write(`${line}\n`)
}

// Writes to the kernel's descriptors: Node's streams would make them non-blocking for all who share them.

function useOutput(): void {
  const stdout = streamTo(1)
  const stderr = streamTo(2)
  Object.defineProperty(process, 'stdout', { value: stdout, configurable: true })
  Object.defineProperty(process, 'stderr', { value: stderr, configurable: true })
  const console = new Console({ stdout, stderr, colorMode: false, inspectOptions: { depth: 6, breakLength: 120 } })
  Object.defineProperty(globalThis, 'console', { value: console, configurable: true, writable: true })
}

function streamTo(fd: number): Writable {
  const { writeSync } = fs
  const writeAll = (chunk: Buffer | string): void => {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        // A program started by the cell has made the descriptor non-blocking.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      }
    }
  }
  const stream = new Writable({
    decodeStrings: true,
    write: (chunk: Buffer, _encoding, done) => {
      writeAll(chunk)
      done()
    },
  })
  return Object.assign(stream, { fd, isTTY: false })
}
