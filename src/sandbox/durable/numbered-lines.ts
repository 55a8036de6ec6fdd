// Frames with numbers, from the first process of a kept sandbox. Each is acknowledged before anybody gets it: a call that was acknowledged may have
// been made, one that was not is sent again to the next bridge. A number that cannot be right ends the sandbox.
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { createLineSplitter } from '../../process/line-splitter.ts'
import { MAX_HELLO_BYTES } from './hello.ts'

/** With its number. */
const MAX_LINE_BYTES = 64 * 1024 * 1024 + 32
/** A decimal number below 2^53, and a space. */
const NUMBERED = /^(0|[1-9]\d{0,14}) /
const MAX_PREFIX_BYTES = 17
/** Of frames that are not with their reader yet: with more, nothing is read. */
const MAX_WAITING_BYTES = 1 << 20
const LF = Buffer.from('\n')

export class NumberedLines {
  /** The frames as an ordinary kernel sends them. */
  readonly frames: Readable
  /** The exit code that the first process has told. */
  endCode: number | undefined
  readonly #socket: Socket
  readonly #onFault: (reason: string) => void
  readonly #splitter = createLineSplitter({
    maxBytes: MAX_LINE_BYTES,
    onLine: (line) => this.#take(line),
    onTooLong: ({ bytes }) => this.#fault(`a line of ${bytes} bytes`),
  })
  #arrived: Buffer[] = []
  #last = 0
  #acknowledged = 0
  #hasFaulted = false
  /** Bytes of frames whose acknowledgement has not been written. */
  #waitingBytes = 0
  #isWanted = true

  constructor(socket: Socket, onFault: (reason: string) => void) {
    this.#socket = socket
    this.#onFault = onFault
    this.frames = new Readable({
      highWaterMark: MAX_WAITING_BYTES,
      read: () => {
        this.#isWanted = true
        this.#flow()
      },
    })
    socket.on('data', (chunk: Buffer) => this.push(chunk))
    socket.once('close', () => this.frames.push(null))
  }

  /** The number of the frame that came last. */
  get last(): number {
    return this.#last
  }

  push(chunk: Buffer): void {
    if (this.#hasFaulted) return
    this.#splitter.push(chunk)
    const frames = this.#arrived
    this.#arrived = []
    if (frames.length === 0) return
    const data = Buffer.concat(frames)
    if (this.#last === this.#acknowledged) return this.#deliver(data)
    this.#acknowledged = this.#last
    this.#waitingBytes += data.length
    // Once the system has it, the sandbox gets it, even if this process ends now.
    this.#socket.write(`ack ${this.#last}\n`, (error) => {
      this.#waitingBytes -= data.length
      if (!error) this.#deliver(data)
    })
    this.#flow()
  }

  #deliver(data: Buffer): void {
    if (this.#hasFaulted || this.#socket.closed) return
    this.#isWanted = this.frames.push(data)
    this.#flow()
  }

  /** One that sends and does not read fills no memory of this process. */
  #flow(): void {
    if (this.#isWanted && this.#waitingBytes < MAX_WAITING_BYTES) this.#socket.resume()
    else this.#socket.pause()
  }

  #take(line: Buffer): void {
    if (this.#hasFaulted) return
    const start = line.toString('latin1', 0, MAX_PREFIX_BYTES)
    const [prefix, digits] = NUMBERED.exec(start) ?? []
    if (prefix === undefined || digits === undefined) return this.#takeWord(line)
    const number = Number(digits)
    // 0 is the `ready` frame, which every bridge gets.
    if (number !== 0 && number <= this.#last) return this.#fault(`frame ${number} after frame ${this.#last}`)
    if (number !== 0) this.#last = number
    this.#arrived.push(line.subarray(prefix.length), LF)
  }

  #takeWord(line: Buffer): void {
    const [, code] = /^end (\d{1,3})$/.exec(line.length < MAX_HELLO_BYTES ? line.toString('latin1') : '') ?? []
    if (code === undefined) this.#fault('a line without a number')
    else this.endCode = Number(code)
  }

  #fault(reason: string): void {
    if (this.#hasFaulted) return
    this.#hasFaulted = true
    this.#arrived = []
    this.#onFault(reason)
  }
}
