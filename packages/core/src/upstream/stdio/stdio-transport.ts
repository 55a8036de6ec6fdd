// An MCP transport over the stdio of a process. Output outside the protocol is kept for errors, to be redacted.
import { isUtf8 } from 'node:buffer'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { writeBatched } from '../../util/bytes/write-batched.ts'
import { keepResultSource } from '../../util/json/source-json.ts'
import { exactJson } from '../../util/json/parse-exact.ts'
import { lineCost } from '../../util/json/line-cost.ts'
import { createByteTail } from '../../util/bytes/byte-tail.ts'
import { createLineSplitter, type LineEnds, lineEnds } from '../../util/bytes/line-splitter.ts'
import { asUtf8, decodeOther } from '../../util/bytes/decode-text.ts'
import { beginLongWork, letOthers, LONG_BYTES, withTimeout } from '../../util/async/wait.ts'
import { BracketState } from '../reading/brackets.ts'
import { OpenRequests } from '../reading/open-requests.ts'
import { type Reading, readText } from '../reading/read-text.ts'
import { UnfinishedMessage } from '../reading/unfinished-message.ts'
import { DroppedError, type OnDropped } from '../reading/words.ts'
import type { ProcessExit, ServerProcess } from './server-process.ts'

/** The size of the longest frame to a kernel: a longer message could not be passed on. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024
/** A server that leaves more of its input unread is stopped: the rest waits in the memory of the bridge. */
const MAX_UNREAD_BYTES = 2 * MAX_MESSAGE_BYTES
/** More is kept than shown: a secret that is cut at the beginning could not be recognised and must not be shown. */
const KEPT_STDERR_BYTES = 16 * 1024
const KEPT_STRAY_BYTES = 2 * 1024
/** How long to wait for the end of the output after the exit, when a descendant keeps the pipe open. */
const DRAIN_MS = 250

/** How long a reply that cannot be read, or that has not ended, may be followed by a better one. */
const ANSWER_MS = 500

/** How long to wait for the exit after a broken pipe. A process that is still running then is unusable and is ended. */
const AFTER_BROKEN_PIPE_MS = 2000

const LINE_END = Buffer.from('\n')
/** A closing brace or bracket, and CR. */
const MESSAGE_ENDS = new Set<number | undefined>([0x7d, 0x5d, 0x0d])

/** JSON-RPC error code for a message that is too large to be read; from the range for implementations. */
export const MESSAGE_TOO_LONG = -32_064

