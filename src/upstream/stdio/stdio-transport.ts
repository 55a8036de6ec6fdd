// An MCP transport over a child process: spawn, one JSON message a line, and the end of the whole process group.
// It knows nothing of MCP's methods. What a server writes beside the protocol is kept for a diagnosis and never leaves here unredacted.
import type { ChildProcess } from 'node:child_process'
// Windows cannot spawn `npx`: it is a .cmd file, which needs a shell and its quoting.
import spawn from 'cross-spawn'
import { existsSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { passedEnvironment } from '../../config/passed-variables.ts'
import type { StdioServer } from '../../config/server-definition.ts'
import type { Launch } from './jail/open-jail.ts'
import { writeBatched } from '../../process/write-batched.ts'
import { lineCost } from '../../text/line-cost.ts'
import { answeredId } from './answered-id.ts'
import { createByteTail } from '../../process/byte-tail.ts'
import { createLineSplitter, type LineEnds, lineEnds } from '../../process/line-splitter.ts'
import { withTimeout } from '../../process/wait.ts'
import { parseJson } from '../../text/json.ts'
import { endGroup, trackGroup } from '../../process/process-group.ts'

/** As long as the longest frame to a kernel: what is longer could not be handed on anyway. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024
/** More is kept than shown: a secret cut in half at the start of what is kept must not be shown. */
const KEPT_STDERR_BYTES = 16 * 1024
const KEPT_STRAY_BYTES = 2 * 1024
/** How long output may still arrive after the process has exited, when something it started holds the pipe open. */
const DRAIN_MS = 250

/** How long after a broken pipe the exit of the process is awaited; one that lives on can no longer be spoken with, and is ended. */
const AFTER_BROKEN_PIPE_MS = 2000

/** JSON-RPC error code that stands for a message too large to be read; from the range that is free for implementations. */
export const MESSAGE_TOO_LONG = -32_064

export interface ProcessExit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** How many bytes there were before. */
export interface OutputMark {
  stderr: number
  stray: number
}

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Set once the process has exited. */
  exit: ProcessExit | undefined
  /** What the process sent that made us end it: who waited for it cannot be told. */
  endedFor: string | undefined

  readonly #cwd: string | undefined
  readonly #launch: Launch
  readonly #stderr = createByteTail(KEPT_STDERR_BYTES)
  readonly #stray = createByteTail(KEPT_STRAY_BYTES)
  #child: ChildProcess | undefined
  #ending: Promise<void> | undefined
  #closeReported = false
  readonly #closeWaiters: (() => void)[] = []

  /** `cwd` is where a server without a `cwd` of its own is started; `launch` is what is started in its place, with the server inside. */
  constructor({ command, args, env, cwd: own }: StdioServer, cwd?: string, launch?: Launch) {
    this.#cwd = own ?? cwd
    this.#launch = launch ?? { command, args, env: { ...passedEnvironment(), ...env } }
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** A point in what the process writes, for `stderrTail`. */
  get said(): OutputMark {
    return { stderr: this.#stderr.length, stray: this.#stray.length }
  }

  /** What the process wrote last, since then, that was not a message: its stderr or, when that is empty, stray lines of its stdout. Not redacted. */
  stderrTail({ stderr, stray }: OutputMark = { stderr: 0, stray: 0 }): string {
    return this.#stderr.text(stderr).trim() || this.#stray.text(stray).trim()
  }

  /** @throws NodeJS.ErrnoException when there is no such program or directory, or it may not be run. */
  start(): Promise<void> {
    if (this.#child) return Promise.reject(new Error('this transport has already started'))
    if (this.#cwd !== undefined && !existsSync(this.#cwd)) {
      // Without this check Node reports the program as missing.
      return Promise.reject(Object.assign(new Error('its working directory does not exist'), { code: 'ENOTDIR' }))
    }
    return new Promise((resolve, reject) => {
      const { command, args, env, extraInput } = this.#launch
      const child = spawn(command, args, {
        env,
        cwd: this.#cwd,
        detached: process.platform !== 'win32',
        windowsHide: true,
        stdio: ['pipe', 'pipe', 'pipe', ...(extraInput ? (['pipe'] as const) : [])],
      })
      this.#child = child
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const extra = child.stdio[3] as Writable | null | undefined
      extra?.on('error', () => {}).end(extraInput)
      child.once('spawn', () => {
        trackGroup(child.pid!)
        resolve()
      })
      child.once('error', (error) => {
        reject(error)
        this.#reportClose()
      })
      child.once('exit', (code, signal) => {
        this.exit = { code, signal }
        void this.#afterExit(child)
      })
      this.#listen(child)
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => this.write(message, reject, resolve))
  }

  /** Exactly one of the two is called, later. */
  write(message: JSONRPCMessage, onError: (error: Error) => void, onWritten?: () => void): void {
    const stdin = this.#child?.stdin
    if (!stdin || this.#closeReported) return queueMicrotask(() => onError(new Error('the server has exited')))
    writeBatched(stdin, `${JSON.stringify(message)}\n`, (error) => {
      // A broken pipe precedes the exit and the last stderr output that explain it. Report those.
      if (error) this.#whenClosed(AFTER_BROKEN_PIPE_MS, () => onError(error))
      else onWritten?.()
    })
  }

  #whenClosed(timeoutMs: number, then: () => void): void {
    if (this.#closeReported) return then()
    const timer = setTimeout(then, timeoutMs)
    this.#closeWaiters.push(() => {
      clearTimeout(timer)
      then()
    })
  }

  /** Requests in flight fail at once; resolves when the whole process group has ended, within 2 s. Never rejects. */
  close(): Promise<void> {
    this.#reportClose()
    return this.#end()
  }

  #listen(child: ChildProcess): void {
    const splitter = createLineSplitter({
      maxBytes: MAX_MESSAGE_BYTES,
      onLine: (line) => this.#receive(line),
      onTooLong: ({ head, tail, bytes }) =>
        this.#answerTooLarge({ head, tail }, `a message of ${bytes} bytes, above the limit of ${MAX_MESSAGE_BYTES}`),
    })
    // There are no streams when the process could not be spawned for want of file descriptors.
    child.stdout?.on('data', (chunk: Buffer) => splitter.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk))
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      // EPIPE and its kin mostly announce an exit, which is reported by itself; a failed write is reported by `send`.
      stream?.on('error', () => {})
    }
    for (const stream of [child.stdin, child.stdout]) {
      stream?.once('close', () => this.#whenClosed(AFTER_BROKEN_PIPE_MS, () => void this.close()))
    }
  }

  #receive(bytes: Buffer): void {
    // JSON.parse holds up every other server and session, for seconds where a line is nothing but brackets.
    const { tooCostly } = lineCost(bytes)
    if (tooCostly !== undefined) return this.#answerTooLarge(lineEnds(bytes), `a message with ${tooCostly}`)
    const line = bytes.toString()
    const value = parseJson(line)
    // Protocol revision 2025-03-26 allowed batches.
    for (const message of Array.isArray(value) ? value : [value]) {
      if (isMessage(message)) this.onmessage?.(message)
      else this.#stray.push(Buffer.from(`${line.slice(0, KEPT_STRAY_BYTES)}\n`))
    }
  }

  /** The request that a dropped message answered gets an error in its place, so that nothing waits for ever. */
  #answerTooLarge({ head, tail }: LineEnds, text: string): void {
    const id = answeredId(head, tail)
    if (id !== undefined) {
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: MESSAGE_TOO_LONG, message: text } })
      return
    }
    this.onerror?.(new Error(text))
    this.endedFor = text
    void this.close()
  }

  async #afterExit(child: ChildProcess): Promise<void> {
    const drained = new Promise<void>((resolve) => child.once('close', () => resolve()))
    const ended = this.#end()
    // Its last response and last stderr output may still be in the pipes.
    await Promise.race([drained, ended.then(() => withTimeout(drained, DRAIN_MS, () => {}))])
    this.#reportClose()
  }

  #end(): Promise<void> {
    this.#ending ??= this.#child ? endGroup(this.#child).then(() => this.#releasePipes()) : Promise.resolve()
    return this.#ending
  }

  /** Something outside the group may hold the other ends; our event loop must not stay alive for it. */
  #releasePipes(): void {
    const child = this.#child!
    const release = (): void => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
    }
    setTimeout(release, DRAIN_MS).unref()
  }

  #reportClose(): void {
    if (this.#closeReported) return
    this.#closeReported = true
    this.onclose?.()
    for (const waiter of this.#closeWaiters) waiter()
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value
}
