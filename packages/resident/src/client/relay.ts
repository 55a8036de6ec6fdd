// Stands between one client, on stdin and stdout, and the user's resident bridge. Passes whole lines: half a line
// before a crash would spoil the client's stream. When the resident is lost it answers what was open, starts another
// and goes on. Loads no bridge, no schemas and no MCP package: this is the process that each further client costs.
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { ClientContext } from '@sandbridge/core/config/settings'
import { ClientLines, lineOf, MAX_LINE_BYTES } from '@sandbridge/core/serve'
import { createLineSplitter } from '@sandbridge/core/util/bytes'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { isBusy } from './busy.ts'
import { KeptAnswers } from './kept-answers.ts'
import { OpenRequests } from './open-requests.ts'
import { dial } from '../reach/connection.ts'
import { controlLine, isControl, kindOf, PROTOCOL, readControl } from '../reach/protocol.ts'
import { isOffInFile } from '../own-resident.ts'
import { PipedInput, tightMemory } from '@sandbridge/core/util/process'
import type { ResidentKey } from '../resident-key.ts'
import { displace, holderOf, pidLink, type ResidentPlace } from '../reach/run-folder.ts'

/** Between pings, and until a resident has welcomed its client. */
const PING_MS = 5_000
/** A resident that works for so long without a word hangs, too. */
const MAX_BUSY_MS = 600_000
/** From the first failed connection to giving up. */
const START_MS = 10_000
const RETRY_MS = 2
const SLOW_RETRY_MS = 25
/** After this long without a resident, another one is started. */
const START_AGAIN_MS = 3_000
/** A client waits about this long before it kills the process. */
const END_MS = 2_500
const MAX_ANSWER_BYTES = 2 ** 29
const IS_WINDOWS = process.platform === 'win32'
/** Why a connection cannot be made where another resident would not help. A new one has another pipe. */
const FORBIDDEN = new Set(IS_WINDOWS ? [] : ['EACCES', 'EPERM', 'EAFNOSUPPORT', 'ENOTSUP'])
/** The exit code of a resident that the user's settings do not allow to start. */
const REPORTED = 2
const NEWLINE = Buffer.from('\n')

/** What was taken from the input, and is not for the resident any more. */
export interface TakenInput {
  /** All of it; of a client that was served, what the next bridge must know of it. */
  read: Buffer
  /** That is all. */
  isOver: boolean
  /** Ids, as JSON, of requests in it that the client has answers to. */
  told: readonly string[]
}

interface RelayOptions {
  context: ClientContext
  key: ResidentKey
  place: ResidentPlace
  /** Of the user. */
  cacheDir: string
  input: Readable
  output: Writable
  /** Starts the client's log lines and the reasons of failures. */
  log: (text: string) => void
  /**
   * No resident can be had.
   * @param reason missing: this process is about to say it, as the resident failed at what it does, too
   */
  serveHere: (reason: string | undefined, taken: TakenInput) => void
  exit: (code: number) => void
  /** Replaced in tests. */
  pingMs?: number
}

