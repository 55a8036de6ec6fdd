// Encodes and decodes frames: one JSON object per line, ended by LF only. Invalid lines affect no other. Pure.
import { BridgeError } from '../../errors.ts'
import { Malformed, readerOf } from './field-kinds.ts'
import { type BridgeFrame, type KernelFrame, MAX_FRAME_BYTES, KERNEL_FRAMES } from './frames.ts'
import { exactJson } from '../../util/json/exact-json.ts'
import { lineCost, MAX_INEXACT_STRUCTURE, MAX_NESTING } from '../../util/json/line-cost.ts'
import { isInexact, parseExact } from '../../util/json/parse-exact.ts'
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

/** Splits a byte stream into frames. Scans each byte once, however the stream is chunked. */
export class FrameDecoder {
  readonly #onFrame: FrameDecoderOptions['onFrame']
  readonly #onMalformed: (reason: string) => void
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #partsBytes = 0
  /** Inside a line that is already too long: drop until its LF. */
  #skipping = false
  #stopped = false

  constructor(options: FrameDecoderOptions) {
    this.#onFrame = options.onFrame
    this.#onMalformed = options.onMalformed
    this.#maxBytes = options.maxBytes ?? MAX_FRAME_BYTES
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1 && !this.#stopped; end = chunk.indexOf(LF, start)) {
      this.#keep(chunk.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    if (start < chunk.length && !this.#stopped) this.#keep(chunk.subarray(start))
  }

  /** Stop reading, including the rest of the current chunk. */
  stop(): void {
    this.#stopped = true
    this.#parts = []
  }

  #keep(part: Buffer): void {
    if (this.#skipping) return
    this.#partsBytes += part.length
    if (this.#partsBytes < this.#maxBytes) {
      this.#parts.push(part)
      return
    }
    this.#parts = []
    this.#skipping = true
  }

  #endLine(): void {
    const line = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    const tooLong = this.#skipping
    this.#parts = []
    this.#partsBytes = 0
    this.#skipping = false
    if (tooLong) {
      this.#onMalformed(`longer than ${this.#maxBytes} bytes`)
      return
    }
    const { structure, tooCostly } = lineCost(line)
    if (tooCostly !== undefined) {
      this.#onMalformed(tooCostly)
      return
    }
    const text = line.toString('utf8')
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
    this.#onFrame(frame, line.length + structure * BYTES_PER_STRUCTURE)
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
