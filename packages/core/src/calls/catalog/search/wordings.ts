// Cuts what somebody searches for into wordings, each of which is searched for by itself. Pure.

/** One wording of a need, or several. */
export type Wordings = string | readonly string[]

/** Longer texts are cut. */
const MAX_LENGTH = 2000
/** Of a text that somebody pasted, so many sentences and clauses are searched by themselves. */
const MAX_PARTS = 8
const LEAST_WORDS = 3
/** A sentence of so many words is cut into its clauses, if each of them is long enough to be a need. */
const LONG_SENTENCE = 12

/** A text of several sentences or clauses is one wording as a whole, and each of them is another. */
export function wordingsIn(query: Wordings): string[] {
  return [query].flat().flatMap((given) => {
    const text = given.slice(0, MAX_LENGTH)
    const parts = sentencesOf(text).flatMap(clausesOf).filter(isLongEnough).slice(0, MAX_PARTS)
    return parts.length > 1 ? [text, ...parts] : [text]
  })
}

function sentencesOf(text: string): string[] {
  return text.split(/(?:[.;!?]\s|[\r\n])\s*(?:then\s)?|,?\s(?:and )?then\s/i)
}

function clausesOf(sentence: string): string[] {
  if (wordCount(sentence) < LONG_SENTENCE) return [sentence]
  const clauses = sentence.split(/,?\s(?:and|but|also|plus|as well as)(?:\s(?:also|then|please))*\s/i)
  return clauses.every(isLongEnough) ? clauses : [sentence]
}

function isLongEnough(part: string): boolean {
  return wordCount(part) >= LEAST_WORDS
}

function wordCount(text: string): number {
  return (text.match(/\p{L}+/gu) ?? []).length
}
