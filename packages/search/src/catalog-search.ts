// Searches all known tools, resources and prompts, and saved tools. The index of the former is built at first use.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CatalogTool } from '@sandbridge/core/calls/catalog'
import type { FindOptions, Found, Reason, ToolSearch, Wordings } from '@sandbridge/core/calls/catalog'
import { pauses } from '@sandbridge/core/util/async'
import { didYouMean } from '@sandbridge/core/util/text'
import { isOffering } from '@sandbridge/core/calls/catalog'
import type { LearnedTool } from '@sandbridge/core/parts'
import { needsIn, wordingsIn } from './wordings.ts'
import { fuse, type Ranking } from './index/fuse.ts'
import { searchDocument } from './index/search-document.ts'
import { bestOf, type Hit, type Ranked } from './index/ranked.ts'
import { SearchIndex } from './index/search-index.ts'
import { readMeanings } from './known-meanings.ts'
import type { Meanings } from './meanings.ts'
import { guessedNote, isSaid, isWeak, unmetNote, weakNote } from './weak-answer.ts'
import type { ServerRecord } from '@sandbridge/core/calls/catalog'

interface FoundHere extends Found {
  /** How well the best tool fits the first wording; undefined when that cannot be judged, or its name was given. */
  fit: number | undefined
  /** A tool fits. */
  fits: boolean
}

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 100
/** How many tools of each wording are fused, when there are several. */
const FUSED = 50
/**
 * A tool that fits a wording less than half as well as the best one does is not shown, unless that one is a guess: a
 * model reads each line in every later turn. Recall at 5 falls by at most 0.01, and the answer to one wording by a
 * third (the section `catalog` of the bench).
 */
const NEAR = 0.5
/** Who asks for more tools than this wants to see what there is. */
const BROAD = 5
/** So many tools are shown for each of several needs. */
const LEAST_FOR_NEED = 2
/** A prompt or resource ranks before a tool of its own server only if it fits this much better. */
const OWN_OFFERING = 0.5

export class CatalogSearch implements ToolSearch {
  readonly #records: ReadonlyMap<string, ServerRecord>
  readonly #isShown: (tool: CatalogTool) => boolean
  #index: SearchIndex<CatalogTool> | undefined
  /** Tools that are not in the index yet, the next one at the end. */
  #unread: CatalogTool[] = []

  constructor(records: ReadonlyMap<string, ServerRecord>, isShown: (tool: CatalogTool) => boolean) {
    this.#records = records
    this.#isShown = isShown
  }

