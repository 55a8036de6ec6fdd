// Reads the thesaurus and finds alternatives for a word or phrase. The words are in thesaurus-data.ts. Pure.
import { THESAURUS } from './thesaurus-data.ts'
import { stems } from './tokenize.ts'

/** An alternative: stems that must all occur, and their weight relative to the original words. */
export interface Alternative {
  terms: string[]
  weight: number
}

const MAX_PHRASE_WORDS = 4

export class Thesaurus {
  readonly #alternatives = new Map<string, Map<string, Alternative>>()
  /** Longest phrase, in words. */
  readonly longest: number
  /** Single words of the thesaurus as written, for correcting typos. */
  readonly words: ReadonlySet<string>

  constructor(source: string = THESAURUS) {
    let longest = 1
    const single = new Set<string>()
    for (const line of source.split('\n')) {
      const entry = line.trim()
      if (entry === '' || entry.startsWith('//')) continue
      const [left = '', right] = entry.split('>')
      for (const word of entry.split(/[,>]/)) if (/^\s*\p{L}+\s*$/u.test(word)) single.add(word.trim())
      const from = phrases(left)
      const to = right === undefined ? from : phrases(right)
      // The more words a line has, the less related they are.
      const weight = right !== undefined ? 0.55 : from.length <= 3 ? 0.7 : from.length <= 6 ? 0.6 : 0.5
      for (const one of from) {
        longest = Math.max(longest, one.length)
        for (const other of to) this.#add(one, other, weight)
      }
    }
    this.words = single
    this.longest = Math.min(longest, MAX_PHRASE_WORDS)
  }

  /** Alternatives for a word or phrase given as stems; undefined when the thesaurus does not contain it. */
  alternatives(phrase: readonly string[]): Alternative[] | undefined {
    const found = this.#alternatives.get(phrase.join(' '))
    return found && [...found.values()]
  }

  #add(one: string[], other: string[], weight: number): void {
    const key = one.join(' ')
    const otherKey = other.join(' ')
    if (key === otherKey || key === '') return
    let known = this.#alternatives.get(key)
    if (known === undefined) this.#alternatives.set(key, (known = new Map()))
    const before = known.get(otherKey)
    if (before === undefined || before.weight < weight) known.set(otherKey, { terms: other, weight })
  }
}

function phrases(list: string): string[][] {
  return list
    .split(',')
    .map(stems)
    .filter((phrase) => phrase.length > 0)
}
