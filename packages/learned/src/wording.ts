// The words of a search that may be kept. A search is what a model wrote, and may contain a value: an address, a name,
// a token. Kept are the stems of common words and of words of the tool that was found, sorted, so that the sentence is
// lost. Pure.
import { isSecretName } from '@sandbridge/core/config/secrets'
import { isStopWord, stem } from '@sandbridge/core/calls/catalog/search'

const MAX_CHARS = 300
const MAX_WORDS = 8
/** What a model quotes is a value. */
const QUOTED = /"[^"]*"?|`[^`]*`?|“[^”]*”?|(?<![a-z])'[^']*(?:'|$)/gi
/** Lower case, or joined as in a tool's name. A word in capitals, a number, an address or a path is a value. */
const PLAIN = /^[a-z]{2,20}(?:[_-][a-z]{2,20})*$/
/** What follows one of these may be a secret made of common words. */
const BEFORE_SECRETS = /^(?:passw|token|keys?$|login$)/

/** @param isKnown whether a word may be kept */
export function wordingOf(text: string, isKnown: (word: string) => boolean = () => true): string[] {
  const found = new Set<string>()
  const parts = text.slice(0, MAX_CHARS).replace(QUOTED, ' ').trim().split(/\s+/)
  for (const [at, part] of parts.entries()) {
    const bare = part.replace(/^\(|[).,;!?]+$/g, '')
    // The first word of a sentence.
    const own = at === 0 && /^[A-Z][a-z]+$/.test(bare) ? bare.toLowerCase() : bare
    const words = PLAIN.test(own) ? own.split(/[_-]/) : []
    for (const word of words) if (!isStopWord(word) && isKnown(word)) found.add(stem(word))
    if (words.some((word) => BEFORE_SECRETS.test(word) || isSecretName(word)) || found.size >= MAX_WORDS) break
  }
  return [...found].slice(0, MAX_WORDS).toSorted()
}

/** The share of words that two wordings have in common (Dice, 1945): from 0 to 1. */
export function alikeness(one: readonly string[], other: readonly string[]): number {
  const common = one.filter((word) => other.includes(word)).length
  return (2 * common) / (one.length + other.length || 1)
}