  async find(query: Wordings, records: readonly ServerRecord[], options: FindOptions): Promise<FoundHere> {
    const [text, ...others] = [query].flat()
    const needs = text === undefined || others.length > 0 ? [] : needsIn(text)
    if (needs.length < 2) return this.#find(query, records, options)
    const whole = await this.#find(query, records, options)
    const apart: FoundHere[] = []
    for (const need of needs) apart.push(await this.#find(need, records, options))
    return areApart(whole, apart) ? byTurns(needs, apart, options.limit ?? DEFAULT_LIMIT) : whole
  }

  /** The same for one need, in one or more wordings. */
  async #find(query: Wordings, records: readonly ServerRecord[], options: FindOptions): Promise<FoundHere> {
    const limit = Math.min(MAX_LIMIT, Math.max(1, Math.trunc(options.limit ?? DEFAULT_LIMIT)))
    // A wording that was cut is the first, and its parts follow.
    const wordings = wordingsIn(query)
    const given = [query].flat().length
    await options.learned?.ready()
    const learned = (options.learned?.ledTo(...wordings) ?? []).flatMap((one) => this.#learnedTool(one, records) ?? [])
    const within = new Set(records.map((record) => record.name))
    const { others = [] } = options
    const accepts = (tool: CatalogTool) => within.has(tool.server) && this.#isShown(tool)
    const isTool = (tool: CatalogTool): boolean => !isOffering(tool) && accepts(tool)
    const offering = new Set(records.filter((record) => record.offerings.length > 0).map((record) => record.name))
    const depth = wordings.length === 1 ? limit : Math.max(limit, FUSED)
    const meanings = await readMeanings()
    const index = await this.#known(meanings)
    const ownIndex = others.length > 0 ? indexOf(others, meanings) : undefined
    let [fits, isGuess] = [false, true]
    let fit: number | undefined
    const rankings: Ranking<CatalogTool>[] = []
    /** Of wordings without a letter. */
    const ofNothing: Ranking<CatalogTool>[] = []
    for (const [at, wording] of wordings.entries()) {
      // A search may have hundreds of wordings, and the bridge serves others meanwhile.
      if (at > 0) await nextTurn()
      // Both count the words of both, so that their scores compare.
      const ranked = index.rank(wording, ownIndex?.rank(wording).frequencies)
      const own = ownIndex?.rank(wording, ranked.frequencies)
      const hits = own ? bestOf(depth, ranked.best(depth, isTool), own.best(depth)) : ranked.best(depth, isTool)
      if (ranked.isEmpty) {
        ofNothing.push({ items: hits.map(({ item }) => item), say: 1 })
        continue
      }
      const least = isSaid(hits.slice(0, 1)) && limit <= BROAD ? hits[0]!.score * NEAR : 0
      const near = hits.filter(({ score }) => score >= least)
      const found = offering.size === 0 ? near : this.#withOfferings(ranked, near, depth, offering, least)
      const shown = found.slice(0, limit)
      // Similar names say little: `who is out` for `whos_out`.
      if (at === 0) fit = hits[0]?.fit
      if (!ranked.isOfNothing || own?.isOfNothing === false) {
        fits ||= !isWeak(shown, given > 1 || at > 0)
        isGuess &&= !isSaid(shown)
      }
      rankings.push({ items: found.map(({ item }) => item), say: 1 })
    }
    if (rankings.length === 0) rankings.push(...ofNothing)
    const [mostAlike] = learned
    if (mostAlike) rankings.push({ items: learned.map(({ item }) => item), say: mostAlike.likeness })
    const tools = fuse(rankings, limit)
    const reasons = (): (Reason | undefined)[] => {
      const byWording = wordings.map((wording) => index.explain(wording, tools))
      return tools.map((_, tool) => {
        const ofTool = byWording.map((ofWording) => ofWording[tool])
        return ofTool.toSorted((a, b) => (b?.score ?? 0) - (a?.score ?? 0))[0]
      })
    }
    const found = { tools, fit, fits: fits || mostAlike !== undefined, reasons }
    if (mostAlike || (fits && !isGuess) || tools.length === 0) return { ...found, weak: undefined }
    const searched = this.#all().filter(isTool).length + others.length
    return { ...found, weak: (fits ? guessedNote : weakNote)(searched) }
  }

  /** Undefined for a tool that is not among `records`, is denied or has changed since. */
  #learnedTool(
    { server, name, print, likeness }: LearnedTool,
    records: readonly ServerRecord[],
  ): { item: CatalogTool; likeness: number } | undefined {
    const item = records.find(({ key }) => key === server)?.named(name)
    const isCurrent = item?.name === name && item.fingerprint === print && this.#isShown(item)
    return isCurrent ? { item, likeness } : undefined
  }

