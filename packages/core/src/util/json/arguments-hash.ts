// The hash by which the journal, the audit log and rules know the arguments of a call: made once for all of them.
import { createHash, hash } from 'node:crypto'
import { pauses } from '../async/wait.ts'
import { sortedJson } from './json.ts'

/** Values and characters. For more, others get their turn in between. */
const MAX_AT_ONCE = 1 << 16
const hashes = new WeakMap<object, string>()

/** SHA-256 of the arguments as JSON with sorted keys, so that their order does not matter. They must not change. */
export function argumentsHash(args: unknown): string {
  const holder = typeof args === 'object' && args !== null ? args : undefined
  const made = (holder && hashes.get(holder)) ?? hash('sha256', sortedJson(args))
  if (holder) hashes.set(holder, made)
  return made
}

/** Makes the hash of arguments that would keep others waiting; undefined for all others. */
export function hashInTurns(args: object): Promise<void> | undefined {
  return hashes.has(args) || roomAfter(args, MAX_AT_ONCE) > 0 ? undefined : hashed(args)
}

async function hashed(args: object): Promise<void> {
  const made = createHash('sha256')
  const pause = pauses()
  let waiting = ''
  for (const piece of piecesOf(args)) {
    waiting += piece
    if (waiting.length >= MAX_AT_ONCE) {
      made.update(waiting)
      waiting = ''
    }
    const turn = pause()
    if (turn) await turn
  }
  hashes.set(args, made.update(waiting).digest('hex'))
}

/** What is left of `room` after a value; not above 0 where it takes more. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length
  if (typeof value !== 'object' || value === null) return room - 1
  let left = room
  if (Array.isArray(value)) {
    // The keys of a long list would be made at once.
    for (let at = 0; at < value.length && left > 0; at += 1) left = roomAfter(value[at], left)
    return left
  }
  for (const key in value) {
    if (left <= 0) return left
    left = roomAfter((value as Record<string, unknown>)[key], left - key.length)
  }
  return left
}

/** Together, what `sortedJson` makes of the value. */
function* piecesOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null || roomAfter(value, MAX_AT_ONCE) > 0) yield* cut(sortedJson(value))
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      yield at === 0 ? '[' : ','
      yield* piecesOf(item)
    }
    yield ']'
  } else {
    let before = '{'
    for (const key of Object.keys(value).toSorted()) {
      const inner: unknown = Reflect.get(value, key)
      if (inner === undefined) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* piecesOf(inner)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  }
}

function* cut(text: string): Generator<string> {
  let from = 0
  while (text.length - from > MAX_AT_ONCE) {
    // Both halves of a character stay together.
    const to = from + MAX_AT_ONCE - Number((text.charCodeAt(from + MAX_AT_ONCE - 1) & 0xfc_00) === 0xd8_00)
    yield text.slice(from, to)
    from = to
  }
  yield text.slice(from)
}
