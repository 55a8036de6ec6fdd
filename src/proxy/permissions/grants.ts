// What the user has allowed, as long as it holds: one call with exactly these arguments, calls of one shape in a cell, a tool in a session.
// A grant is for a tool as its server defines it, and for the server's definition, so that no namesake has a use of it. Pure.
import { argumentsHash, shapeOf } from './call-text.ts'
import type { Call } from '../../policy/policy.ts'

/** A call that may need a grant, and what grants know its tool by. */
export interface GrantableCall extends Call {
  toolKey: string
}

/** Calls granted one by one, how often each. More than anyone reads are not granted this way. */
const MAX_ONCE = 10_000

export class CellGrants {
  readonly #once = new Map<string, number>()
  readonly #shapes = new Set<string>()

  /** One call. */
  once(call: GrantableCall): void {
    const key = exactKey(call)
    if (this.#once.size < MAX_ONCE) this.#once.set(key, (this.#once.get(key) ?? 0) + 1)
  }

  /** All calls of this tool with arguments of these names. */
  shape(call: GrantableCall): void {
    this.#shapes.add(shapeKey(call))
  }

  /** All calls of this tool. */
  tool(call: GrantableCall): void {
    this.#shapes.add(call.toolKey)
  }

  /** Is the call granted? One that was granted once is used up with this. */
  take(call: GrantableCall): boolean {
    if (this.#shapes.has(call.toolKey) || this.#shapes.has(shapeKey(call))) return true
    const key = exactKey(call)
    const left = this.#once.get(key) ?? 0
    if (left > 1) this.#once.set(key, left - 1)
    else this.#once.delete(key)
    return left > 0
  }
}

export function shapeKey(call: GrantableCall): string {
  return `${call.toolKey}\n${shapeOf(call)}`
}

/** One call with all of its arguments. */
export function exactKey(call: GrantableCall): string {
  return `${call.toolKey}\n${argumentsHash(call.args)}`
}
