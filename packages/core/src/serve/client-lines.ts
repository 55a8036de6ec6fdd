// The lines of a client, over stdio or through its relay: each JSON value in them, batches taken apart, and the answer
// to what cannot be read. Loads no MCP package, because a relay has none.
import { isUtf8 } from 'node:buffer'
import { answeredBy, leadingValues } from '../upstream/reading/read-text.ts'
import { UnfinishedMessage } from '../upstream/reading/unfinished-message.ts'
import { unreadable } from '../upstream/reading/lenient-message.ts'
import type { Awaited } from '../upstream/reading/open-requests.ts'
import { asUtf8 } from '../util/bytes/decode-text.ts'
import type { LineEnds } from '../util/bytes/line-splitter.ts'
import { exactJson, tryParseExact } from '../util/json/parse-exact.ts'
import { isRecord } from '../util/json/json.ts'
import { lineCost, MAX_MESSAGE_STRUCTURE } from '../util/json/line-cost.ts'
import { idAtEnds, type Refusal, refusal, refusalOfText, requestId } from './client-message.ts'

/** Of one message: nobody else is served while it is parsed. */
export const MAX_LINE_BYTES = 8 * 2 ** 20

/** The only revision with batches (MCP 2025-03-26, Base Protocol, Batching). */
const WITH_BATCHES = '2025-03-26'
/** How long a message may go on that is written over several lines. */
const NEXT_LINE_MS = 500

interface Options {
  /** Receives each JSON value, and its source without a line break. */
  onValue: (value: unknown, source: Buffer) => void
  onRefusal: (refusal: Refusal) => void
  /** The requests of the bridge that the client has not answered. */
  open?: Awaited
}

export class ClientLines {
  readonly #options: Options
  readonly #unfinished = new UnfinishedMessage(MAX_LINE_BYTES)
  #timer: NodeJS.Timeout | undefined
  #takesBatches = false

  constructor(options: Options) {
    this.#options = options
  }

  /** @param given a line without its line break */
  push(given: Buffer): void {
    const line = asUtf8(given)
    const text = line.toString()
    if (!isUtf8(line)) return this.#options.onRefusal(refusalOfText(text, 'not UTF-8'))
    const value = tryParseExact(text)
    if (value !== undefined) {
      this.#endUnfinished()
      return this.#take(value, line)
    }
    const { texts, rest } = leadingValues(text)
    if (texts.length === 0 && this.#unfinished.add(text)) {
      clearTimeout(this.#timer)
      if (this.#unfinished.isWhole) this.#endUnfinished()
      else this.#timer = setTimeout(() => this.#endUnfinished(), NEXT_LINE_MS)
      return
    }
    this.#endUnfinished()
    this.#takeParts(texts, rest)
  }

  /** @returns whether a line above the limit, of which these are the ends, could be refused: it says its id there */
  tooLong({ head, tail }: LineEnds): boolean {
    const [first, last] = [head, tail].map((text) => Buffer.from(text, 'latin1').toString())
    const id = idAtEnds(first!, last!)
    if (id !== null) this.#options.onRefusal(refusal(id, `it is longer than ${MAX_LINE_BYTES} bytes`))
    return id !== null
  }

  #endUnfinished(): void {
    clearTimeout(this.#timer)
    const { texts, rest } = leadingValues(this.#unfinished.take())
    this.#takeParts(texts, rest)
  }

  #takeParts(texts: string[], rest: string): void {
    for (const text of texts) this.#take(tryParseExact(text), Buffer.from(text))
    if (rest === '') return
    const { open, onValue, onRefusal } = this.#options
    const answered = open && answeredBy(rest, open)
    if (answered === undefined) return onRefusal(refusalOfText(rest))
    const failed = unreadable(answered, 'it is not JSON')
    onValue(failed, Buffer.from(JSON.stringify(failed)))
  }

  #take(value: unknown, source: Buffer): void {
    const { onValue, onRefusal } = this.#options
    const { tooCostly } = lineCost(source, MAX_MESSAGE_STRUCTURE)
    if (tooCostly !== undefined)
      return onRefusal(refusal(isRecord(value) ? requestId(value) : null, `it has ${tooCostly}`))
    if (!Array.isArray(value)) {
      if (isRecord(value) && value['method'] === 'initialize') {
        const { params } = value
        // Every revision with batches is one that the server supports: what the client asks for is what it gets.
        this.#takesBatches = isRecord(params) && params['protocolVersion'] === WITH_BATCHES
      }
      return onValue(value, source)
    }
    const batch: unknown[] = value
    // Each request gets its own response: one array for all would wait for the longest call.
    if (this.#takesBatches && batch.length > 0) return batch.forEach((one) => onValue(one, Buffer.from(exactJson(one))))
    const problem =
      batch.length === 0
        ? 'the batch is empty'
        : `only MCP ${WITH_BATCHES} has batches; send each message on its own line`
    const ids = batch.filter((one) => isRecord(one)).flatMap((one) => requestId(one) ?? [])
    for (const id of ids.length > 0 ? ids : [null]) onRefusal(refusal(id, problem))
  }
}
