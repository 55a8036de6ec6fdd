// Keeps the JSON source of a server's result beside its value: of a large one, as writing 50 MB again is a third of the
// work; and of one that says more than what JavaScript makes of it. Pure.
import { isUtf8 } from 'node:buffer'
import { markBigInts, losesByParsing, memberJson, parseExact } from './parse-exact.ts'
import { isRecord } from './json.ts'
import { isOneBracket } from './line-cost.ts'

/** For shorter results, checking takes as long as serialising. */
const MIN_BYTES = 256 * 1024

const sources = new WeakMap<object, Buffer>()
/** Not checked yet: what nobody passes on, such as a list of tools, needs none. */
const unchecked = new WeakMap<object, Buffer>()

/** Keeps the JSON of a result if the rest of `line` is one of the two forms that servers write. */
export function keepResultSource(message: object, line: Buffer): void {
  if (line.length < MIN_BYTES || !('id' in message) || !('result' in message) || !isRecord(message.result)) return
  const id = JSON.stringify(message.id)
  for (const [head, tail] of [
    [`{"jsonrpc":"2.0","id":${id},"result":`, '}'],
    ['{"result":', `,"jsonrpc":"2.0","id":${id}}`],
  ] as const) {
    const end = line.length - tail.length
    if (line.toString('latin1', 0, head.length) !== head || line.toString('latin1', end) !== tail) continue
    unchecked.set(message.result, line.subarray(head.length, end))
    return
  }
}

/** Keeps the JSON of a value that says more than the value, such as an integer beyond 2^53 or a float that is whole. */
export function keepSource(value: object, json: string): void {
  // Line breaks are outside of strings, and end a frame. Python reads no longer integer.
  if (!/\d{4300}/.test(json)) sources.set(value, Buffer.from(json.replaceAll(/[\r\n]+/g, ' ')))
}

/** Where the client package, which copies results, carries the source of one. Servers cannot set it. */
const CARRIED = 'sandbridge/source'

/** Adds the source to a result with data, if that loses by parsing. @param message as parsed from `json` */
export function carrySource(message: unknown, json: string): void {
  if (!isRecord(message) || !isRecord(message['result'])) return
  const { result } = message
  if (CARRIED in result) delete result[CARRIED]
  if (isRecord(result['structuredContent']) && losesByParsing(json)) result[CARRIED] = memberJson(json, 'result')
}

export function carriesSource(message: object): boolean {
  return 'result' in message && isRecord(message.result) && CARRIED in message.result
}

/** The result without its source, which `sourceOf` returns from now on. */
export function takeSource(result: Record<string, unknown>): Record<string, unknown> {
  if (!(CARRIED in result)) return result
  const { [CARRIED]: source, ...rest } = result
  keepSource(rest, String(source))
  return rest
}

export function sourceOf(value: unknown): Buffer | undefined {
  if (!isRecord(value)) return undefined
  const source = unchecked.get(value)
  unchecked.delete(value)
  // Parsing replaces invalid UTF-8, so the value would differ from the source.
  if (source && isOneBracket(source) && isUtf8(source)) sources.set(value, source)
  return sources.get(value)
}

/** A member of this object as its JSON has it, in a form for `unmarked`; undefined where the value says as much. */
export function exactMember(value: unknown, name: string): unknown {
  const json = memberJson(String(sourceOf(value) ?? '{}'), name)
  return json === undefined ? undefined : markBigInts(parseExact(json))
}
