// What a cell has called: its reader must know which calls may have taken effect, before making any of them again.
import { believedHints } from '../../config/rules/hints.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'

/** A hostile cell can call any number of tools. */
const MAX_SHOWN = 8

/** Counts of one tool's calls. */
interface Calls {
  /** Answered without an error. */
  done: number
  /** Sent to the server and not answered. */
  open: number
}

export class CalledTools {
  readonly servers = new Set<string>()
  readonly #calls = new Map<CatalogTool, Calls>()

  /** A call is sent to its server. */
  begun(tool: CatalogTool): void {
    const calls = this.#calls.get(tool)
    if (calls) calls.open += 1
    else this.#calls.set(tool, { done: 0, open: 1 })
  }

  /** A server has answered a call. Not to be told of calls that were cancelled before their answer. */
  answered(tool: CatalogTool, isError: boolean): void {
    const calls = this.#calls.get(tool)
    if (!calls) return
    calls.open -= 1
    if (!isError) calls.done += 1
  }

  /** A sentence about the answered calls that may have changed something; undefined if there are none. */
  beforeError(): string | undefined {
    const named = this.#named('done')
    return named && `Called before the error, and not undone: ${named}.`
  }

  /** A sentence about the calls that may have changed something and have no answer; undefined if there are none. */
  cutOff(): string | undefined {
    const named = this.#named('open')
    return named && `Cut off, may or may not have taken effect: ${named}.`
  }

  #named(count: keyof Calls): string | undefined {
    const changing = [...this.#calls].filter(
      ([{ name, definition }, calls]) =>
        calls[count] > 0 && !believedHints(name, definition.annotations, true).readOnlyHint,
    )
    if (changing.length === 0) return undefined
    const shown = changing.slice(0, MAX_SHOWN)
    const named = shown.map(
      ([{ server, name }, { [count]: times }]) => `${server}.${name}${times > 1 ? ` (${times} times)` : ''}`,
    )
    const more = changing.length > shown.length ? ` and ${changing.length - shown.length} more tools` : ''
    return `${named.join(', ')}${more}`
  }
}
