// "Did you mean": finds the known names closest to a mistyped one. Pure.
import { nameWords, byCodeUnit, foldName } from './python-name.ts'

const MAX_LENGTH = 80

/**
 * Returns up to `limit` of the `names` close to `wrong`, best first.
 * Close means: one or two typos, another case or separator, or most words in common.
 */
export function didYouMean(wrong: string, names: Iterable<string>, limit = 3): string[] {
  const start = wrong.slice(0, MAX_LENGTH)
  const wanted = foldName(start)
  const wantedWords = new Set(nameWords(start))
  const near: { name: string; distance: number }[] = []
  for (const name of names) {
    const nameStart = name.slice(0, MAX_LENGTH)
    const folded = foldName(nameStart)
    const longest = Math.max(wanted.length, folded.length)
    const most = Math.max(1, Math.floor(longest / 3))
    const edits = editDistance(wanted, folded, most)
    const words = nameWords(nameStart)
    const common = words.filter((word) => wantedWords.has(word)).length
    const apart = 1 - (2 * common) / (words.length + wantedWords.size || 1)
    const distance = Math.min(edits > most ? 1 : edits / (longest || 1), apart * 0.8)
    // Half of the words is not enough: `create_ticket` is not close to `create_branch`.
    if (distance < 0.4) near.push({ name, distance })
  }
  return near
    .toSorted((a, b) => a.distance - b.distance || byCodeUnit(a.name, b.name))
    .slice(0, limit)
    .map(({ name }) => name)
}

/** `Did you mean create_issue or update_issue?`, or ''. @param shown how a name is shown; missing: as it is */
export function didYouMeanText(
  wrong: string,
  names: Iterable<string>,
  shown: (name: string) => string = (name) => name,
): string {
  const near = didYouMean(wrong, names)
  return near.length === 0 ? '' : `Did you mean ${near.map(shown).join(' or ')}?`
}

/** Returns the known name within two edits (a third of the length for short names); undefined if there is none. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const most = Math.min(2, Math.floor(name.length / 3))
  let best: string | undefined
  let bestDistance = most + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), most)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Counts the edits (insert, delete, replace, swap neighbours) between two texts, at most `limit + 1`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  if (a === b) return 0
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    let best = i
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1)
      row.push(cost)
      if (cost < best) best = cost
    }
    if (best > limit) return limit + 1
    before = last
    last = row
  }
  return Math.min(last[b.length]!, limit + 1)
}
