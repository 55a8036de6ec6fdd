// What the user has allowed for a time: one call, calls of one shape in a cell, a tool in a session. It is for one
// definition of tool and server, not for another of the same name. Pure.
import { argumentsHash } from '@sandbridge/core/util/json/arguments-hash.ts'
import { shapeOf } from './call-text.ts'
import type { Call } from '@sandbridge/core/config/rules'

/** A call that may need a grant, with the key of its tool. */
export interface GrantableCall extends Call {
  toolKey: string
}

/** Maximum number of distinct calls granted one by one, more than a person reads. */
const MAX_ONCE = 10_000

export class CellGrants {
  readonly #once = new Map<string, number>()
  readonly #shapes = new Set<string>()

  /** Grants one call. */
  once(call: GrantableCall): void {
    const key = exactKey(call)
    if (this.#once.size < MAX_ONCE) this.#once.set(key, (this.#once.get(key) ?? 0) + 1)
  }

  /** Grants all calls of this tool with these argument names. */
  shape(call: GrantableCall): void {
    this.#shapes.add(shapeKey(call))
  }

  /** Whether the call is granted. Uses up a grant for one call. */
  take(call: GrantableCall): boolean {
    if (this.#shapes.has(shapeKey(call))) return true
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

/** Identifies one call by its tool and all its arguments. */
export function exactKey(call: GrantableCall): string {
  return `${call.toolKey}\n${argumentsHash(call.args)}`
}