  async likeTool(record: ServerRecord, wrong: string): Promise<CatalogTool[]> {
    const tools = (record.tools ?? []).filter(this.#isShown)
    const aliases = tools.map((tool) => tool.alias)
    const near = didYouMean(wrong, aliases).map((alias) => tools.find((tool) => tool.alias === alias)!)
    // Only what shares a word: the search itself always finds something, which for `foo` means nothing.
    const index = await this.#known(await readMeanings())
    const found = index.rank(wrong).matching(3, (tool) => tools.includes(tool))
    return [...new Set([...near, ...found.map(({ item }) => item)])].slice(0, 3)
  }

  /** Tools that were not known before: the next search adds them to the index. */
  add(tools: readonly CatalogTool[]): void {
    if (this.#index) this.#unread.unshift(...tools.toReversed())
  }

  /** Tools have changed: rebuild the index at the next search. */
  forget(): void {
    this.#index = undefined
    this.#unread = []
  }

  /**
   * Inserts resources and prompts that fit the query better than the tools found: up to a third of the results. One
   * that duplicates a tool of its own server comes after that tool.
   * @param offering the servers that may have some
   * @param least the score that it needs
   */
  #withOfferings(
    ranked: Ranked<CatalogTool>,
    tools: readonly Hit<CatalogTool>[],
    limit: number,
    offering: ReadonlySet<string>,
    least: number,
  ): Hit<CatalogTool>[] {
    const most = Math.max(Math.ceil(limit / 3), limit - tools.length)
    const isOffered = (tool: CatalogTool): boolean =>
      isOffering(tool) && offering.has(tool.server) && this.#isShown(tool)
    const offered = ranked.matching(most, isOffered).filter(({ score }) => score >= least)
    const found: Hit<CatalogTool>[] = []
    for (const tool of tools) {
      const isBetter = ({ item, score }: Hit<CatalogTool>): boolean =>
        score * (item.server === tool.item.server ? OWN_OFFERING : 1) > tool.score
      while (offered[0] !== undefined && isBetter(offered[0])) found.push(offered.shift()!)
      found.push(tool)
    }
    return [...found, ...offered].slice(0, limit)
  }

  /** The index of all. It is made in pieces, and made anew if the tools change meanwhile. */
  async #known(meanings: Meanings | undefined): Promise<SearchIndex<CatalogTool>> {
    const pause = pauses()
    for (;;) {
      if (!this.#index) {
        this.#index = new SearchIndex(meanings)
        this.#unread = this.#all().toReversed()
      }
      const tool = this.#unread.pop()
      if (!tool) return this.#index
      this.#index.add(tool, searchDocument(tool))
      await pause()
    }
  }

  #all(): CatalogTool[] {
    return [...this.#records.values()].flatMap((record) => [...(record.tools ?? []), ...record.offerings])
  }
}

/** A part has a tool that fits it better than any tool fits the whole. */
function areApart(whole: FoundHere, parts: readonly FoundHere[]): boolean {
  const { fit } = whole
  return fit !== undefined && parts.some((part) => part.fits && (part.fit ?? Infinity) > fit)
}

/** The first of each need, then the second of each, and so on. */
function byTurns(needs: readonly string[], found: readonly FoundHere[], limit: number): FoundHere {
  const met = found.filter(({ fits }) => fits)
  const shown = met.length > 0 ? met : found
  const reasons = new Map<CatalogTool, () => Reason | undefined>()
  const most = Math.max(limit, LEAST_FOR_NEED * shown.length)
  for (let turn = 0; turn < limit && reasons.size < most; turn += 1) {
    for (const one of shown) {
      const tool = one.tools[turn]
      if (tool && !reasons.has(tool) && reasons.size < most) reasons.set(tool, () => one.reasons()[turn])
    }
  }
  const unmet = needs.filter((_, at) => !found[at]!.fits)
  const weak = met.length > 0 ? unmet.length > 0 && unmetNote(unmet) : found[0]!.weak
  return {
    tools: [...reasons.keys()],
    weak: weak || undefined,
    fit: undefined,
    fits: met.length > 0,
    reasons: () => [...reasons.values()].map((reason) => reason()),
  }
}

function indexOf(tools: readonly CatalogTool[], meanings: Meanings | undefined): SearchIndex<CatalogTool> {
  const index = new SearchIndex<CatalogTool>(meanings)
  for (const tool of tools) index.add(tool, searchDocument(tool))
  return index
}
