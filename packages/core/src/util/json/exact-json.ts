// Writes JSON with BigInts as the numbers that they are. BigInt gets a `toJSON` for that. Pure.
import { parseExact } from './parse-exact.ts'

/** Begins the text that stands for a BigInt. Random, so that nothing that anybody else wrote is taken for one. */
let mark: string | undefined
/** Whether BigInts are written with a mark now. */
let isMarking = false
let isMarked = false

// JSON.stringify throws on a BigInt, unless it has this method. Where code does not know of them, it writes
// their digits, which are no other number.
// oxlint-disable-next-line no-extend-native
Object.defineProperty(BigInt.prototype, 'toJSON', {
  configurable: true,
  value(this: bigint) {
    isMarked = true
    return isMarking ? `${(mark ??= crypto.randomUUID())}:${this}` : String(this)
  },
})

/** Writes JSON as `JSON.stringify` does, and BigInts as the numbers that they are. */
export function exactJson(value: unknown): string {
  const json = marked(value)
  return isMarked ? unmarked(json) : json
}

/** A value that other code may write with `JSON.stringify`: `unmarked` makes of its text what `exactJson` writes. */
export function markBigInts<T>(value: T): T {
  const json = marked(value)
  return isMarked ? (parseExact(json) as T) : value
}

export function unmarked(json: string): string {
  return mark !== undefined && json.includes(mark) ? json.replaceAll(new RegExp(`"${mark}:(-?\\d+)"`, 'g'), '$1') : json
}

/** The same for UTF-8, which is returned as it is where there is nothing to do. */
export function unmarkedBytes(json: Buffer): Buffer | string {
  return mark !== undefined && json.includes(mark) ? unmarked(json.toString()) : json
}

function marked(value: unknown): string {
  isMarking = true
  isMarked = false
  try {
    return JSON.stringify(value)
  } finally {
    isMarking = false
  }
}
