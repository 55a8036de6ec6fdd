// What one user's use of tools has taught: for each tool the arguments of a call that worked after an error, and the
// wordings of searches that led to a call; for each server the days on which it was called. One small document of the
// user, which any number of bridges change at once. Holds no value of an argument or a result.
import { type Change, LiveDocument, type Store } from '@sandbridge/core/util/stores'
import type { Log } from '@sandbridge/core/util'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { isShape, type Shape } from '@sandbridge/core/calls/catalog'
import type { LearnedTool, ToolIdentity } from '@sandbridge/core/parts'
import { alikeness, wordingOf } from './wording.ts'

interface Entry extends ToolIdentity {
  /** When something was last learned of it: such as `2026-11-22` (UTC). */
  day: string
  worked?: Shape
  wordings: string[][]
}

interface Known {
  /** The oldest first. */
  tools: Map<string, Entry>
  /** By the key of the server's definition. */
  days: Map<string, string[]>
}

const MAX_TOOLS = 200
const MAX_SERVERS = 200
const MAX_WORDINGS = 4
const MAX_NAME_CHARS = 200
const DAY_MS = 24 * 60 * 60 * 1000
/** What was not used for so long is forgotten. */
const MAX_AGE_DAYS = 90
/** Days of use that count. */
const MAX_DAYS = 30
/** Less alike are two needs. */
const LEAST_ALIKE = 0.6
const MAX_FOUND = 3

export class LearnedCalls {
  readonly #document: LiveDocument<Known>
  readonly #now: () => number
  #latest = { number: NaN, text: '' }

  constructor(store: Store, log: Log, now: () => number = Date.now) {
    const document = store.document('learned-calls.json')
    const complaint = 'What was learned from calls cannot be stored'
    this.#document = new LiveDocument({ document, empty, parse, serialize, damaged: 'empty', log, complaint })
    this.#now = now
  }

  ready(): Promise<void> {
    return this.#document.ready()
  }

  /** The arguments of the last call that worked after an error, and the tool's definition at that time. */
  worked(server: string, name: string): { shape: Shape; print: string } | undefined {
    const entry = this.#document.value.tools.get(idOf({ server, name }))
    return entry?.worked && { shape: entry.worked, print: entry.print }
  }

  ledTo(...wordings: readonly string[]): LearnedTool[] {
    const asked = wordings.map((wording) => wordingOf(wording))
    const found: LearnedTool[] = []
    for (const { server, name, print, wordings: known } of this.#document.value.tools.values()) {
      const likeness = Math.max(0, ...known.flatMap((one) => asked.map((other) => alikeness(other, one))))
      if (likeness >= LEAST_ALIKE) found.push({ server, name, print, likeness })
    }
    return found.toSorted((a, b) => b.likeness - a.likeness).slice(0, MAX_FOUND)
  }

  daysOfUse(server: string): number {
    const since = this.#day(-MAX_DAYS)
    return this.#document.value.days.get(server)?.filter((day) => day > since).length ?? 0
  }

  learnUse(server: string): void {
    const today = this.#day()
    this.#change(({ days }) => {
      const known = days.get(server) ?? []
      if (known.includes(today)) return false
      days.delete(server)
      days.set(server, [...known, today].slice(-MAX_DAYS))
      return true
    })
  }

  /** A call with such arguments worked after others had failed. */
  learnShape(tool: ToolIdentity, shape: Shape): void {
    const text = JSON.stringify(shape)
    this.#changeTool(tool, (entry) => {
      if (JSON.stringify(entry.worked) === text) return false
      entry.worked = shape
      return true
    })
  }

  /** A search in these words led to a call. */
  learnWording(tool: ToolIdentity, wording: string[]): void {
    if (wording.length === 0) return
    this.#changeTool(tool, (entry) => {
      if (entry.wordings.some((known) => alikeness(known, wording) === 1)) return false
      entry.wordings = [...entry.wordings, wording].slice(-MAX_WORDINGS)
      return true
    })
  }

  /** Forgets everything of servers with these definitions, which were changed or removed. Never rejects. */
  async forget(servers: ReadonlySet<string>): Promise<void> {
    await this.ready()
    this.#change(({ tools, days }) => {
      const gone = [...tools].filter(([, { server }]) => servers.has(server))
      for (const [id] of gone) tools.delete(id)
      const hadDays = [...servers].filter((server) => days.delete(server))
      return gone.length + hadDays.length > 0
    })
  }

  flush(): Promise<void> {
    return this.#document.flush()
  }

  #changeTool(tool: ToolIdentity, change: (entry: Entry) => boolean): void {
    if (tool.name.length > MAX_NAME_CHARS) return
    const day = this.#day()
    const { server, name, print } = tool
    this.#change(({ tools }) => {
      const known = tools.get(idOf(tool))
      const entry: Entry = known?.print === print ? { ...known, day } : { server, name, print, day, wordings: [] }
      if (!change(entry) && known?.day === day) return false
      tools.delete(idOf(tool))
      tools.set(idOf(tool), entry)
      return true
    })
  }

  #change(change: Change<Known>): void {
    this.#document.change((known) => {
      const hasChanged = change(known)
      if (hasChanged) this.#trim(known)
      return hasChanged
    })
  }

  #trim({ tools, days }: Known): void {
    const since = this.#day(-MAX_AGE_DAYS)
    for (const [id, { day }] of tools) if (day <= since || tools.size > MAX_TOOLS) tools.delete(id)
    for (const [server, used] of days) if ((used.at(-1) ?? '') <= since || days.size > MAX_SERVERS) days.delete(server)
  }

  /** Today, or another day. */
  #day(after = 0): string {
    const number = Math.floor(this.#now() / DAY_MS) + after
    // Each call asks for today.
    if (number !== this.#latest.number)
      this.#latest = { number, text: new Date(number * DAY_MS).toISOString().slice(0, 10) }
    return this.#latest.text
  }
}

function empty(): Known {
  return { tools: new Map(), days: new Map() }
}

function idOf({ server, name }: Pick<ToolIdentity, 'server' | 'name'>): string {
  return `${server} ${name}`
}

function serialize({ tools, days }: Known): unknown {
  return { tools: [...tools.values()], days: Object.fromEntries(days) }
}

/** Invalid parts are left out: they can be learned again. */
function parse(json: unknown): Known | undefined {
  if (!isRecord(json) || !Array.isArray(json['tools']) || !isRecord(json['days'])) return undefined
  const entries = json['tools'].flatMap((value: unknown) => parsedEntry(value) ?? [])
  const days = Object.entries(json['days']).filter((entry): entry is [string, string[]] => isTexts(entry[1]))
  return { tools: new Map(entries.map((entry) => [idOf(entry), entry])), days: new Map(days) }
}

function parsedEntry(value: unknown): Entry | undefined {
  if (!isRecord(value)) return undefined
  const { server, name, print, day, worked, wordings } = value
  if (typeof server !== 'string' || typeof name !== 'string' || typeof print !== 'string') return undefined
  if (typeof day !== 'string' || !Array.isArray(wordings) || !wordings.every(isTexts)) return undefined
  return { server, name, print, day, wordings, ...(isShape(worked) && { worked }) }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}