export class Relay {
  readonly #options: RelayOptions
  readonly #pingMs: number
  readonly #kept: KeptAnswers
  readonly #open: OpenRequests
  readonly #onInput = (chunk: Buffer): void => this.#take(chunk)
  readonly #messages = new ClientLines({
    onValue: (value, source) => this.#clientMessage(value, Buffer.concat([source, NEWLINE])),
    // Before a resident has welcomed the client, what serves it in its place refuses the line again.
    onRefusal: (refusal) => this.#toClient(`${lineOf(refusal)}\n`),
  })
  readonly #fromClient = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine: (line) => {
      if (!isControl(line)) this.#messages.push(line)
    },
    onTooLong: (ends) => this.#messages.tooLong(ends) || this.end(1, 'a message of the client is too long'),
  })
  /** Everything that the client has said, until a resident has welcomed it for the first time. */
  #read: Buffer[] | undefined = []
  #socket: Socket | undefined
  #isConnected = false
  #isWelcome = false
  /** The resident has begun none of the calls that are open. */
  #isDone = false
  #withoutSince: number | undefined
  #startedAt = -Infinity
  #pinging: NodeJS.Timeout | undefined
  /** The client has said everything. It is still served by a resident that has not welcomed it yet. */
  #isInputOver = false
  readonly #piped = new PipedInput()
  /** It waits for its answers. */
  #waits = false
  #isEnding = false

  constructor(options: RelayOptions) {
    this.#options = options
    this.#pingMs = options.pingMs ?? PING_MS
    const { cacheDir, key, context } = options
    this.#kept = new KeptAnswers(cacheDir, key.name, context)
    this.#open = new OpenRequests(this.#kept, (line) => void options.output.write(line))
  }

  run(): void {
    const { input, output } = this.#options
    input.on('data', this.#onInput)
    input.once('end', () => this.#inputOver())
    input.once('error', () => this.#inputOver())
    output.once('error', () => this.end(0))
    // What the client has said is answered from kept answers before Node runs its code to connect for the first time.
    setImmediate(() => this.#connect())
  }

  #inputOver(): void {
    this.#isInputOver = true
    this.#waits = this.#piped.waits(this.#options.output, () => this.end(0))
    if (this.#waits) this.#take(NEWLINE)
    this.#leave()
  }

  #leave(): void {
    const isOver = this.#isInputOver && this.#read === undefined
    if (isOver && !(this.#waits && this.#open.areAwaited)) this.end(0)
  }

  #take(chunk: Buffer): void {
    this.#piped.heard()
    this.#read?.push(chunk)
    this.#fromClient.push(chunk)
  }

  #clientMessage(value: unknown, line: Buffer): void {
    if (!this.#open.fromClient(line, value)) return
    // Without a connection, requests are sent with the handshake of the next.
    if (!this.#isConnected || this.#socket?.write(line) !== false) return
    // Lines of the same chunk follow.
    if (this.#options.input.isPaused()) return
    this.#options.input.pause()
    this.#socket.once('drain', () => this.#options.input.resume())
  }

  #connect(): void {
    if (this.#isEnding) return
    const { place, context, key } = this.#options
    this.#isConnected = false
    this.#isWelcome = false
    this.#isDone = false
    let holder: bigint | undefined
    let late: NodeJS.Timeout | undefined
    const lines = createLineSplitter({
      maxBytes: MAX_ANSWER_BYTES,
      onLine: (line) => {
        if (this.#socket === socket) this.#residentLine(line)
        if (this.#isWelcome) clearTimeout(late)
      },
      onTooLong: () => socket.destroy(),
    })
    const socket = dial(place.socket, () => {
      socket.on('data', (chunk) => lines.push(chunk))
      holder = holderOf(place.home)
      this.#isConnected = true
      const since = performance.now()
      const isLate = (): void =>
        void this.#displace(socket, holder, since).then((stays) => {
          if (stays && !this.#isWelcome) late = setTimeout(isLate, this.#pingMs)
        })
      late = setTimeout(isLate, this.#pingMs)
      const { env, cwd, home, ownPaths } = context
      socket.write(controlLine({ hello: PROTOCOL, key: key.text, pid: process.pid, env, cwd, home, ownPaths }))
      for (const line of this.#open.again()) socket.write(line)
      this.#watch(socket, (heardAt) => void this.#displace(socket, holder, heardAt))
    })
    this.#socket = socket
    socket.on('error', ({ code = '', message }: NodeJS.ErrnoException) => {
      if (FORBIDDEN.has(code)) this.#giveUp(message)
    })
    socket.on('close', () => {
      clearTimeout(late)
      if (this.#socket === socket) this.#lost()
    })
  }

  /** Two pings without any word: the resident works on something, or hangs. */
  #watch(socket: Socket, onSilent: (since: number) => void): void {
    clearInterval(this.#pinging)
    let heard = true
    let missed = 0
    let before = performance.now()
    let since = before
    socket.on('data', () => {
      heard = true
      since = performance.now()
    })
    this.#pinging = setInterval(() => {
      const now = performance.now()
      // This process slept, too.
      const wasLate = now - before > 2 * this.#pingMs
      before = now
      missed = heard || wasLate ? 0 : missed + 1
      heard = false
      if (missed >= 2) onSilent(since)
      else if (!socket.destroyed) socket.write(controlLine({ ping: true }))
    }, this.#pingMs).unref()
  }

  /**
   * The resident accepts connections and says nothing. Unless it works, it loses its name, so no client comes to it any
   * more. It is not killed: its process id may be another's by now. It ends when it finds its name gone.
   * @returns whether it stays
   */
  async #displace(socket: Socket, holder: bigint | undefined, since: number): Promise<boolean> {
    const { home } = this.#options.place
    const { bytesRead } = socket
    // As long as the socket is open, the process id is the resident's.
    if ((await isBusy(pidLink(home))) && performance.now() - since < MAX_BUSY_MS) return true
    if (socket.destroyed || socket.bytesRead > bytesRead) return true
    if (holder !== undefined) displace(home, holder)
    socket.destroy()
    return false
  }

  #residentLine(line: Buffer): void {
    if (isControl(line)) return this.#control(readControl(line))
    const message = kindOf(line)
    if (message.kind === 'request') this.#open.asked(message.id)
    else if (message.kind === 'answer' && !this.#open.answered(message.id, line)) return
    this.#toClient(Buffer.concat([line, NEWLINE]))
    this.#leave()
  }

  #control({ welcome, refused, log, keep, done }: Record<string, unknown>): void {
    if (done === true) this.#isDone = true
    if (isRecord(keep)) this.#kept.keep(keep)
    if (typeof log === 'string') this.#options.log(log)
    if (typeof refused === 'string') this.#giveUp(refused)
    if (welcome === undefined) return
    this.#isWelcome = true
    this.#read = undefined
    this.#withoutSince = undefined
    this.#leave()
  }

  #toClient(data: Buffer | string): void {
    const { output } = this.#options
    const socket = this.#socket
    if (output.write(data) || !socket || socket.isPaused()) return
    socket.pause()
    output.once('drain', () => socket.resume())
  }

  #lost(): void {
    clearInterval(this.#pinging)
    const wasConnected = this.#isConnected
    this.#socket = undefined
    this.#isConnected = false
    if (this.#isEnding) return
    if (wasConnected) {
      for (const line of this.#open.lost(this.#isWelcome && !this.#isDone, tightMemory())) this.#toClient(line)
      this.#options.input.resume()
    }
    const now = performance.now()
    this.#withoutSince ??= now
    if (now - this.#withoutSince > START_MS)
      return this.#giveUp(`none could be started; see ${this.#options.place.log}`)
    if (now - this.#startedAt > START_AGAIN_MS) void this.#start(now)
    const isSlow = now - this.#withoutSince > 500
    setTimeout(() => this.#connect(), isSlow ? SLOW_RETRY_MS : RETRY_MS)
  }

  /** Loads what a relay that finds a resident never needs. */
  async #start(now: number): Promise<void> {
    this.#startedAt = now
    try {
      // Settings may have changed since this client began. A resident that another client has started serves it still.
      if ((await isOffInFile(this.#options.context)) && !this.#isConnected)
        return this.#giveUp('settings.json switches it off')
      const { mayStart, startResident } = await import('./start-resident.ts')
      if (mayStart(this.#options.place)) startResident(this.#options, (code) => this.#startFailed(code))
      else this.#startedAt = -Infinity
    } catch (error) {
      this.#giveUp(error instanceof Error ? error.message : String(error))
    }
  }

  /** One that was killed later is started again. */
  #startFailed(code: number | undefined): void {
    if (this.#isConnected || this.#read === undefined) return
    this.#giveUp(code === REPORTED ? undefined : `it ended at its start; see ${this.#options.place.log}`)
  }

  #giveUp(reason: string | undefined): void {
    if (this.#isEnding) return
    const text = reason && `The resident bridge cannot be used: ${reason}`
    this.#isEnding = true
    const { input, serveHere } = this.#options
    const read = this.#read ?? [...this.#open.again(), this.#fromClient.rest]
    clearInterval(this.#pinging)
    this.#socket?.destroy()
    input.off('data', this.#onInput)
    input.removeAllListeners('end')
    input.pause()
    serveHere(text, { read: Buffer.concat(read), isOver: this.#isInputOver, told: this.#open.told })
  }

  /** Ends with the client's process. The resident ends the session. */
  end(code: number, reason?: string): void {
    if (this.#isEnding) return
    this.#isEnding = true
    if (reason !== undefined) this.#options.log(`sandbridge: ${reason}\n`)
    const { exit } = this.#options
    const socket = this.#socket
    if (!socket || !this.#isConnected) {
      socket?.destroy()
      return exit(code)
    }
    // The resident ends the session, sends what is left, and closes.
    if (IS_WINDOWS) socket.write(controlLine({ over: true }))
    else socket.end()
    socket.once('close', () => exit(code))
    setTimeout(() => exit(code), END_MS)
  }
}
