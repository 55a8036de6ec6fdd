// The bridge's link to the first process of a kept sandbox (sandbox_keeper.py). Continues over a new connection where
// possible; both sides notice only the delay.
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '@sandbridge/core/errors.ts'
import { withTimeout } from '@sandbridge/core/util/async'
import { createLineSplitter } from '@sandbridge/core/util/bytes'
import type { Hello } from './hello.ts'
import { NumberedLines } from './numbered-lines.ts'
import { encodeLine, SentLines } from './sent-lines.ts'

/** A connection to the first process. */
export interface Connection {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Resolves with the reason. Never rejects. */
  readonly ended: Promise<string>
  close(): void
}

interface LinkOptions {
  connection: Connection
  /** Greater than that of every earlier bridge. */
  generation: number
  /** What a new sandbox reads first. */
  preamble?: Buffer | undefined
  helloMs: number
  /** Opens a new connection. Missing: the sandbox ends with its first connection. @throws SandboxGone */
  reconnect?: (() => Promise<Connection>) | undefined
}

/** Why the link has ended. */
export interface LinkEnd {
  how: 'closed' | 'taken' | 'lost' | 'gone' | 'faulty'
  detail: string
}

/** The sandbox no longer exists. */
export class SandboxGone extends Error {
  override readonly name = 'SandboxGone'
}

/** The connection works, but the sandbox does not answer. */
export class KeeperSilent extends Error {
  override readonly name = 'KeeperSilent'

  constructor(ms: number) {
    super(`the sandbox did not answer within ${ms / 1000} s`)
  }
}

/** The sandbox follows another bridge. */
export class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted'
  readonly hello: Hello

  constructor(hello: Hello) {
    super('another bridge has the sandbox')
    this.hello = hello
  }
}

/** With more unacknowledged bytes, a frame waits. */
const MAX_HELD_BYTES = 1 << 20
/** Heartbeat interval. The first process treats a bridge as gone after three intervals of silence. */
const BEAT_MS = 2_000
/** The connection is given up after this much silence. */
const SILENT_MS = 15_000
/** How long to try to reconnect. */
const RECONNECT_MS = 90_000
const RECONNECT_AGAIN_MS = { first: 200, most: 2_000 }
const RE_HELLO_MS = 3_000
/** How long an acknowledgement waits for a line to go with. */
const ACKNOWLEDGE_MS = 20

