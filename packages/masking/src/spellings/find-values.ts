// Finds values in a text whatever it spells them in, and says what each of them is. Pure.
import type { Match } from '../by-patterns.ts'
import { decoded, isInLiteral, type Level, levelOf, literalValue } from './decode.ts'
import { type Range, View } from './view.ts'

/** A range of a text, and the value that it stands for; undefined where it can be one of several, or is cut. */
export interface Found extends Match {
  value: string | undefined
}

interface Option extends Found {
  /** Where it stands in the text of each level, from the first to its own. */
  places: readonly Range[]
  /** Found by the reading that is not certain. */
  isGuess: boolean
}

/** JSON in JSON in what Python prints, in a URL. */
const MAX_LEVELS = 5
const MAY_BE_ESCAPE = /\\[abefnrtv03xu]/i
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu

/**
 * @param find finds values in a text as it is
 * @param isKnown whether a server returned this value; missing for a text of a server, which is what it says
 */
export function findValues(
  text: string,
  find: (text: string) => Match[],
  isKnown?: (value: string) => boolean,
): Found[] {
  const levels = levelsOf(text)
  const guesses = isKnown && MAY_BE_ESCAPE.test(text) ? levelsOf(text, 'outside') : []
  const outside = optionsOf(guesses, find, 1).filter(({ start }) => !isInLiteral(guesses[0]!, start))
  const options = [...optionsOf(levels, find), ...outside]
  return overlapping(options).flatMap((group) => meant(group, levels, isKnown))
}

function levelsOf(text: string, reading?: 'outside'): Level[] {
  const levels = [levelOf(new View(text))]
  while (levels.length < MAX_LEVELS) {
    const next = decoded(levels.at(-1)!, reading)
    if (!next) break
    levels.push(next)
  }
  return levels
}

/** @param first the first level that is searched: those before were */
function optionsOf(levels: readonly Level[], find: (text: string) => Match[], first = 0): Option[] {
  return levels.slice(first).flatMap(({ view }, index) =>
    apart([...find(view.text), ...findBeneath(view, find)]).map((match): Option => {
      const places: Range[] = [[match.start, match.end]]
      for (let at = first + index; at > 0; at -= 1) places.unshift(levels[at]!.view.before(places[0]!))
      const [start, end] = places[0]!
      const value = match.isCut ? undefined : (match.value ?? view.text.slice(match.start, match.end))
      return { start, end, label: match.label, value, places, isGuess: first > 0 }
    }),
  )
}

/** Finds values that invisible characters interrupt: a person and a model read over these. */
function findBeneath(view: View, find: (text: string) => Match[]): Match[] {
  const seen = view.replaced(INVISIBLE, () => '')
  if (!seen) return []
  return find(seen.text).map((match) => {
    const [start, end] = seen.before([match.start, match.end])
    return { ...match, start, end }
  })
}

/** Sorts matches and merges those that overlap, under the first one's label; at equal starts, the longest one's. */
export function apart(matches: readonly Match[]): Match[] {
  return overlapping(matches).map(([first, ...others]) => ({
    ...first!,
    end: others.reduce((end, other) => Math.max(end, other.end), first!.end),
  }))
}

function overlapping<T extends Match>(matches: readonly T[]): T[][] {
  const groups: T[][] = []
  let end = -1
  for (const match of matches.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (match.start < end) groups.at(-1)!.push(match)
    else groups.push([match])
    end = Math.max(end, match.end)
  }
  return groups
}

/** Chooses from what the levels find at one place. */
function meant(group: readonly Option[], levels: readonly Level[], isKnown?: (value: string) => boolean): Found[] {
  const [first] = group as [Option]
  const own = certain(
    group.filter(({ isGuess }) => !isGuess),
    levels,
  )
  const others = group.filter((one) => !own.some((other) => isSame(one, other)))
  if (others.length === 0) return own
  const isOfServer = ({ value }: Found): boolean => value !== undefined && isKnown?.(value) === true
  const known = others.filter(isOfServer)
  const isOwnKnown = own.some(isOfServer)
  if (!isOwnKnown && known.length > 0 && known.every((one) => isSame(one, known[0]!))) return [known[0]!]
  const guesses = others.filter(({ isGuess }) => isGuess)
  if (own.length > 0 && (guesses.length === 0 || (isOwnKnown && known.length === 0))) return own
  if (own.length === 0 && guesses.every((one) => isSame(one, first))) return [first]
  return [{ ...first, end: Math.max(...group.map(({ end }) => end)), value: undefined }]
}

/** What stands at one place is read as often as its literals say; otherwise, the last level that finds it is right. */
function certain(group: readonly Option[], levels: readonly Level[]): Found[] {
  const [first] = group
  if (!first) return []
  const [shallow, deep] = [group.at(0)!, group.at(-1)!]
  if (!group.every(({ start, end }) => start === first.start && end === first.end)) {
    // A part of a URL may be encoded because it is one value.
    if (shallow.start === deep.start && levels[0]!.view.text[deep.end] === '%') return [shallow]
    const last = Math.max(...group.map(({ places }) => places.length))
    return group.filter(({ places }) => places.length === last)
  }
  if (!isInLiteral(levels[0]!, first.start)) return [shallow]
  // What looks like a part of a URL, or of HTML, may be in the value itself.
  return [{ ...shallow, value: shallow.value && /[%&]/.test(shallow.value) ? literalValue(shallow.value) : deep.value }]
}

const isSame = (one: Found, other: Found): boolean =>
  one.start === other.start && one.end === other.end && one.value === other.value
