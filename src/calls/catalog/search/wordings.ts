// Cuts what somebody searches for into wordings, each of which is searched for by itself. Pure.

/** One wording of a need, or several. */
export type Wordings = string | readonly string[]

/** Longer texts are cut. */
const MAX_LENGTH = 2000
/** Of a text that somebody pasted, so many sentences are searched by themselves. */
const MAX_SENTENCES = 8
const LEAST_WORDS = 3

/**
 * A text of several sentences is one wording as a whole, and each of its sentences is another: one may be about
 * something else.
 */
export function wordingsIn(query: Wordings): string[] {
  return [query].flat().flatMap((given) => {
    const text = given.slice(0, MAX_LENGTH)
    const sentences = sentencesOf(text)
    return sentences.length > 1 ? [text, ...sentences] : [text]
  })
}

function sentencesOf(text: string): string[] {
  const parts = text.split(/(?:[.;!?]\s|[\r\n])\s*(?:then\s)?|,?\s(?:and )?then\s/i)
  return parts.filter((part) => (part.match(/\p{L}+/gu) ?? []).length >= LEAST_WORDS).slice(0, MAX_SENTENCES)
}
