// Keeps what is known of each server on disk, one file a server definition: the only I/O of the catalog.
// A file can be missing, torn, old, or another bridge's: then it is as if it were not there, and it is written anew.
// The definition itself is in no file; its hash is the file's name, so a change of command, environment or URL starts afresh.
import { hash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerDefinition } from '../config/server-definition.ts'
import { messageOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { UpstreamPrompt, UpstreamResource, UpstreamTool } from '../upstream/upstream.ts'
import { keptPrompts, keptResources } from './model/catalog-offering.ts'
import { isRecord } from '../text/json.ts'
import { sortedJson } from '../text/sorted-json.ts'
import { isShape, mergeShapes, type Shape } from './model/learned-types.ts'
import { makePrivateFolderSync } from '../storage/private-folder.ts'
import { replaceFileSync } from '../storage/replace-file.ts'

/** Raise it whenever a file of the older kind could be misread. */
const FORMAT = 2
const MAX_FILE_BYTES = 64 * 1024 * 1024

/** The shape of a tool's results, as long as the tool's definition has this fingerprint. */
export interface LearnedType {
  of: string
  shape: Shape
}

export interface ServerError {
  /** For people; no secrets. */
  reason: string
  /** What its user can do about it. */
  hint?: string
  /** What the server wrote last, redacted. */
  log?: string
  /** Milliseconds since 1970. */
  at: number
}

/** Why the tools of a server could not be listed. */
export interface Failure extends ServerError {
  /** What the start depended on, see start-inputs.ts: once that changes, the failure is over. */
  inputs?: string
  /** How many times in a row. */
  count: number
}

/** What is known of one server. */
export interface CachedServer {
  tools?: UpstreamTool[]
  instructions?: string
  resources?: UpstreamResource[]
  prompts?: UpstreamPrompt[]
  /** When `tools` were read, in milliseconds since 1970. */
  fetchedAt?: number
  learned?: Record<string, LearnedType>
  failure?: Failure
  /** The last failed start or unexpected exit. It is kept when the server works again, since its user may want to know why. */
  lastError?: ServerError
}

/** Every call under rules asks for one. A definition that changes is another object. */
const keys = new WeakMap<ServerDefinition['transport'], string>()

/** Identifies a definition by what decides which server it starts; its name, description and place do not. */
export function definitionKey({ transport }: ServerDefinition): string {
  const known = keys.get(transport) ?? hash('sha256', sortedJson(transport))
  keys.set(transport, known)
  return known
}

/** Identifies a tool's definition, so that what was learned of an older one is not believed. */
export function toolFingerprint(tool: UpstreamTool): string {
  return hash('sha256', sortedJson([tool.inputSchema, tool.description, tool.title])).slice(0, 16)
}

type OnWrite = (key: string, entry: CachedServer) => void

export class DiskCache {
  readonly #folder: string
  readonly #log: Log | undefined
  readonly #onWrite: OnWrite | undefined
  #failedToWrite = false

  /** @param onWrite told what was written */
  constructor(folder: string, log?: Log, onWrite?: OnWrite) {
    this.#folder = folder
    this.#log = log
    this.#onWrite = onWrite
  }

  /** What is known of the server with this key; undefined when the file is missing or invalid. */
  read(key: string): CachedServer | undefined {
    const file = this.#file(key)
    try {
      const stat = statSync(file, { throwIfNoEntry: false })
      if (stat === undefined) return undefined
      if (!stat.isFile() || stat.size > MAX_FILE_BYTES) throw new Error('not a catalog file')
      return parseEntry(readFileSync(file, 'utf8'))
    } catch (error) {
      // The text of a JSON error quotes the file, which is the server's words: they stay out of the log.
      const reason = error instanceof SyntaxError ? 'not valid JSON' : messageOf(error)
      this.#log?.warning('A catalog file is invalid and will be rebuilt', { file, reason })
      return undefined
    }
  }

  /** Replace what is known of a server at once or not at all. What another bridge learned meanwhile is kept. A failure is logged once. */
  write(key: string, entry: CachedServer): void {
    const file = this.#file(key)
    try {
      makePrivateFolderSync(this.#folder)
      const merged = withLearned(entry, this.#learnedBefore(file))
      replaceFileSync(file, entryText(merged))
      this.#onWrite?.(key, merged)
    } catch (error) {
      if (this.#failedToWrite) return
      this.#failedToWrite = true
      this.#log?.warning('The catalog cannot be saved; the next start rebuilds it', { reason: messageOf(error) })
    }
  }

  #learnedBefore(file: string): Record<string, LearnedType> | undefined {
    try {
      return parseEntry(readFileSync(file, 'utf8')).learned
    } catch {
      // Missing or broken: there is nothing to keep, and `read` has said so.
      return undefined
    }
  }

  #file(key: string): string {
    return join(this.#folder, `${key}.json`)
  }
}

/** As a file holds it. */
export function entryText(entry: CachedServer): string {
  return JSON.stringify({ format: FORMAT, ...entry })
}

/** @throws Error that says why it is not such a text */
export function parseEntry(text: string): CachedServer {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) throw new Error('not an object')
  if (value['format'] !== FORMAT) {
    throw new Error(`format ${String(value['format']).slice(0, 20)}, this version reads ${FORMAT}`)
  }
  return parse(value)
}

/** With what another bridge has learned meanwhile. */
export function withLearned(entry: CachedServer, before: CachedServer['learned']): CachedServer {
  const learned = mergeLearned(before, entry.learned)
  return { ...entry, ...(learned && { learned }) }
}

function parse(value: Record<string, unknown>): CachedServer {
  const { tools, instructions, fetchedAt, failure, lastError } = value
  const result: CachedServer = {}
  if (Array.isArray(tools) && typeof fetchedAt === 'number') {
    result.tools = tools.filter(isTool)
    result.fetchedAt = fetchedAt
  }
  if (typeof instructions === 'string') result.instructions = instructions
  if (Array.isArray(value['resources'])) result.resources = keptResources(value['resources'].filter(isRecord))
  if (Array.isArray(value['prompts'])) result.prompts = keptPrompts(value['prompts'].filter(isTool))
  if (isRecord(value['learned'])) {
    const good = Object.entries(value['learned']).filter(([, one]) => isRecord(one) && isShape(one['shape']))
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
  const { reason, hint, log, at } = value
  return {
    reason: String(reason),
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
