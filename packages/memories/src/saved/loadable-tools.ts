// Which saved tools still load. Remembers those that did, in a file of hashes, until what they need changes.
import { hash } from 'node:crypto'
import { Turns } from '@sandbridge/core/util/async'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Log } from '@sandbridge/core/util'
import { reachedTools, type SavedTool, type SavedToolContent } from './saved-tool.ts'
import type { BrokenTool, SavedToolStore } from './saved-tool-store.ts'
import { JsonDocument } from '@sandbridge/core/util/stores'

/** Most hashes kept: enough for a few environments. */
const MAX_KEPT = 5_000

export interface LoadableToolsOptions {
  store: SavedToolStore
  /** Everything about the sandboxes that affects imports. */
  environment: unknown
  file: string
  /** The problem of each tool by name; those left over when the time is up are missing. @throws BridgeError */
  findProblems: (tools: SavedTool[]) => Promise<Map<string, string | undefined>>
  log: Log
}

export class LoadableTools {
  readonly #options: LoadableToolsOptions
  readonly #document: JsonDocument<string[]>
  /** Problem by hash; undefined for a tool that loads. */
  readonly #known = new Map<string, string | undefined>()
  #loaded: Promise<void> | undefined
  readonly #turns = new Turns(1)

  constructor(options: LoadableToolsOptions) {
    this.#options = options
    this.#document = new JsonDocument({
      document: options.file,
      empty: () => [],
      parse: (json) => (Array.isArray(json) ? json.filter((key) => typeof key === 'string') : undefined),
      damaged: 'empty',
    })
  }

  /** The newest version of every tool that loads, and the problems of the others. Unknown ones start a sandbox. */
  list(): Promise<{ tools: SavedTool[]; broken: BrokenTool[] }> {
    return this.#turns.run(undefined, () => this.#list())
  }

  async remember(content: SavedToolContent): Promise<void> {
    const { tools } = await this.#options.store.list()
    await this.#learn(new Map([[this.#hash(content, byName(tools)), undefined]]))
  }

  async #list(): Promise<{ tools: SavedTool[]; broken: BrokenTool[] }> {
    const { store, findProblems, log } = this.#options
    const { tools, broken } = await store.list()
    this.#loaded ??= this.#read()
    await this.#loaded
    const hashes = new Map(tools.map((tool) => [tool.name, this.#hash(tool, byName(tools))]))
    const unknown = tools.filter(({ name }) => !this.#known.has(hashes.get(name)!))
    if (unknown.length > 0) {
      try {
        const problems = await findProblems(unknown)
        await this.#learn(new Map([...problems].map(([name, problem]) => [hashes.get(name)!, problem])))
      } catch (error) {
        if (!BridgeError.isInstance(error)) throw error
        log.warning('The saved tools could not be checked', { error })
      }
    }
    const problemOf = ({ name }: SavedTool) => this.#known.get(hashes.get(name)!)
    const unloadable = tools.flatMap((tool) => {
      const problem = problemOf(tool)
      return problem === undefined ? [] : [{ name: tool.name, version: tool.version, problem }]
    })
    return { tools: tools.filter((tool) => problemOf(tool) === undefined), broken: [...broken, ...unloadable] }
  }

  /** Hashes everything that decides whether a tool loads, including saved tools that it imports. */
  #hash(tool: SavedToolContent, others: ReadonlyMap<string, SavedTool>): string {
    const reached = reachedTools<SavedToolContent>([tool], [...others.values()])
    const parts = [...reached.values()].map(({ name, source, imports }) => [name, source, imports])
    return hash('sha256', JSON.stringify([this.#options.environment, parts]), 'base64url')
  }

  async #learn(verdicts: Map<string, string | undefined>): Promise<void> {
    for (const [key, problem] of verdicts) this.#known.set(key, problem)
    const loadable = [...this.#known].flatMap(([key, problem]) => (problem === undefined ? [key] : []))
    // If the file cannot be written, the next bridge must check again.
    await this.#document.update((keys) => void keys.splice(0, Infinity, ...loadable.slice(-MAX_KEPT))).catch(() => {})
  }

  async #read(): Promise<void> {
    for (const key of await this.#document.read()) this.#known.set(key, undefined)
  }
}

function byName(tools: SavedTool[]): Map<string, SavedTool> {
  return new Map(tools.map((tool) => [tool.name, tool]))
}
