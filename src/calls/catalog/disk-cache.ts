// Keeps known tools on disk, one file per server definition and what the clients can be asked: servers list other tools
// for clients that cannot be asked. This is the catalog's only I/O.
// A missing, truncated, outdated or foreign file is ignored and replaced.
// The definition is not in the file; its hash is the file's name, so a changed command, environment or URL starts with
// a new file.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { messageOf } from '../../errors.ts'
import { look } from '../../config/places-seen.ts'
import type { Log } from '../../util/log.ts'
import type { UpstreamPrompt, UpstreamResource, UpstreamTool } from '../../upstream/upstream.ts'
import { keptPrompts, keptResources } from './model/catalog-offering.ts'
import { isRecord } from '../../util/json/json.ts'
import { sortedJson } from '../../util/json/sorted-json.ts'
import { hasFieldNames, isShape, mergeShapes, type Shape } from './model/learned-types.ts'
import { makePrivateFolderSync } from '../../util/files/private-folder.ts'
import { replaceFileSync } from '../../util/files/replace-file.ts'

/** Increase whenever an older file could be misread. */
const FORMAT = 2
const MAX_FILE_BYTES = 64 * 1024 * 1024

/** The result type of a tool. Valid while the tool's definition has this fingerprint. */
export interface LearnedType {
  of: string
  shape: Shape
}

export interface ServerError {
  /** For people. Contains no secrets. */
  reason: string
  /** What the server was called then. */
  server?: string
  /** What the user can do about it. */
  hint?: string
  /** The server's last output, redacted. */
  log?: string
  /** Milliseconds since 1970. */
  at: number
}

/** Why the tools of a server could not be listed. */
export interface Failure extends ServerError {
  /** What the start depended on, see start-inputs.ts. When that changes, the failure no longer counts. */
  inputs?: string
  /** Failures in a row. */
  count: number
}

/** The cached knowledge of one server. */
export interface CachedServer {
  tools?: UpstreamTool[]
  instructions?: string
  resources?: UpstreamResource[]
  prompts?: UpstreamPrompt[]
  /** What the clients could be asked for whom the server listed its tools; missing for nothing. */
  abilities?: string
  /** When `tools` were read, in milliseconds since 1970. */
  fetchedAt?: number
  learned?: Record<string, LearnedType>
  failure?: Failure
  /**
   * The last failed start or unexpected exit. It is kept when the server works again, because the user may want to know
   * the reason.
   */
  lastError?: ServerError
}

/** Cached, because every call under rules needs a key. A changed definition is a new object. */
const keys = new WeakMap<ServerDefinition['transport'], string>()

/** Identifies a definition by its transport; name, description and file do not count. */
export function definitionKey({ transport }: ServerDefinition): string {
  let key = keys.get(transport)
  if (key === undefined) keys.set(transport, (key = hash('sha256', sortedJson(transport))))
  return key
}

/** Raised when types are learned in another way. */
const LEARNED_FORMAT = 2

/** Identifies a tool's definition, so that types learned from an older definition are not used. */
export function toolFingerprint(tool: UpstreamTool): string {
  const about = [LEARNED_FORMAT, tool.inputSchema, tool.description, tool.title]
  return hash('sha256', sortedJson(about)).slice(0, 16)
}

/** What files contained when they were last read: clients of one process know the same servers. Oldest first. */
const lastRead = new Map<string, { seen: string; entry: CachedServer }>()
const MAX_LAST_READ = 100

type OnWrite = (key: string, entry: CachedServer) => void

export class DiskCache {
  readonly #folder: string
  readonly #log: Log | undefined
  readonly #onWrite: OnWrite | undefined
  /** What the clients can be asked now, as a part of a file's name. */
  readonly abilities: () => string
  #failedToWrite = false

  /** @param onWrite receives what was written */
  constructor(folder: string, log?: Log, onWrite?: OnWrite, abilities = () => '') {
    this.#folder = folder
    this.#log = log
    this.#onWrite = onWrite
    this.abilities = abilities
  }

  /**
   * The cached knowledge for this key, otherwise what is known from other clients. Undefined when the files are missing
   * or invalid.
   */
  read(key: string): CachedServer | undefined {
    const [own, common] = [this.#file(key), this.#file(key, '')]
    return this.#read(own) ?? (own === common ? undefined : this.#read(common))
  }

  #read(file: string): CachedServer | undefined {
    try {
      const seen = look(file)
      const last = lastRead.get(file)
      // Whoever asks changes fields of it, and nothing below them.
      if (last?.seen === seen) return { ...last.entry }
      const stat = statSync(file, { throwIfNoEntry: false })
      if (stat === undefined) return undefined
      if (!stat.isFile() || stat.size > MAX_FILE_BYTES) throw new Error('not a catalog file')
      const entry = parseEntry(readFileSync(file, 'utf8'))
      lastRead.delete(file)
      lastRead.set(file, { seen, entry })
      if (lastRead.size > MAX_LAST_READ) lastRead.delete(lastRead.keys().next().value!)
      return { ...entry }
    } catch (error) {
      // A JSON error quotes the file, which is text of the server and must not be logged.
      const reason = error instanceof SyntaxError ? 'not valid JSON' : messageOf(error)
      this.#log?.warning('A catalog file is invalid and will be rebuilt', { file, reason })
      return undefined
    }
  }

