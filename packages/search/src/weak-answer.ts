// Judges whether the best tools of a search fit its query at all: a search finds the nearest tools even where none
// fits. The floor was found on labelled queries over catalogs with and without the tool they ask for; the benchmark
// `catalog` measures it. Pure.
import type { Concept } from './query-concepts.ts'
import { stems } from './index/tokenize.ts'
import { count } from '@sandbridge/core/util/text'

/** Words of so many tools and queries that sharing one says little: `create`, `get`, `name`. */
const COMMON = new Set(
  stems(
    'get list create update delete add set make read find show search send put take give open run start stop change ' +
      'remove see look check do want go need fetch retrieve view write tell help work move keep have execute display ' +
      'return perform call handle manage new one all more much any every another longer out up down thing something ' +
      'everything info information detail data item result name id type value number text content user',
  ),
)
const COMMON_WEIGHT = 0.1
/** How much similarity in meaning counts beside the words. */
const MEANING = 0.5
/** The weight of a word that only stands for a word of the query, such as a synonym. */
export const GUESSED = 0.5
/** The fit of the best tool below which an answer is weak. */
const FLOOR = 0.2
/** The same for one of several wordings. Where a tool fits, one of them has its words. */
const FLOOR_OF_SEVERAL = 0.4

/** With less of the query in its own words, a tool is a guess. One word of COMMON beside another word is less. */
const LEAST_SAID = 0.15
const OTHERWISE = 'Search again with other wordings of the same need'

/** A tool that was found, and how well its words match those of the query. */
export interface Judged {
  /** See `fitOf`; undefined when it cannot be judged: without word vectors, or for a tool whose name is the query. */
  fit: number | undefined
  /** The share of the query's weight that it has in the query's own words; undefined like `fit`. */
  said: number | undefined
}

/** The weight of a concept in the fit of a tool. @param rarity the weight that it has in the ranking */
export function weightInFit({ own }: Concept, rarity: number): number {
  return COMMON.has(own) ? rarity * COMMON_WEIGHT : rarity
}

/**
 * How well a tool fits a query. Unlike its rank, it hardly depends on how many other tools there are.
 * @param share the share of the query's weight that the tool's words match
 * @param likeness similarity in meaning, from 0 to 1
 */
export function fitOf(share: number, likeness: number): number {
  return share + MEANING * likeness
}

/**
 * Whether none of the hits of a query fits it. A hit that cannot be judged fits.
 * @param isOneOfSeveral whether it is one of several wordings, for which a tool must fit better
 */
export function isWeak(hits: readonly Judged[], isOneOfSeveral: boolean): boolean {
  const floor = isOneOfSeveral ? FLOOR_OF_SEVERAL : FLOOR
  return hits.every(({ fit = Infinity }) => fit < floor)
}

/** Whether one of the hits has the words of the query, or is not judged by them. Otherwise all are guesses. */
export function isSaid(hits: readonly Judged[]): boolean {
  return hits.some(({ said = Infinity }) => said >= LEAST_SAID)
}

/** What an answer begins with when it is weak. */
export function weakNote(searched: number): string {
  return `No tool fits. ${OTHERWISE}. Nearest (${count(searched, 'tool')} searched):`
}

/** What an answer begins with when no tool fits some of its needs. */
export function unmetNote(unmet: readonly string[]): string {
  return `No tool fits ${unmet.map((need) => JSON.stringify(need)).join(', ')}. ${OTHERWISE}. For the rest:`
}

/** What an answer begins with when no tool in it has the words of the search. */
export function guessedNote(searched: number): string {
  return `Few words matched. ${OTHERWISE}. Guessed (${count(searched, 'tool')} searched):`
}
