// What a cell has called: its reader must know which calls may have taken effect, before making any of them again.
import { soundsReadOnly } from '../../config/rules/hints.ts'
import { count as countOf } from '../../util/text/count.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'

/** A hostile cell can call any number of tools. */
const MAX_SHOWN = 8
const MAX_MESSAGES = 100

interface Calls {
  /** Answered without an error. */
  done: number
  /** Answered with an error. */
  failed: number
  /** Sent to the server and not answered. */
  open: number
}

export class CalledTools {
  readonly servers = new Set<string>()
  readonly #calls = new Map<CatalogTool, Calls>()
  /** Calls that were refused before they were sent, by server and tool. */
  readonly #refused = new Map<string, number>()
  /** Of the errors that its code got. */
  readonly #messages = new Set<string>()

  /** A call is sent to its server. */
  begun(tool: CatalogTool): void {
    const calls = this.#calls.get(tool)
    if (calls) calls.open += 1
    else this.#calls.set(tool, { done: 0, failed: 0, open: 1 })
  }

  /** A rule, the user or a limit has refused a call. */
  refused({ server, name }: Pick<CatalogTool, 'server' | 'name'>): void {
    const key = `${server}.${name}`
    this.#refused.set(key, (this.#refused.get(key) ?? 0) + 1)
  }

  /** The cell's code gets this error. */
  threw(message: string): void {
    if (this.#messages.size <= MAX_MESSAGES) this.#messages.add(message)
  }

  /** Whether the code has printed every error itself. */
  isTold(printed: string): boolean {
    const all = [...this.#messages]
    return all.length > 0 && all.length <= MAX_MESSAGES && all.every((message) => printed.includes(message))
  }

  /** A server has answered a call. Not to be told of calls that were cancelled before their answer. */
  answered(tool: CatalogTool, isError: boolean): void {
    const calls = this.#calls.get(tool)
    if (!calls) return
    calls.open -= 1
    calls[isError ? 'failed' : 'done'] += 1
  }

  /** A failed call is made again, after its user has done what its server required: only the last answer counts. */
  repeated(tool: CatalogTool): void {
    const calls = this.#calls.get(tool)
    if (calls) calls.failed -= 1
  }

  /** What a cell that ended well has not done, since its code went on; undefined if there is nothing. */
  notDone(): string | undefined {
    const failed = [...this.#calls].map(([{ server, name }, calls]) => [`${server}.${name}`, calls.failed] as const)
    const told = [sumOf(this.#refused, 'refused'), sumOf(failed, 'failed')].filter((one) => one !== '')
    return told.length === 0 ? undefined : told.join('; ')
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

  #named(count: 'done' | 'open'): string | undefined {
    const changing = [...this.#calls].filter(
      ([{ name, definition }, calls]) => calls[count] > 0 && !soundsReadOnly(name, definition.annotations),
    )
    if (changing.length === 0) return undefined
    return textOf(changing.map(([{ server, name }, { [count]: times }]) => [`${server}.${name}`, times]))
  }
}

type Times = readonly [name: string, times: number]

function textOf(all: readonly Times[]): string {
  const shown = all.slice(0, MAX_SHOWN).map(([name, times]) => `${name}${times > 1 ? ` (${times} times)` : ''}`)
  const more = all.length > shown.length ? ` and ${all.length - shown.length} more tools` : ''
  return `${shown.join(', ')}${more}`
}

/** `3 calls refused: led.delete_line (3 times)`; empty without any. */
function sumOf(times: Iterable<Times>, what: string): string {
  const some = [...times].filter(([, count]) => count > 0)
  const sum = some.reduce((all, [, count]) => all + count, 0)
  return sum === 0 ? '' : `${countOf(sum, 'call')} ${what}: ${textOf(some)}`
}
