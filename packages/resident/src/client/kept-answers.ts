// What a relay answers before its resident does: the answers of an earlier resident to the same first questions of the
// same client in the same folder, while no file has changed that they depend on. They hold names of servers and
// definitions of our tools, as every client reads them.
import path from 'node:path'
import { areUnchanged } from '@sandbridge/core/config'
import { type ClientContext, variablesOfPlaces } from '@sandbridge/core/config/settings'
import { keepText, readKeptText } from '@sandbridge/core/util/files'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { textName } from '@sandbridge/core/util/text'

/** What clients ask before their first call. */
const METHODS = new Set(['initialize', 'server/discover', 'tools/list'])
const MAX_CHARS = 100_000

export class KeptAnswers {
  readonly #folder: string
  /** Whose answers they are: of one resident, in one folder, with variables that lead to the same config files. */
  readonly #of: string
  /** With the first question, which names the client. */
  #first: string | undefined
  #kept: Record<string, unknown> | undefined
  readonly #learned = new Map<string, string>()

  constructor(cacheDir: string, keyName: string, { cwd, env }: ClientContext) {
    this.#folder = path.join(cacheDir, 'answers')
    this.#of = JSON.stringify([keyName, cwd, variablesOfPlaces(env), env['MCP_BRIDGE_TOOLS']])
  }

  /** @returns what stands for this question here; undefined for one whose answer is never kept */
  questionOf(method: string, params: unknown): string | undefined {
    return METHODS.has(method) ? JSON.stringify([method, params]) : undefined
  }

  /** @returns a result as JSON, for each question once; undefined when none is kept that still holds */
  find(question: string): string | undefined {
    this.#first ??= this.#of + question
    this.#kept ??= this.#read(this.#first)
    const { answers, places } = this.#kept
    if (!isRecord(answers) || !isRecord(places) || !areUnchanged(places)) return undefined
    const found = answers[question]
    delete answers[question]
    return typeof found === 'string' ? found : undefined
  }

  #fileOf(first: string): string {
    return path.join(this.#folder, `${textName(first)}.json`)
  }

  #read(first: string): Record<string, unknown> {
    const text = readKeptText(this.#fileOf(first)) ?? ''
    const kept = text.length > MAX_CHARS ? undefined : parseJson(text)
    // A project chooses the name of its folder, and such names of files can be made to collide.
    return isRecord(kept) && kept['first'] === first ? kept : {}
  }

  /** What the resident has answered, as JSON. */
  learn(question: string, result: string): void {
    this.#learned.set(question, result)
  }

  /** Keeps what was learned, for as long as these files are as they are. Never throws. */
  keep(places: Record<string, unknown>): void {
    if (this.#first === undefined || this.#learned.size === 0) return
    const text = JSON.stringify({ first: this.#first, places, answers: Object.fromEntries(this.#learned) })
    try {
      if (text.length <= MAX_CHARS) keepText(this.#fileOf(this.#first), text)
    } catch {
      // The next client of this folder waits for its resident.
    }
  }
}
