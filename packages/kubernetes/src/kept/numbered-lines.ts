// Reads numbered frames from the first process of a kept sandbox. It passes a call on only after the sandbox has marked
// it as possibly made: with the call itself, or by confirming that the call was acknowledged. A marked call is never
// offered to another bridge, so no call is made twice. A number that cannot be right ends the sandbox.
import { Readable } from 'node:stream'
import { createLineSplitter, type LineSplitter } from '@sandbridge/core/util/bytes'
import { type Hello, MAX_HELLO_BYTES, parseHello } from './hello.ts'

/** Includes the number. */
const MAX_LINE_BYTES = 64 * 1024 * 1024 + 32
/** A decimal number below 2^53, a mark if the frame may be acted on at once, and a space. */
const NUMBERED = /^(0|[1-9]\d{0,14})(!?) /
const MAX_PREFIX_BYTES = 18
/** Most bytes not yet passed to the reader; beyond this, reading pauses. */
const MAX_WAITING_BYTES = 1 << 20
/** The sandbox waits for acknowledgements before it sends more than this. */
const MAX_UNCONFIRMED_BYTES = MAX_LINE_BYTES + 16 * MAX_WAITING_BYTES
/** Bytes of frames to acknowledge with the next sent line; more are acknowledged at once. */
const MAX_UNACKNOWLEDGED_BYTES = 1 << 18
const LF = Buffer.from('\n')
/** The start of a call frame, as kernels write it. */
const CALL = Buffer.from('{"type":"call"')

export interface NumberedLinesOptions {
  /** @returns whether the following frames are for this bridge */
  onHello: (hello: Hello) => boolean
  /** The sandbox has received all lines up to `number`. @param isMissing it requests the lines after that */
  onGot: (number: number, isMissing: boolean) => void
  /**
   * Acknowledge all frames up to `frame`: soon, now, or with an immediate confirmation.
   * @returns the number of the line that it will confirm
   */
  acknowledge: (frame: number, how: 'soon' | 'now' | 'confirmed') => number
  onFault: (reason: string) => void
}

interface Batch {
  data: Buffer
  /** Number of the line that must be confirmed first. */
  confirmedBy: number
}

export class NumberedLines {
  /** The frames as an ordinary kernel sends them. */
  readonly frames: Readable
  /** Exit code reported by the first process. */
  endCode: number | undefined
  readonly #options: NumberedLinesOptions
  #source: Readable | undefined
  #splitter: LineSplitter
  /** Before the hello, lines are for another bridge, or the rest of a line. */
  #hasMet = false
  #arrived: Buffer[] = []
  /** They include a call that must not be made yet. */
  #hasHeldCall = false
  #last = 0
  #acknowledged = 0
  #unacknowledgedBytes = 0
  #confirmed = 0
  #hasFaulted = false
  #hasEnded = false
  /** Frames not yet passed on. */
  #waiting: Batch[] = []
  #waitingBytes = 0
  #isWanted = true

  constructor(options: NumberedLinesOptions) {
    this.#options = options
    this.#splitter = this.#newSplitter()
    this.frames = new Readable({
      highWaterMark: MAX_WAITING_BYTES,
      read: () => {
        this.#isWanted = true
        this.#flow()
      },
    })
  }

  /** Number of the latest frame. */
  get last(): number {
    return this.#last
  }

  /** True while the reader is behind: the connection may hold unread data. */
  get isPaused(): boolean {
    return this.#source?.isPaused() ?? false
  }

