// Lines of the record put together as runs: the line of a run, and those of its calls, denials and questions. Pure.
import { wordsOf } from '../text/search-words.ts'
import { isRefused, type RecordEntry, textOf } from './record-entry.ts'

/** A run as a list shows it. */
export interface RecordedRun {
  /** Of its cell, as in events; of its line where it has no cell. */
  id: string
  /** `unfinished`: its bridge has ended before it did, or it goes on. */
  kind: 'run' | 'unfinished' | 'sign-in' | 'config'
  /** When it began, in milliseconds since 1970. */
  at: number
  session: string
  client: string
  /** Of the cell in its session; 0 without a session. */
  number: number
  status: string
  durationMs?: number
  codeHash?: string
  callCount: number
  deniedCount: number
  servers: string[]
}

export interface RunFilter {
  /** The beginning of an id. */
  session?: string
  /** Runs that called it. */
  server?: string
  /** Runs with a denied call or a declined question. */
  denied?: boolean
  /** Milliseconds since 1970. */
  since?: number
  status?: string
  /** Words; all must be found, in the names of tools and servers, errors, rules and arguments. */
  text?: string
}

const MAX_SERVERS = 50

interface Collected {
  run: Omit<RecordedRun, 'servers'>
  /** The words that were found. */
  found: Set<string>
  servers: Set<string>
}

/** Takes the lines of files, each from its beginning, the files in any order. */
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

  /** Those that the filter lets through, as far as they are known. */
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

/** The run that a line is about. */
export function cellOf({ type, fields }: RecordEntry): string {
  if (type === 'run') return textOf(fields, 'sandbridge.cell.id') || textOf(fields, 'id')
  if (type === 'sign-in' || type === 'config') return textOf(fields, 'id')
  return textOf(fields, 'parent_id') || textOf(fields, 'id')
}

/** A config file was written anew, and defines what it did before. */
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
  return {
    kind: 'run',
    at: startOf(entry),
    session: textOf(fields, 'sandbridge.session.id'),
    client: textOf(fields, 'mcp.client.name'),
    number: typeof number === 'number' ? number : 0,
    // A run without a cell has failed before.
    status: textOf(fields, 'sandbridge.cell.status') || textOf(fields, 'error.type') || 'ok',
    durationMs: durationOf(entry) ?? 0,
    codeHash: textOf(fields, 'sandbridge.code.sha256'),
  }
}

/** A line is written at the end of what it tells. */
export function startOf(entry: RecordEntry): number {
  return Date.parse(entry.time) - (durationOf(entry) ?? 0)
}

/** In milliseconds. */
export function durationOf({ fields }: RecordEntry): number | undefined {
  const seconds = fields['sandbridge.duration']
  return typeof seconds === 'number' ? Math.round(seconds * 1000) : undefined
}

const SEARCHED = [
  'mcp.server.name',
  'gen_ai.tool.name',
  'gen_ai.prompt.name',
  'mcp.resource.uri',
  'mcp.client.name',
  'error.type',
  'sandbridge.error.message',
  'sandbridge.rule',
  'sandbridge.cell.status',
  'sandbridge.outcome',
  'sandbridge.arguments.shape',
  'sandbridge.question.message',
]

function searchedText({ fields }: RecordEntry): string {
  const args = fields['gen_ai.tool.call.arguments']
  const texts = SEARCHED.map((name) => textOf(fields, name))
  return [...texts, args === undefined ? '' : JSON.stringify(args)].join('\n').toLowerCase()
}
