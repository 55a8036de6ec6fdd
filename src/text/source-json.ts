// The JSON that a large answer of a server came as, kept beside its value: where that is passed on as it is, the bridge need not write 50 MB anew,
// which is a third of its work. Pure.
import { isUtf8 } from 'node:buffer'
import { isRecord } from './json.ts'
import { isOneBracket } from './line-cost.ts'

/** Of what is shorter, finding out takes as long as writing. */
const MIN_BYTES = 256 * 1024

const sources = new WeakMap<object, Buffer>()

/**
 * Keep the JSON of a result, if the line has nothing else between the two ends that servers write.
 * @param line what `message` was parsed from
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
    // Parsing has put other characters in the place of what is no UTF-8.
    if (isOneBracket(source) && isUtf8(source)) sources.set(message.result, source)
    return
  }
}

/** The JSON that this very object was parsed from. */
export function sourceOf(value: unknown): Buffer | undefined {
  return isRecord(value) ? sources.get(value) : undefined
}
