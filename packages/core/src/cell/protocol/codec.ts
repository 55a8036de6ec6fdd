// Encodes and decodes frames: one JSON object per line, ended by LF only. Invalid lines affect no other.
import { StringDecoder } from 'node:string_decoder'
import { BridgeError } from '../../errors.ts'
import { beginLongWork, LONG_BYTES } from '../../util/async/wait.ts'
import { Malformed, readerOf } from './field-kinds.ts'
import { type BridgeFrame, type KernelFrame, MAX_FRAME_BYTES, KERNEL_FRAMES } from './frames.ts'
import { exactJson, isInexact, parseExact } from '../../util/json/parse-exact.ts'
import { JsonCost, lineCost, MAX_INEXACT_STRUCTURE, MAX_NESTING } from '../../util/json/line-cost.ts'
import { sourceOf } from '../../util/json/source-json.ts'
import { isRecord } from '../../util/json/json.ts'

const LF = 0x0a

/** Approximate memory of a list, object or member, besides its text. */
const BYTES_PER_STRUCTURE = 64
/** Most UTF-8 bytes per UTF-16 code unit. */
const BYTES_PER_CHARACTER = 3

/**
 * Encodes a frame as a line: a string, or a Buffer if its bytes had to be checked.
 * @throws BridgeError FRAME_TOO_LARGE if it is too long, or has more lists and objects than the sandbox's Python should
 * create
 */
export function encodeFrame(frame: BridgeFrame, maxBytes = MAX_FRAME_BYTES): string | Buffer {
  if (frame.type === 'reply' && 'value' in frame) {
    const source = sourceOf(frame.value)
    if (source) {
      const head = Buffer.from(`{"type":"reply","id":${frame.id},"value":`)
      // The structure was checked when the value was read.
      return withinLength(Buffer.concat([head, source, Buffer.from('}\n')]), maxBytes)
    }
  }
  const text = `${exactJson(frame)}\n`
  // A text this short cannot exceed the limits on structure.
  if (text.length <= Math.min(MAX_NESTING, maxBytes / BYTES_PER_CHARACTER)) return text
  const bytes = withinLength(Buffer.from(text), maxBytes)
  const { tooCostly } = frame.type === 'reply' ? lineCost(bytes) : {}
  if (tooCostly !== undefined) {
    throw new BridgeError('FRAME_TOO_LARGE', `The data cannot be sent to the sandbox: it has ${tooCostly}`)
  }
  return bytes
}

/** @throws BridgeError FRAME_TOO_LARGE */
function withinLength(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length <= maxBytes) return bytes
  throw new BridgeError('FRAME_TOO_LARGE', `The data is ${bytes.length} bytes long as JSON; the limit is ${maxBytes}`)
}

interface FrameDecoderOptions {
  /** `bytes` is the approximate memory that the frame takes. */
  onFrame: (frame: KernelFrame, bytes: number) => void
  /** Called with the reason a line was dropped. */
  onMalformed: (reason: string) => void
  maxBytes?: number
}

/** Splits a byte stream into frames. Scans and decodes each byte once, as soon as it arrives. */
export class FrameDecoder {
  readonly #onFrame: FrameDecoderOptions['onFrame']
  readonly #onMalformed: (reason: string) => void
  readonly #maxBytes: number
  readonly #cost = new JsonCost()
  readonly #characters = new StringDecoder()
  /** Of the line that has begun. */
  #text = ''
  #bytes = 0
  /** Why the line is dropped. */
  #problem: string | undefined
  #stopped = false

  constructor(options: FrameDecoderOptions) {
    this.#onFrame = options.onFrame
    this.#onMalformed = options.onMalformed
    this.#maxBytes = options.maxBytes ?? MAX_FRAME_BYTES
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1 && !this.#stopped; end = chunk.indexOf(LF, start)) {
      this.#endLine(chunk.subarray(start, end))
      start = end + 1
    }
    if (start === chunk.length || this.#stopped) return
    const part = chunk.subarray(start)
    this.#count(part)
    this.#text = this.#problem === undefined ? this.#text + this.#characters.write(part) : ''
  }

  /** Stop reading, including the rest of the current chunk. */
  stop(): void {
    this.#stopped = true
    this.#text = ''
  }

  #count(part: Buffer): void {
    this.#bytes += part.length
    if (this.#bytes >= this.#maxBytes) this.#problem = `longer than ${this.#maxBytes} bytes`
    this.#problem ??= this.#cost.push(part)
  }

  #endLine(part: Buffer): void {
    const isWhole = this.#bytes === 0
    this.#count(part)
    const [problem, bytes, { structure }] = [this.#problem, this.#bytes, this.#cost]
    const text = isWhole && problem === undefined ? part.toString() : this.#text + this.#characters.end(part)
    this.#problem = undefined
    this.#text = ''
    this.#bytes = 0
    this.#cost.reset()
    if (problem !== undefined) {
      this.#onMalformed(problem)
      return
    }
    if (bytes > LONG_BYTES) beginLongWork()
    if (structure > MAX_INEXACT_STRUCTURE && isInexact(text)) {
      this.#onMalformed(`more than ${MAX_INEXACT_STRUCTURE} of the characters [ ] { } : , beside numbers such as 3.0`)
      return
    }
    let frame: KernelFrame
    try {
      frame = checkFrame(parseExact(text))
    } catch (error) {
      this.#onMalformed(error instanceof Malformed ? error.message : 'not JSON')
      return
    }
    this.#onFrame(frame, bytes + structure * BYTES_PER_STRUCTURE)
  }
}

const READERS = new Map(Object.entries(KERNEL_FRAMES).map(([type, fields]) => [type, readerOf(fields)]))

/** Returns the frame with its known fields. @throws Malformed with the reason why it is invalid */
export function checkFrame(json: unknown): KernelFrame {
  if (!isRecord(json)) throw new Malformed('not an object')
  const read = READERS.get(json['type'] as string)
  if (!read) throw new Malformed('type: not one that a kernel sends')
  return read(json, { type: json['type'] }) as KernelFrame
}
