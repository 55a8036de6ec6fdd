// Assembles runs from the record's lines: the line of the run itself, and those of its calls, denials and questions.
// Pure.
import { firstLine } from '@sandbridge/core/util/text/first-line.ts'
import { wordsOf } from '@sandbridge/core/util/text/search-words.ts'
import { isRefused, type RecordEntry, textOf } from './record-entry.ts'

/** A run as shown in a list. */
export interface RecordedRun {
  /** Id of its cell, as in events; without a cell, id of its line. */
  id: string
  /** `unfinished`: still in progress, or its bridge ended first. */
  kind: 'run' | 'unfinished' | 'sign-in' | 'config'
  /** Start, in milliseconds since 1970. */
  at: number
  session: string
  client: string
  /** Number of the cell in its session; 0 without a session. */
  number: number
  status: string
  durationMs?: number
  codeHash?: string
  callCount: number
  deniedCount: number
  servers: string[]
  /** The first line of its code, if that is known. */
  title?: string
  /** The error that ended it. */
  error?: string
}

export interface RunFilter {
  /** Prefix of a session id. */
  session?: string
  /** Only runs that called this server. */
  server?: string
  /** Only runs with a denied call or a declined question. */
  denied?: boolean
  /** Milliseconds since 1970. */
  since?: number
  status?: string
  /** Words that must all occur in names of tools and servers, errors, rules or arguments. */
  text?: string
}

const MAX_SERVERS = 50

interface Collected {
  run: Omit<RecordedRun, 'servers'>
  /** Words found so far. */
  found: Set<string>
  servers: Set<string>
}

/** Collects lines of any number of files, in any order; each file from its start. */
export class RunCollector {
  readonly #filter: RunFilter
  readonly #words: readonly string[]
  readonly #extraText: (id: string) => string | undefined
  readonly #runs = new Map<string, Collected>()

  constructor(filter: RunFilter, extraText: (id: string) => string | undefined = () => undefined) {
    this.#filter = filter
    this.#words = wordsOf(filter.text)
    this.#extraText = extraText
  }

  take(entry: RecordEntry): void {
    if (isNothing(entry)) return
    const id = cellOf(entry)
    const collected = this.#runs.get(id) ?? { run: newRun(id, entry), found: new Set(), servers: new Set() }
    this.#runs.set(id, collected)
    const { run, servers } = collected
    const { fields, type } = entry
    const server = textOf(fields, 'mcp.server.name')
    if (server !== '' && servers.size < MAX_SERVERS) servers.add(server)
    if (type === 'call' || type === 'denial') run.callCount += 1
    if (isRefused(entry)) run.deniedCount += 1
    if (type === 'run') Object.assign(run, runFieldsOf(entry))
    if (this.#words.length > 0) this.#note(collected, searchedText(entry))
  }

  /** Runs that match the filter, with what is known of them so far. */
  matching(): RecordedRun[] {
    return [...this.#runs.values()]
      .filter((collected) => this.#matches(collected))
      .map(({ run, servers }) => ({ ...run, servers: [...servers] }))
  }

  #note({ found }: Collected, text: string): void {
    for (const word of this.#words) if (text.includes(word)) found.add(word)
  }

  #matches(collected: Collected): boolean {
    const { run, found, servers } = collected
    const { session, server, denied, since, status } = this.#filter
    if (since !== undefined && run.at < since) return false
    if (session !== undefined && !run.session.startsWith(session)) return false
    if (server !== undefined && !servers.has(server)) return false
    if (denied && run.deniedCount === 0) return false
    if (status !== undefined && run.status !== status) return false
    if (found.size < this.#words.length) this.#note(collected, (this.#extraText(run.id) ?? '').toLowerCase())
    return found.size === this.#words.length
  }
}

/** Returns the id of the run that a line is about. */
export function cellOf({ type, fields }: RecordEntry): string {
  if (type === 'run') return textOf(fields, 'sandbridge.cell.id') || textOf(fields, 'id')
  if (type === 'sign-in' || type === 'config') return textOf(fields, 'id')
  return textOf(fields, 'parent_id') || textOf(fields, 'id')
}

/** True for a rewritten config file that defines the same as before. */
function isNothing({ type, fields }: RecordEntry): boolean {
  const changes = fields['sandbridge.config'] as Record<string, unknown[]> | undefined
  return type === 'config' && Object.values(changes ?? {}).every((names) => names.length === 0)
}

function newRun(id: string, entry: RecordEntry): Collected['run'] {
  const { type, fields } = entry
  const isOwn = type === 'sign-in' || type === 'config'
  return {
    id,
    kind: isOwn ? type : 'unfinished',
    at: startOf(entry),
    session: textOf(fields, 'sandbridge.session.id'),
    client: textOf(fields, 'mcp.client.name'),
    number: 0,
    status: isOwn ? textOf(fields, 'sandbridge.outcome') || 'changed' : 'unfinished',
    callCount: 0,
    deniedCount: 0,
  }
}

function runFieldsOf(entry: RecordEntry): Partial<RecordedRun> {
  const { fields } = entry
  const number = fields['sandbridge.cell.number']
  const title = firstLine(textOf(fields, 'sandbridge.code'))
  const error = textOf(fields, 'error.type')
  return {
    kind: 'run',
    at: startOf(entry),
    session: textOf(fields, 'sandbridge.session.id'),
    client: textOf(fields, 'mcp.client.name'),
    number: typeof number === 'number' ? number : 0,
    // A run without a cell failed before it had one.
    status: textOf(fields, 'sandbridge.cell.status') || textOf(fields, 'error.type') || 'ok',
    durationMs: durationOf(entry) ?? 0,
    codeHash: textOf(fields, 'sandbridge.code.sha256'),
    ...(title !== '' && { title }),
    ...(error !== '' && { error }),
  }
}

/** A line is written at the end of what it reports. */
export function startOf(entry: RecordEntry): number {
  return Date.parse(entry.time) - (durationOf(entry) ?? 0)
}

/** Duration in milliseconds. */
export function durationOf({ fields }: RecordEntry): number | undefined {
  const seconds = fields['sandbridge.duration']
  return typeof seconds === 'number' ? Math.round(seconds * 1000) : undefined
}

const SEARCHED = (
  'mcp.server.name gen_ai.tool.name gen_ai.prompt.name mcp.resource.uri mcp.client.name error.type ' +
  'sandbridge.error.message sandbridge.rule sandbridge.cell.status sandbridge.outcome ' +
  'sandbridge.arguments.shape sandbridge.question.message'
).split(' ')

function searchedText({ fields }: RecordEntry): string {
  const args = fields['gen_ai.tool.call.arguments']
  const texts = SEARCHED.map((name) => textOf(fields, name))
  return [...texts, args === undefined ? '' : JSON.stringify(args)].join('\n').toLowerCase()
}
