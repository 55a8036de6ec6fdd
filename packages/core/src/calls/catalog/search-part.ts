// The search for tools, as far as the core knows it.
import type { CellError } from '../../cell/cell-result.ts'
import { didYouMean } from '../../util/text/did-you-mean.ts'
import { Part } from '../../util/part.ts'
import type { Learned } from '../learned-part.ts'
import type { ToolDoc } from './arguments/tool-doc.ts'
import type { CatalogTool } from './model/catalog-tool.ts'
import type { ServerRecord } from './server-record.ts'

/** Without it, a search counts the words of the query that a tool has. */
export const search = new Part<SearchPart>('the ranking of tools')

export interface SearchPart {
  /** @param isShown whether a tool may be found */
  createSearch: (records: Records, isShown: (tool: CatalogTool) => boolean) => ToolSearch
  /** Reads what the first search would otherwise wait for, in pieces. */
  readAhead: () => Promise<void>
  /** Returns the error with suitable tools in its hint, if a search by its words finds some. Never throws. */
  withToolHint: (failed: CellError, find: FindTools, servers: readonly string[]) => Promise<CellError>
}

type Records = ReadonlyMap<string, ServerRecord>

type FindTools = (
  query: string,
  options: { limit: number; servers: readonly string[]; detail: 'summary' },
  signal: AbortSignal,
) => Promise<ToolDoc[]>

/** One wording of a need, or several. */
export type Wordings = string | readonly string[]

export interface FindOptions {
  limit?: number
  /** Tools of who asks that are ranked among those of servers: saved functions. No other search sees them. */
  others?: readonly CatalogTool[]
  /** What the user's earlier calls have taught. */
  learned?: Learned | undefined
}

export interface Found {
  tools: CatalogTool[]
  /** What the answer begins with, when no tool fits any of the wordings, or all are guesses. */
  weak: string | undefined
  /** Why each tool of a server has its rank: the score by the wording that it fits best. */
  reasons: () => (Reason | undefined)[]
}

export interface Reason {
  score: number
  /** How well the words match, from 0 to 1. */
  words: number
  /** Added for similarity in meaning. */
  meaning: number
  /** The query is the item's name. */
  isNamed: boolean
  /** The concepts of the query, with the matching term of the item, if any. */
  concepts: { asked: string; found: string | undefined; strength: number }[]
}

export interface ToolSearch {
  /** Returns the best tools, resources and prompts of `records`, best first. Each need of several is searched for. */
  find(query: Wordings, records: readonly ServerRecord[], options: FindOptions): Promise<Found>
  /** Up to three tools of a server with a name similar to a wrong one, best first. */
  likeTool(record: ServerRecord, wrong: string): Promise<CatalogTool[]>
  /** Tools that were not known before. */
  add(tools: readonly CatalogTool[]): void
  /** Tools have changed. */
  forget(): void
}

export async function createSearch(records: Records, isShown: (tool: CatalogTool) => boolean): Promise<ToolSearch> {
  return (await search.ifHere())?.createSearch(records, isShown) ?? new PlainSearch(isShown)
}

class PlainSearch implements ToolSearch {
  readonly #isShown: (tool: CatalogTool) => boolean

  constructor(isShown: (tool: CatalogTool) => boolean) {
    this.#isShown = isShown
  }

  async find(query: Wordings, records: readonly ServerRecord[], { limit = 5, others = [] }: FindOptions) {
    const words = [query]
      .flat()
      .join(' ')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean)
    const all = [...records.flatMap(({ tools = [] }) => tools.filter(this.#isShown)), ...others]
    const counted = all.map((tool) => {
      const text = `${tool.server} ${tool.name} ${tool.description}`.toLowerCase()
      return { tool, count: words.filter((word) => text.includes(word)).length }
    })
    const best = counted.toSorted((a, b) => b.count - a.count).slice(0, limit)
    const weak = best[0]?.count === 0 ? 'No tool has a word of this query.' : undefined
    return { tools: best.map(({ tool }) => tool), weak, reasons: () => [] }
  }

  async likeTool({ tools = [] }: ServerRecord, wrong: string): Promise<CatalogTool[]> {
    const near = didYouMean(
      wrong,
      tools.filter(this.#isShown).map(({ alias }) => alias),
    )
    return near.flatMap((alias) => tools.find((tool) => tool.alias === alias) ?? []).slice(0, 3)
  }

  add(): void {}

  forget(): void {}
}
