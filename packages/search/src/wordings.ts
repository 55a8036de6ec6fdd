// Cuts what somebody searches for into wordings, each searched for by itself, and a list of needs into needs. Pure.
import type { Wordings } from '@sandbridge/core/calls/catalog'

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

const MAX_NEEDS = 8
/** A longer part is a sentence of a story, not an item of a list. */
const MAX_WORDS = 9
/** A longer text is no list. It also bounds the time that reading one takes. */
const MAX_LIST_LENGTH = 1000
/** What stands between the items of a list. In a path or a rate (`km/h`), a slash is a part of a word. */
const BETWEEN =
  /((?:\s*[;\r\n]+\s*(?:[-*•]\s+|\d+[.)]\s+)?|\s*,\s*|\s*[/&+]\s*)(?:(?:and|then|or)\s+)*|\s+and\s+(?:then\s+)?)/i
/** What no phrase holds. */
const HARD = /[;\r\n]/
/** A part that begins with one of these goes on with the part before it. */
const GOES_ON =
  /^(?:with|without|to|of|by|from|into|in|on|at|for|between|including|as|than|so|because|but|or|not|a half|(?:which|that|who)\s+(?:is|are|was|were|has|have|can|do|does))\b/i
/** A part with one of these is about something that another part has named. */
const REFERS_BACK = /\b(?:it|them|they|those|both)\b/i
/** Details that follow may be one word each: `create a contact with name, email and phone`. */
const HAS_DETAILS = /\b(?:with|without|of|by|from|into|for|between|including)\b/i
/** Somebody who tells a story lists nothing. */
const STORY = /\b(?:could you|can you|please|hi|hello)\b|[a-z][.?!](?:\s|$)/i

/** The needs of a text, in its words; one for a text that has not the form of a list. */
export function needsIn(text: string): string[] {
  if (text.length > MAX_LIST_LENGTH) return [text]
  const [first = '', ...rest] = text
    .trim()
    .replace(/^(?:[-*•]|\d+[.)])\s+/, '')
    .split(BETWEEN)
  if (rest.length === 0 || STORY.test(text)) return [text]
  const needs = [first]
  for (let at = 0; at < rest.length; at += 2) {
    const [between, part] = [rest[at]!, rest[at + 1]!]
    const before = needs.at(-1)!
    const isItem = isNeed(before, between, before) && isNeed(part, between, before) && !GOES_ON.test(part)
    if (isItem) needs.push(part)
    else needs[needs.length - 1] = part === '' ? before : `${before}${between}${part}`
  }
  return needs.length > 1 && needs.length <= MAX_NEEDS ? needs : [text]
}

/** @param between what stands between the part and its neighbour @param before the part before it */
function isNeed(part: string, between: string, before: string): boolean {
  const words = part.match(/[\p{L}\d]+/gu) ?? []
  const isHard = HARD.test(between)
  const mayBeWord = isHard || (between.includes(',') && !/\band\b/i.test(between) && !HAS_DETAILS.test(before))
  const isWhole = words.length > 1 ? words[0]!.length > 1 : mayBeWord && (words[0]?.length ?? 0) > 3
  return isWhole && words.length <= MAX_WORDS && (isHard || !REFERS_BACK.test(part))
}
