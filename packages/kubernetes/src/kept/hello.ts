// Parses the hello of a kept pod's first process (packages/core/python/sandbox_keeper.py): the bridge it follows, and
// the state of its cell. Code of a cell may have written it, so every word is checked. Pure.
import type { LeftBehind } from '@sandbridge/core/isolation'

export interface Hello extends LeftBehind {
  /** The bridge that it follows, and the connection attempt that it answers. */
  generation: number
  attempt: number
  /** The last line it received from that bridge. */
  got: number
  /** True if that bridge has sent something lately. */
  isThere: boolean
  /** True if that bridge runs a cell, or is about to deliver its result. */
  isBusy: boolean
}

const VERSION = '3'
/** The most that one kernel may have open. */
const MAX_OPEN_CALLS = 10_000
const MAX_NUMBER_DIGITS = 15

/** Size of the longest hello, which depends on its open calls. */
export const MAX_HELLO_BYTES = 1024 + MAX_OPEN_CALLS * (MAX_NUMBER_DIGITS + 1)

/** Returns undefined for an invalid hello. */
export function parseHello(line: string): Hello | undefined {
  const [first, ...words] = line.split(' ')
  if (first !== 'hello') return undefined
  const found = new Map(words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))
  const number = (name: string): number => {
    const text = found.get(name) ?? ''
    return text.length <= MAX_NUMBER_DIGITS && /^\d+$/.test(text) ? Number(text) : Number.NaN
  }
  const [cell, running, pending, late] = [number('cell'), number('running'), number('pending'), number('late')]
  const [dropped, deadline] = [number('dropped'), number('deadline')]
  const [generation, attempt, got] = [number('generation'), number('attempt'), number('got')]
  const [there, busy] = [number('there'), number('busy')]
  const digest = found.get('digest') ?? ''
  const open = openCalls(found.get('open') ?? '')
  const numbers = [cell, running, pending, late, dropped, deadline, generation, attempt, got, there, busy]
  const isWhole = numbers.every((one) => !Number.isNaN(one))
  if (!isWhole || !open || found.get('version') !== VERSION) return undefined
  if (!/^(-|[0-9a-f]{64})$/.test(digest)) return undefined
  return {
    generation,
    attempt,
    got,
    isThere: there === 1,
    isBusy: busy === 1,
    number: cell,
    deadline,
    digest,
    isPending: pending === 1,
    isRunning: running === 1,
    isLate: late === 1,
    droppedBytes: dropped,
    openCalls: open,
  }
}

function openCalls(text: string): number[] | undefined {
  if (text === '-') return []
  const ids = text.split(',')
  const isBounded = ids.length <= MAX_OPEN_CALLS && ids.every((id) => /^[1-9]\d*$/.test(id) && id.length <= 15)
  return isBounded ? ids.map(Number) : undefined
}
