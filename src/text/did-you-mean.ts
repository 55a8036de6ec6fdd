// The known names that come closest to a mistaken one. Pure.
import { editDistance } from './edit-distance.ts'
import { byCodeUnit, foldName } from './python-name.ts'

const MAX_LENGTH = 80

/**
 * Up to `limit` of `names` that could be meant by `wrong`, best first; none when nothing is near.
 * Near is: a typo or two, another case or separator, or most of the words in common.
 */
export function didYouMean(wrong: string, names: Iterable<string>, limit = 3): string[] {
  const wanted = foldName(wrong.slice(0, MAX_LENGTH))
  const wantedWords = new Set(nameWords(wrong))
  const near: { name: string; distance: number }[] = []
  for (const name of names) {
    const folded = foldName(name.slice(0, MAX_LENGTH))
    const longest = Math.max(wanted.length, folded.length)
    const most = Math.max(1, Math.floor(longest / 3))
    const edits = editDistance(wanted, folded, most)
    const words = nameWords(name)
    const common = words.filter((word) => wantedWords.has(word)).length
    const apart = 1 - (2 * common) / (words.length + wantedWords.size || 1)
    const distance = Math.min(edits > most ? 1 : edits / (longest || 1), apart * 0.8)
    // Half of the words in common is not enough: `create_ticket` is no `create_branch`.
    if (distance < 0.4) near.push({ name, distance })
  }
  return near
    .toSorted((a, b) => a.distance - b.distance || byCodeUnit(a.name, b.name))
    .slice(0, limit)
    .map(({ name }) => name)
}

/** `Did you mean create_issue or update_issue?`, or an empty string. */
export function didYouMeanText(wrong: string, names: Iterable<string>): string {
  const near = didYouMean(wrong, names)
  return near.length === 0 ? '' : `Did you mean ${near.join(' or ')}?`
}

function nameWords(name: string): string[] {
  return name
    .slice(0, MAX_LENGTH)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}