/** The number of bytes written before. */
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
  /** What the process did that made the bridge end it. Callers that wait for it cannot be identified. */
  endedFor: string | undefined

  readonly #open: () => ServerProcess
  readonly #stderr = createByteTail(KEPT_STDERR_BYTES)
  readonly #stray = createByteTail(KEPT_STRAY_BYTES)
  readonly #requests = new OpenRequests()
  readonly #unfinished = new UnfinishedMessage(MAX_MESSAGE_BYTES)
  readonly #onDropped: OnDropped = (what) => this.onerror?.(new DroppedError(what))
  #timer: NodeJS.Timeout | undefined
  #process: ServerProcess | undefined
  #ending: Promise<void> | undefined
  #closeReported = false
  readonly #closeWaiters: (() => void)[] = []

  /** @param open starts the process, or throws the error of its start */
  constructor(open: () => ServerProcess) {
    this.#open = open
  }

  /** The current position in the process's output, for `stderrTail`. */
  get said(): OutputMark {
    return { stderr: this.#stderr.length, stray: this.#stray.length }
  }

  /** Output since the mark that is not a message: stderr, or else stray lines of stdout. Not redacted. */
  stderrTail({ stderr, stray }: OutputMark = { stderr: 0, stray: 0 }): string {
    return this.#stderr.text(stderr).trim() || this.#stray.text(stray).trim()
  }

  /** @throws NodeJS.ErrnoException for a missing program or directory; Error when it does not run */
  async start(): Promise<void> {
    if (this.#process) throw new Error('this transport has already started')
    const opened = this.#open()
    this.#process = opened
    void opened.exited.then((exit) => {
      this.exit = exit
      return this.#afterExit(opened)
    })
    this.#listen(opened)
    try {
      await opened.started
    } catch (error) {
      // Callers that wait for the start get the error before the close is reported.
      queueMicrotask(() => this.#reportClose())
      throw error
    }
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => this.write(message, reject, resolve))
  }

  /** Later calls exactly one of the two callbacks. */
  write(message: JSONRPCMessage, onError: (error: Error) => void, onWritten?: () => void): void {
    const stdin = this.#process?.stdin
    if (!stdin || this.#closeReported) return queueMicrotask(() => onError(new Error('the server has exited')))
    if (stdin.writableLength > MAX_UNREAD_BYTES) {
      this.#endFor(`left more than ${MAX_UNREAD_BYTES} bytes of its input unread`)
      return queueMicrotask(() => onError(new Error('the server has been stopped')))
    }
    this.#requests.sent(message)
    writeBatched(stdin, `${exactJson(message)}\n`, (error) => {
      // The broken pipe comes before the exit and the last stderr output, which explain it. Wait, to report those.
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

  /** Requests in flight fail at once. Resolves when the process and everything it started has ended. Never rejects. */
  close(): Promise<void> {
    this.#reportClose()
    return this.#end()
  }

  #listen({ stdin, stdout, stderr, exitKnownMs = AFTER_BROKEN_PIPE_MS }: ServerProcess): void {
    const splitter = createLineSplitter({
      maxBytes: MAX_MESSAGE_BYTES,
      onLine: (line) => this.#receive(line),
      onTooLong: ({ head, tail, bytes }) =>
        this.#answerTooLarge({ head, tail }, `a message of ${bytes} bytes, above the limit of ${MAX_MESSAGE_BYTES}`),
    })
    let idle: NodeJS.Timeout | undefined
    stdout?.on('data', (chunk: Buffer) => {
      clearTimeout(idle)
      splitter.push(chunk)
      letOthers(stdout, chunk)
      // Some servers leave out the end of the line: the message is whole, and nothing follows.
      if (!MESSAGE_ENDS.has(chunk.at(-1))) return
      idle = setTimeout(() => {
        const text = splitter.rest.toString().trimEnd()
        if (new BracketState().push(text) === text.length) splitter.push(LINE_END)
      }, ANSWER_MS).unref()
    })
    stdout?.once('end', () => splitter.rest.length > 0 && splitter.push(LINE_END))
    stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk))
    for (const stream of [stdin, stdout, stderr]) {
      // EPIPE mostly precedes an exit, which is reported; `send` reports a failed write.
      stream?.on('error', () => {})
    }
    for (const stream of [stdin, stdout]) {
      stream?.once('close', () => this.#whenClosed(exitKnownMs, () => void this.close()))
    }
  }

  #receive(given: Buffer): void {
    if (given.length > LONG_BYTES) beginLongWork()
    const bytes = this.#inUtf8(asUtf8(given))
    // JSON.parse blocks all other servers and sessions, for seconds when a line consists of brackets.
    const { tooCostly } = lineCost(bytes)
    if (tooCostly !== undefined) return this.#answerTooLarge(lineEnds(bytes), `a message with ${tooCostly}`)
    const line = bytes.toString()
    const reading = readText(line, this.#requests, this.#onDropped)
    const [first] = reading.messages
    if (first && reading.isAsSent) keepResultSource(first, bytes)
    if (first) this.#dropUnfinished()
    else if (this.#unfinished.add(line)) {
      clearTimeout(this.#timer)
      if (this.#unfinished.isWhole) this.#dropUnfinished()
      else this.#timer = setTimeout(() => this.#dropUnfinished(), ANSWER_MS).unref()
      return
    }
    this.#take(reading, line)
  }

  /** Programs on Windows write in the encoding of the system where nobody tells them otherwise. */
  #inUtf8(line: Buffer): Buffer {
    if (isUtf8(line)) return line
    this.#onDropped('the encoding of a line that is not UTF-8')
    return Buffer.from(decodeOther(line))
  }

  #take({ messages, doubtful, hasMore }: Reading, text: string): void {
    for (const message of messages) this.#deliver(message)
    for (const message of doubtful) setTimeout(() => this.#answer(message), ANSWER_MS).unref()
    if (hasMore || doubtful.length > 0) this.#stray.push(Buffer.from(`${text.slice(0, KEPT_STRAY_BYTES)}\n`))
  }

  /** Reads the lines of a message that has ended, or that goes on no more. */
  #dropUnfinished(): void {
    clearTimeout(this.#timer)
    const text = this.#unfinished.take()
    if (text === '') return
    const { tooCostly } = lineCost(Buffer.from(text))
    if (tooCostly === undefined) this.#take(readText(text, this.#requests, this.#onDropped), text)
    else this.#answerTooLarge(lineEnds(Buffer.from(text)), `a message with ${tooCostly}`)
  }

  /** Fails a request that has been answered with something else than its reply, unless the reply has come since. */
  #answer(message: JSONRPCMessage): void {
    if ('id' in message && this.#requests.methodOf(message.id) !== undefined) this.#deliver(message)
  }

  #deliver(message: JSONRPCMessage): void {
    this.#requests.received(message)
    this.onmessage?.(message)
  }

  /** Answers the request of a dropped message with an error, so that it does not wait forever. */
  #answerTooLarge({ head, tail }: LineEnds, text: string): void {
    const id = answeredId(head, tail)
    if (id !== undefined) {
      this.#deliver({ jsonrpc: '2.0', id, error: { code: MESSAGE_TOO_LONG, message: text } })
      return
    }
    this.onerror?.(new Error(text))
    this.#endFor(`sent ${text}, without a request id`)
  }

  #endFor(what: string): void {
    this.endedFor ??= what
    void this.close()
  }

  async #afterExit({ closed }: ServerProcess): Promise<void> {
    const ended = this.#end()
    // The last response and the last stderr output may still be in the pipes.
    await Promise.race([closed, ended.then(() => withTimeout(closed, DRAIN_MS, () => {}))])
    this.#reportClose()
  }

  #end(): Promise<void> {
    this.#ending ??= this.#process?.end().then(() => this.#releasePipes()) ?? Promise.resolve()
    return this.#ending
  }

  /** Another process may hold the other ends; they must not keep our event loop alive. */
  #releasePipes(): void {
    const { stdin, stdout, stderr } = this.#process!
    const release = (): void => {
      for (const stream of [stdin, stdout, stderr]) stream?.destroy()
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

const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`
const ID = String.raw`"id"\s*:\s*(\d{1,15})`
const ANSWER = String.raw`"(?:result|error)"\s*:`

// Members may have any order and white space between them, as in Python's json.dumps.
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}\s*,\s*(?:${VERSION}\s*,\s*)?${ANSWER}`)
const ANSWER_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ANSWER}`)
const ID_LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`)

/** @param head the first bytes of the line, as latin1 @param tail its last @returns undefined if they hide the id */
export function answeredId(head: string, tail: string): number | undefined {
  const id = ID_FIRST.exec(head)?.[1] ?? (ANSWER_FIRST.test(head) ? ID_LAST.exec(tail)?.[1] : undefined)
  return id === undefined ? undefined : Number(id)
}