  /** Read lines from a new connection from now on. */
  readFrom(source: Readable): void {
    this.#source = source
    this.#splitter = this.#newSplitter()
    this.#hasMet = false
    source.on('data', (chunk: Buffer) => {
      if (this.#source === source && !this.#hasEnded) this.push(chunk)
    })
    this.#flow()
  }

  /** Nothing more will arrive. */
  end(): void {
    this.#hasEnded = true
    this.frames.push(null)
  }

  push(chunk: Buffer): void {
    if (this.#hasFaulted) return
    this.#splitter.push(chunk)
    const frames = this.#arrived
    this.#arrived = []
    if (frames.length === 0) return
    const data = Buffer.concat(frames)
    const line = this.#acknowledge(data.length)
    this.#waiting.push({ data, confirmedBy: this.#hasHeldCall ? line : 0 })
    this.#hasHeldCall = false
    this.#waitingBytes += data.length
    if (this.#waitingBytes > MAX_UNCONFIRMED_BYTES) return this.#fault('frames without taking acknowledgements')
    this.#deliver()
  }

  #acknowledge(bytes: number): number {
    if (this.#last === this.#acknowledged) return 0
    this.#acknowledged = this.#last
    this.#unacknowledgedBytes += bytes
    const isMuch = this.#unacknowledgedBytes > MAX_UNACKNOWLEDGED_BYTES
    if (isMuch || this.#hasHeldCall) this.#unacknowledgedBytes = 0
    return this.#options.acknowledge(this.#last, this.#hasHeldCall ? 'confirmed' : isMuch ? 'now' : 'soon')
  }

  #deliver(): void {
    while (this.#waiting[0] && this.#waiting[0].confirmedBy <= this.#confirmed) {
      const { data } = this.#waiting.shift()!
      this.#waitingBytes -= data.length
      if (!this.#hasFaulted && !this.#hasEnded) this.#isWanted = this.frames.push(data)
    }
    this.#flow()
  }

  /**
   * Limits memory when a sandbox sends faster than it is read. Before the hello, reads everything, since nothing is
   * known about the lines.
   */
  #flow(): void {
    if (!this.#hasMet || (this.#isWanted && this.#waitingBytes < MAX_WAITING_BYTES)) this.#source?.resume()
    // While frames wait, keep reading: confirmations arrive over the same connection.
    else if (this.#waiting.length === 0) this.#source?.pause()
  }

  #newSplitter(): LineSplitter {
    return createLineSplitter({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.#take(line),
      onTooLong: ({ bytes }) => {
        if (this.#hasMet) this.#fault(`a line of ${bytes} bytes`)
      },
    })
  }

  #take(line: Buffer): void {
    if (this.#hasFaulted) return
    const start = line.toString('latin1', 0, MAX_PREFIX_BYTES)
    if (start.startsWith('hello ')) return this.#takeHello(line)
    if (!this.#hasMet) return
    const [prefix, digits, mark] = NUMBERED.exec(start) ?? []
    if (prefix === undefined || digits === undefined) return this.#takeWord(line)
    const number = Number(digits)
    // 0 is the `ready` frame, which every bridge receives.
    if (number !== 0 && number <= this.#last) return this.#fault(`frame ${number} after frame ${this.#last}`)
    if (number !== 0) this.#last = number
    const frame = line.subarray(prefix.length)
    this.#hasHeldCall ||= mark === '' && frame.subarray(0, CALL.length).equals(CALL)
    this.#arrived.push(frame, LF)
  }

  #takeHello(line: Buffer): void {
    const hello = line.length <= MAX_HELLO_BYTES ? parseHello(line.toString('latin1')) : undefined
    if (hello) this.#hasMet = this.#options.onHello(hello) || this.#hasMet
    else this.#fault('an invalid hello')
  }

  #takeWord(line: Buffer): void {
    const [, word, digits] =
      /^(end|got|again) (\d{1,15})$/.exec(line.length < MAX_HELLO_BYTES ? line.toString('latin1') : '') ?? []
    if (word === undefined) return this.#fault('a line without a number')
    const number = Number(digits)
    if (word === 'end') this.endCode = number
    else this.confirm(number, word === 'again')
  }

  /** The sandbox has received all lines of this bridge up to `number`. */
  confirm(number: number, isMissing = false): void {
    this.#confirmed = Math.max(this.#confirmed, number)
    this.#options.onGot(number, isMissing)
    this.#deliver()
  }

  #fault(reason: string): void {
    if (this.#hasFaulted) return
    this.#hasFaulted = true
    this.#arrived = []
    this.#waiting = []
    this.#options.onFault(reason)
  }
}