  /**
   * Replaces the file atomically. Keeps result types that another bridge learned meanwhile. Logs only the first
   * failure.
   */
  write(key: string, entry: CachedServer): void {
    const [own, common] = [this.#file(key), this.#file(key, '')]
    try {
      makePrivateFolderSync(this.#folder)
      const merged = withLearned(entry, readBefore(own)?.learned)
      replaceFileSync(own, entryText(merged))
      if (own !== common) replaceFileSync(common, entryText(forOthers(merged, readBefore(common))))
      this.#onWrite?.(key, merged)
    } catch (error) {
      if (this.#failedToWrite) return
      this.#failedToWrite = true
      this.#log?.warning('The catalog cannot be saved; the next start rebuilds it', { reason: messageOf(error) })
    }
  }

  /** What is known from all clients, the latest listing last. */
  readAll(key: string): CachedServer[] {
    try {
      const names = readdirSync(this.#folder).filter((name) => name.startsWith(key))
      const entries = names.flatMap((name) => readBefore(join(this.#folder, name)) ?? [])
      return entries.toSorted((a, b) => (a.fetchedAt ?? 0) - (b.fetchedAt ?? 0))
    } catch {
      // Nothing was kept yet.
      return []
    }
  }

  #file(key: string, abilities = this.abilities()): string {
    return join(this.#folder, `${key}${abilities && `-${abilities}`}.json`)
  }
}

function readBefore(file: string): CachedServer | undefined {
  try {
    return parseEntry(readFileSync(file, 'utf8'))
  } catch {
    // Missing or invalid: nothing to keep, and `read` has logged it.
    return undefined
  }
}

/** What clients that cannot be asked, and commands, know when others have learned this. */
function forOthers(entry: CachedServer, before: CachedServer | undefined): CachedServer {
  // Better than nothing until they list the tools themselves.
  if (before?.tools === undefined || before.abilities !== undefined) return entry
  const { failure: _, ...known } = before
  const { failure, lastError } = entry
  const both = withLearned({ ...known, learned: known.learned ?? {} }, entry.learned)
  return { ...both, ...(failure && { failure }), ...(lastError && { lastError }) }
}

/** The text of a cache file. */
export function entryText(entry: CachedServer): string {
  return JSON.stringify({ format: FORMAT, ...entry })
}

/** @throws Error that says why the text is invalid */
export function parseEntry(text: string): CachedServer {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) throw new Error('not an object')
  if (value['format'] !== FORMAT) {
    throw new Error(`format ${String(value['format']).slice(0, 20)}, this version reads ${FORMAT}`)
  }
  return parse(value)
}

/** Adds result types that another bridge learned meanwhile. */
export function withLearned(entry: CachedServer, before: CachedServer['learned']): CachedServer {
  const learned = mergeLearned(before, entry.learned)
  return { ...entry, ...(learned && { learned }) }
}

function parse(value: Record<string, unknown>): CachedServer {
  const { tools, instructions, abilities, fetchedAt, failure, lastError } = value
  const result: CachedServer = {}
  if (Array.isArray(tools) && typeof fetchedAt === 'number') {
    result.tools = tools.filter(isTool)
    result.fetchedAt = fetchedAt
  }
  if (typeof abilities === 'string') result.abilities = abilities
  if (typeof instructions === 'string') result.instructions = instructions
  if (Array.isArray(value['resources'])) result.resources = keptResources(value['resources'].filter(isRecord))
  if (Array.isArray(value['prompts'])) result.prompts = keptPrompts(value['prompts'].filter(isTool))
  if (isRecord(value['learned'])) {
    const good = Object.entries(value['learned']).filter(([, one]) => {
      return isRecord(one) && isShape(one['shape']) && hasFieldNames(one['shape'])
    })
    result.learned = Object.fromEntries(good) as unknown as Record<string, LearnedType>
  }
  const failed = parseError(failure)
  if (failed && isRecord(failure) && typeof failure['count'] === 'number') {
    const { inputs, count } = failure
    result.failure = { ...failed, ...(typeof inputs === 'string' && { inputs }), count }
  }
  const last = parseError(lastError)
  if (last) result.lastError = last
  return result
}

function parseError(value: unknown): ServerError | undefined {
  if (!isRecord(value) || typeof value['at'] !== 'number') return undefined
  const { reason, server, hint, log, at } = value
  return {
    reason: String(reason),
    ...(typeof server === 'string' && { server }),
    ...(typeof hint === 'string' && { hint }),
    ...(typeof log === 'string' && { log }),
    at,
  }
}

function isTool(value: unknown): value is UpstreamTool {
  return isRecord(value) && typeof value['name'] === 'string'
}

function mergeLearned(
  before: Record<string, LearnedType> | undefined,
  now: Record<string, LearnedType> | undefined,
): Record<string, LearnedType> | undefined {
  if (before === undefined || now === undefined) return now
  const merged = Object.entries(now).map(([tool, one]) => {
    const other = Object.hasOwn(before, tool) ? before[tool] : undefined
    return [tool, other?.of === one.of ? { of: one.of, shape: mergeShapes(one.shape, other.shape) } : one] as const
  })
  const missing = Object.entries(before).filter(([tool]) => !Object.hasOwn(now, tool))
  return Object.fromEntries([...merged, ...missing])
}
