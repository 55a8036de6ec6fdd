// Assembles runs from the record's lines: the run's own, its calls, denials and questions. Pure.
import { firstLine } from '../first-line.ts'
import { wordsOf } from '../search-words.ts'
import { fieldsOf, itemsOf } from '@sandbridge/core/util/json/json.ts'
import { fits, type RunFilter, type RunRow } from '../run-row.ts'
import { errorOf, isRefused, numberOf, type RecordEntry, textOf } from './record-entry.ts'

const MAX_SERVERS = 50

interface Collected {
  run: RunRow
  /** Words found so far. */
  found: Set<string>
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
    const collected = this.#runs.get(id) ?? { run: newRun(id, entry), found: new Set() }
    this.#runs.set(id, collected)
    const { run } = collected
    const { fields, type } = entry
    const server = textOf(fields, 'server')
    if (server !== '' && run.servers.length < MAX_SERVERS && !run.servers.includes(server)) run.servers.push(server)
    if (type === 'call' || type === 'denial') run.callCount += 1
    if (isRefused(entry)) run.deniedCount += 1
    if (type === 'run') Object.assign(run, runFieldsOf(entry))
    if (type === 'delivered') run.delivered = fields['delivered'] === true
    if (this.#words.length > 0) this.#note(collected, searchedText(entry))
  }

  /** Runs that match the filter, with what is known of them so far. */
  matching(): RunRow[] {
    return [...this.#runs.values()].filter((one) => this.#matches(one)).map(({ run }) => run)
  }

  #note({ found }: Collected, text: string): void {
    for (const word of this.#words) if (text.includes(word)) found.add(word)
  }

  #matches(collected: Collected): boolean {
    const { run, found } = collected
    if (!fits(run, this.#filter)) return false
    if (found.size < this.#words.length) this.#note(collected, (this.#extraText(run.id) ?? '').toLowerCase())
    return found.size === this.#words.length
  }
}

/** Returns the id of the run that a line is about. */
export function cellOf({ type, fields }: RecordEntry): string {
  const isOwn = type === 'run' || type === 'delivered' || type === 'sign-in' || type === 'config'
  return (!isOwn && textOf(fields, 'cell')) || textOf(fields, 'id')
}

/** True for a rewritten config file that defines the same as before. */
function isNothing({ type, fields }: RecordEntry): boolean {
  return type === 'config' && Object.values(fieldsOf(fields['config'])).every((names) => itemsOf(names).length === 0)
}

function newRun(id: string, entry: RecordEntry): RunRow {
  const { type, fields } = entry
  const isOwn = type === 'sign-in' || type === 'config'
  return {
    id,
    kind: isOwn ? type : 'unfinished',
    at: startOf(entry),
    session: textOf(fields, 'session'),
    client: textOf(fields, 'client'),
    number: 0,
    status: isOwn ? textOf(fields, 'outcome') || 'changed' : 'unfinished',
    callCount: 0,
    deniedCount: 0,
    servers: [],
  }
}

function runFieldsOf(entry: RecordEntry): Partial<RunRow> {
  const { fields } = entry
  const title = firstLine(textOf(fields, 'code'))
  const error = errorOf(fields).code
  const number = numberOf(fields, 'number') ?? 0
  return {
    kind: 'run',
    at: startOf(entry),
    session: textOf(fields, 'session'),
    client: textOf(fields, 'client'),
    number,
    // A run without a cell failed before it had one.
    status: (number === 0 && error) || textOf(fields, 'status') || 'ok',
    durationMs: numberOf(fields, 'durationMs') ?? 0,
    ...(title !== '' && { title }),
    ...(error !== '' && { error }),
  }
}

/** A line is written at the end of what it reports. */
export function startOf({ fields, time }: RecordEntry): number {
  return numberOf(fields, 'at') ?? Date.parse(time) - (numberOf(fields, 'durationMs') ?? 0)
}

const SEARCHED = 'server name client rule status outcome args message'.split(' ')

function searchedText({ fields }: RecordEntry): string {
  const { code, message } = errorOf(fields)
  return [...SEARCHED.map((name) => textOf(fields, name)), code, message].join('\n').toLowerCase()
}
