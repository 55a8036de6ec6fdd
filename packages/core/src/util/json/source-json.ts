// Keeps the JSON source of a server's large result beside its parsed value. If the value is passed on unchanged, the
// bridge need not serialise 50 MB again, which is a third of the work. Pure.
import { isUtf8 } from 'node:buffer'
import { isRecord } from './json.ts'
import { isOneBracket } from './line-cost.ts'

/** For shorter results, checking takes as long as serialising. */
const MIN_BYTES = 256 * 1024

const sources = new WeakMap<object, Buffer>()

/**
 * Keeps the JSON of a result if the rest of the line is one of the two forms that servers write.
 * @param line the source of `message`
 */
export function keepResultSource(message: object, line: Buffer): void {
  if (line.length < MIN_BYTES || !('id' in message) || !('result' in message) || !isRecord(message.result)) return
  const id = JSON.stringify(message.id)
  for (const [head, tail] of [
    [`{"jsonrpc":"2.0","id":${id},"result":`, '}'],
    ['{"result":', `,"jsonrpc":"2.0","id":${id}}`],
  ] as const) {
    const end = line.length - tail.length
    if (line.toString('latin1', 0, head.length) !== head || line.toString('latin1', end) !== tail) continue
    const source = line.subarray(head.length, end)
    // Parsing replaces invalid UTF-8, so the value would differ from the source.
    if (isOneBracket(source) && isUtf8(source)) sources.set(message.result, source)
    return
  }
}

/** Keeps the JSON of a value, on one line, that says more than the value, such as an integer beyond 2^53. */
export function keepSource(value: object, json: string): void {
  sources.set(value, Buffer.from(json))
}

/** Returns the JSON from which this object was parsed. */
export function sourceOf(value: unknown): Buffer | undefined {
  return isRecord(value) ? sources.get(value) : undefined
}