export class KeeperLink {
  /** Never rejects. */
  readonly ended: Promise<LinkEnd>
  readonly #options: LinkOptions
  readonly #sent: SentLines
  readonly #lines: NumberedLines
  readonly #splitter = createLineSplitter({
    maxBytes: Infinity,
    onLine: (line) => this.send(line),
    onTooLong: () => {},
  })
  #end!: (end: LinkEnd) => void
  #hasEnded = false
  #connection: Connection | undefined
  #attempt = 0
  #onHello: ((hello: Hello) => void) | undefined
  #heardAt = performance.now()
  #beating: NodeJS.Timeout | undefined
  #whenRoom: (() => void)[] = []
  /** The latest frame, if it is not acknowledged yet. */
  #unsaid: number | undefined
  #saying: NodeJS.Timeout | undefined

  private constructor(options: LinkOptions) {
    this.#options = options
    this.#sent = new SentLines(options.generation)
    this.#lines = new NumberedLines({
      onHello: (hello) => this.#meet(hello),
      onGot: (number, isMissing) => this.#heardOf(number, isMissing),
      acknowledge: (frame, how) => this.#acknowledge(frame, how),
      onFault: (reason) => this.#finish({ how: 'faulty', detail: `sent ${reason}` }),
    })
    this.ended = new Promise((resolve) => {
      this.#end = (end) => {
        this.#hasEnded = true
        clearInterval(this.#beating)
        clearTimeout(this.#saying)
        this.#lines.end()
        for (const go of this.#whenRoom) go()
        resolve(end)
      }
    })
  }

  /** Introduce this bridge to the sandbox. @throws NotAdmitted, or Error if there is no answer */
  static async open(options: LinkOptions): Promise<{ link: KeeperLink; hello: Hello }> {
    const link = new KeeperLink(options)
    const { connection, preamble, helloMs } = options
    if (preamble) connection.stdin.write(preamble)
    try {
      const hello = await link.#introduce(connection, helloMs)
      if (options.reconnect) link.#beating = setInterval(() => link.#beat(), BEAT_MS).unref()
      return { link, hello }
    } catch (error) {
      link.#finish({ how: 'closed', detail: messageOf(error) })
      connection.close()
      throw error
    }
  }

  get frames(): Readable {
    return this.#lines.frames
  }

  get endCode(): number | undefined {
    return this.#lines.endCode
  }

  get lastFrame(): number {
    return this.#lines.last
  }

  /** True if nothing was heard since `time`, although it could have been. @param time from `performance.now()` */
  isSilentSince(time: number): boolean {
    return this.#heardAt < time && !this.#lines.isPaused
  }

  /** Send a line, now or after reconnecting. @returns its number */
  send(text: string | Buffer): number {
    if (this.#unsaid !== undefined) this.#write(`ack ${this.#unsaid}`)
    this.#unsaid = undefined
    this.#write(text)
    return this.#sent.last
  }

  /** Lines sent in one turn of the event loop are written together. */
  #write(text: string | Buffer): void {
    const bytes = this.#sent.add(text)
    const stdin = this.#connection?.stdin
    if (!stdin) return
    stdin.cork()
    stdin.write(bytes)
    process.nextTick(() => stdin.uncork())
  }

  #acknowledge(frame: number, how: 'soon' | 'now' | 'confirmed'): number {
    if (how === 'soon') {
      this.#unsaid = frame
      this.#saying ??= setTimeout(() => {
        this.#saying = undefined
        if (this.#unsaid !== undefined) this.#acknowledge(this.#unsaid, 'now')
      }, ACKNOWLEDGE_MS).unref()
      return 0
    }
    this.#unsaid = undefined
    return this.send(how === 'now' ? `ack ${frame}` : `ack ${frame} confirm`)
  }

  /** Send complete lines. @param done called when more can be sent */
  sendLines(chunk: Buffer, done: () => void): void {
    this.#splitter.push(chunk)
    if (this.#hasEnded || this.#sent.heldBytes < MAX_HELD_BYTES) done()
    else this.#whenRoom.push(done)
  }

  /** Resolves when the sandbox has received everything, or the link has ended. */
  async flushed(): Promise<void> {
    while (!this.#hasEnded && this.#sent.heldBytes > 0) await sleep(5, undefined, { ref: false })
  }

  close(): void {
    this.#finish({ how: 'closed', detail: '' })
  }

  #finish(end: LinkEnd): void {
    if (this.#hasEnded) return
    this.#end(end)
    this.#connection?.close()
    this.#connection = undefined
  }

  async #introduce(connection: Connection, ms: number): Promise<Hello> {
    this.#attempt += 1
    const { generation } = this.#options
    connection.stdin.on('error', () => {})
    connection.stdout.on('error', () => {})
    const answered = new Promise<Hello>((resolve) => (this.#onHello = resolve))
    this.#lines.readFrom(connection.stdout)
    // An earlier connection may have left half a line.
    connection.stdin.write('\n')
    connection.stdin.write(encodeLine(generation, 0, `attach ${this.#attempt} ${this.#lines.last}`))
    const hello = await within(answered, connection, ms).finally(() => (this.#onHello = undefined))
    if (hello.generation !== generation) throw new NotAdmitted(hello)
    this.#connection = connection
    this.#heardAt = performance.now()
    for (const line of this.#sent.held()) connection.stdin.write(line)
    void connection.ended.then((reason) => this.#lose(connection, reason))
    return hello
  }

  /** @returns whether the following frames are for this bridge */
  #meet(hello: Hello): boolean {
    const { generation } = this.#options
    if (hello.generation > generation && !this.#onHello) {
      this.#finish({ how: 'taken', detail: 'Another bridge has taken over the sandbox' })
      return false
    }
    if (hello.attempt !== this.#attempt || !this.#onHello) return false
    if (hello.generation === generation) this.#lines.confirm(hello.got)
    this.#onHello(hello)
    return hello.generation === generation
  }

  #heardOf(number: number, isMissing: boolean): void {
    this.#heardAt = performance.now()
    this.#sent.got(number)
    if (isMissing) for (const line of this.#sent.held()) this.#connection?.stdin.write(line)
    if (this.#sent.heldBytes >= MAX_HELD_BYTES) return
    const waiting = this.#whenRoom
    this.#whenRoom = []
    for (const go of waiting) go()
  }

  #beat(): void {
    if (!this.#connection) return
    this.send('beat')
    if (performance.now() - this.#heardAt < SILENT_MS || this.#lines.isPaused) return
    const connection = this.#connection
    connection.close()
    this.#lose(connection, `it has not answered for ${SILENT_MS / 1000} s`)
  }

  #lose(connection: Connection, reason: string): void {
    if (this.#connection !== connection || this.#hasEnded) return
    this.#connection = undefined
    const { reconnect } = this.#options
    // A process that ended has reported its exit code, if it could.
    if (!reconnect || this.endCode !== undefined) this.#finish({ how: 'gone', detail: reason })
    else void this.#reconnect(reconnect, reason)
  }

  async #reconnect(reconnect: () => Promise<Connection>, reason: string): Promise<void> {
    const startedAt = performance.now()
    for (let pauseMs = RECONNECT_AGAIN_MS.first; !this.#hasEnded;) {
      let connection: Connection | undefined
      try {
        connection = await reconnect()
        if (this.#hasEnded) return connection.close()
        await this.#introduce(connection, RE_HELLO_MS)
        return
      } catch (error) {
        connection?.close()
        if (error instanceof SandboxGone) return this.#finish({ how: 'gone', detail: error.message })
        if (error instanceof NotAdmitted) return this.#finish({ how: 'taken', detail: error.message })
        if (performance.now() - startedAt > RECONNECT_MS) {
          return this.#finish({ how: 'lost', detail: `${reason}; ${messageOf(error)}` })
        }
      }
      await sleep(pauseMs, undefined, { ref: false })
      pauseMs = Math.min(pauseMs * 2, RECONNECT_AGAIN_MS.most)
    }
  }
}

/** Asks a sandbox for its state without taking it. @throws Error if it does not answer */
export async function askKeeper(connection: Connection, ms: number): Promise<Hello> {
  let answer: ((hello: Hello) => void) | undefined
  const answered = new Promise<Hello>((resolve) => (answer = resolve))
  const lines = new NumberedLines({
    onHello: (hello) => {
      answer?.(hello)
      return false
    },
    onGot: () => {},
    acknowledge: () => 0,
    onFault: () => {},
  })
  lines.readFrom(connection.stdout)
  connection.stdin.write(Buffer.concat([Buffer.from('\n'), encodeLine(0, 0, 'ask 0')]))
  try {
    return await within(answered, connection, ms)
  } finally {
    // Frames after the hello are for another bridge.
    lines.end()
  }
}

function within(answered: Promise<Hello>, { ended }: Connection, ms: number): Promise<Hello> {
  const lost = ended.then((reason) => Promise.reject(new Error(reason || 'the connection ended')))
  return withTimeout(Promise.race([answered, lost]), ms, (): never => {
    throw new KeeperSilent(ms)
  })
}
