// Writes JSON with BigInts and whole floats as the numbers that they are. Pure.
import { marked, unmarked } from './exact-numbers.ts'
import { parseExact } from './parse-exact.ts'

/** Writes JSON as `JSON.stringify` does, and numbers as they were read. */
export function exactJson(value: unknown): string {
  const { json, isMarked } = marked(value)
  return isMarked ? unmarked(json) : json
}

/** A value that other code may write with `JSON.stringify`: `unmarked` makes of its text what `exactJson` writes. */
export function markBigInts<T>(value: T): T {
  const { json, isMarked } = marked(value)
  return isMarked ? (parseExact(json) as T) : value
}
