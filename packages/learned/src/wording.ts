// The words of a search that may be kept. A search is what a model wrote, and may contain a value: an address, a name,
// a token. Kept are the stems of common words and of words of the tool that was found, sorted, so that the sentence is
// lost. Pure.
import { isSecretName } from '@sandbridge/core/config/secrets'
import { isStopWord, stem } from '@sandbridge/search/index/tokenize.ts'

const MAX_CHARS = 300
const MAX_WORDS = 8
/** What a model quotes is a value. */
const QUOTED = /"[^"]*"?|`[^`]*`?|“[^”]*”?|(?<![a-z])'[^']*(?:'|$)/gi
/** Lower case, or joined as in a tool's name. A word in capitals, a number, an address or a path is a value. */
const PLAIN = /^[a-z]{2,20}(?:[_-][a-z]{2,20})*$/
/** What follows one of these may be a secret made of common words, in any form of it and with any sign beside it. */
const BEFORE_SECRETS =
  /^(?:pass|token|keys?$|login$|phrase$|kennwort|wachtwoord|contrase|senha$|clave|parola|has[lł]o$|парол|密码|暗号|パスワード)/iu
/** After one of these, without an article, may stand a name, which may be made of common words: mark rose. */
const BEFORE_NAMES = /^(?:to|from|for|by|with|of|named|called|cc|mr|mrs|ms|dr|user|customer|client|contact|patient)$/i
const AFTER_NAMES = /^(?:a|an|the|this|that|my|our|all|any|each|and|or|in|on|at|about|as|into|via|using)$/i

/**
 * @param isKnown whether a word may be kept
 * @param isOwn whether it is one of the tool, which may be kept in the place of a name, too
 */
export function wordingOf(text: string, isKnown: (word: string) => boolean = () => true, isOwn = isKnown): string[] {
  const found = new Set<string>()
  const parts = text.slice(0, MAX_CHARS).replace(QUOTED, withoutQuoted).trim().split(/\s+/)
  // A secret may stand before its name, too: rose is the password.
  const isSafe = parts.some(namesSecret) ? isOwn : isKnown
  let mayKeep = isSafe
  for (const [at, part] of parts.entries()) {
    const bare = part.replace(/^\(|[).,;:!?]+$/g, '')
    // The first word of a sentence.
    const own = at === 0 && /^[A-Z][a-z]+$/.test(bare) ? bare.toLowerCase() : bare
    if (AFTER_NAMES.test(bare)) mayKeep = isSafe
    for (const word of PLAIN.test(own) ? own.split(/[_-]/) : [])
      if (!isStopWord(word) && mayKeep(word)) found.add(stem(word))
    if (BEFORE_NAMES.test(bare)) mayKeep = isOwn
    if (namesSecret(part) || found.size >= MAX_WORDS) break
  }
  return [...found].slice(0, MAX_WORDS).toSorted()
}

function namesSecret(text: string): boolean {
  return isSecretName(text) || (text.match(/\p{L}+/gu) ?? []).some((word) => BEFORE_SECRETS.test(word))
}

/** Leaves a sign that a word for a secret stood there. */
const withoutQuoted = (quoted: string): string => (namesSecret(quoted) ? ' :password ' : ' ')

/** The share of words that two wordings have in common (Dice, 1945): from 0 to 1. */
export function alikeness(one: readonly string[], other: readonly string[]): number {
  const common = one.filter((word) => other.includes(word)).length
  return (2 * common) / (one.length + other.length || 1)
}
