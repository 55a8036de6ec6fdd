// The open tool calls of a cell, and how long each tool took: for progress reports and the timeout note.
import type { CallFrame } from './protocol/frames.ts'
import { shortNumber } from '../util/text/count.ts'

/** Progress of a cell's calls: `name` is the oldest open call, number `number` of `total` so far. */
export interface ToolCallProgress {
  name: string
  number: number
  total: number
}

interface ToolTimes {
  openCount: number
  /** Sum of the start times of the open calls. */
  openSinceMs: number
  finishedCount: number
  finishedMs: number
}

/** Most tools counted separately: a hostile cell can invent any number of names. */
const MAX_TOOLS = 100
const SHOWN_TOOLS = 5

export class ToolCalls {
  readonly #onProgress: ((progress: ToolCallProgress) => void) | undefined
  readonly #tools = new Map<string, ToolTimes>()
  #started = 0
  #finished = 0

  constructor(onProgress?: (progress: ToolCallProgress) => void) {
    this.#onProgress = onProgress
  }

  /** A call begins. @returns what to call when it ends, in whatever way; undefined unless it is a tool call */
  begin(call: CallFrame): (() => void) | undefined {
    if (call.method !== 'call_tool') return undefined
    const tool = this.#toolOf(call)
    const startedAt = performance.now()
    tool.openCount += 1
    tool.openSinceMs += startedAt
    this.#started += 1
    this.#tell()
    return () => {
      tool.openCount -= 1
      tool.openSinceMs -= startedAt
      tool.finishedCount += 1
      tool.finishedMs += performance.now() - startedAt
      this.#finished += 1
      this.#tell()
    }
  }

  /** Describes how long the tools took, longest first; undefined if none was called. */
  summary(): string | undefined {
    const now = performance.now()
    const tools = [...this.#tools].map(([name, { openCount, openSinceMs, finishedCount, finishedMs }]) => {
      const openMs = openCount * now - openSinceMs
      return { name, count: finishedCount + openCount, ms: finishedMs + openMs, isOpen: openCount > 0 }
    })
    if (tools.length === 0) return undefined
    const shown = tools.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN_TOOLS)
    const lines = shown.map(({ name, count, ms, isOpen }) => {
      const calls = count === 1 ? '' : `${count} calls, `
      return `${name} ${calls}${(ms / 1000).toFixed(1)} s${isOpen ? ', still running' : ''}`
    })
    const more = tools.length > shown.length ? `; ${tools.length - shown.length} more` : ''
    return `Time in tool calls: ${lines.join('; ')}${more}.`
  }

  #toolOf(call: CallFrame): ToolTimes {
    const name = this.#tools.size < MAX_TOOLS ? nameOf(call) : 'other tools'
    let tool = this.#tools.get(name)
    if (!tool) {
      tool = { openCount: 0, openSinceMs: 0, finishedCount: 0, finishedMs: 0 }
      this.#tools.set(name, tool)
    }
    return tool
  }

  #tell(): void {
    if (!this.#onProgress) return
    for (const [name, { openCount }] of this.#tools) {
      if (openCount === 0) continue
      this.#onProgress({ name, number: this.#finished + 1, total: this.#started })
      return
    }
  }
}

function nameOf({ params }: CallFrame): string {
  const { server, tool } = (params ?? {}) as { server?: unknown; tool?: unknown }
  const short = (word: unknown) => (typeof word === 'string' ? word.slice(0, 100) : '?')
  return `${short(server)}.${short(tool)}`
}

export interface UpstreamProgress {
  /** `server.tool`. */
  name: string
  done: number
  total?: number
  message?: string
}

/** Returns a text such as `maps.render: 2 of 5, tiles`; the last part is the server's message. */
export function describeUpstreamProgress({ name, done, total, message }: UpstreamProgress): string {
  const steps = [done, ...(total === undefined ? [] : [total])].map(shortNumber).join(' of ')
  return `${name}: ${steps}${message ? `, ${message}` : ''}`
}
