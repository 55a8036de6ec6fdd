// Reduces a user's sentence to the request: removes the person, politeness, dates, names and amounts.
// These words do not describe a tool, and they are rare enough in a catalog to outweigh the words that do. Pure.

/** A query with fewer words stays as it is; each of its words counts. */
const SENTENCE = 6
/** With fewer letters left, too much was removed. */
const LEAST_LEFT = 3
/** Stands for a removed part, so that the words around it do not become one phrase: "Log 12 euros in" is no login. */
const GAP = ' | '

const PEOPLE =
  'boss|manager|team|teammate|colleague|coworker|wife|husband|partner|friend|mom|mother|dad|father|son|daughter|sister|brother|client|' +
  'accountant|lawyer|landlord|neighbou?r|assistant|family|kids?|parents'
const UNIT = 'seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|quarters?|years?'
const COUNT =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|dozen'
const DAY =
  'mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sunday|weekend|january|february|march|april|june|july|august|' +
  'september|october|november|december'

/** The removed parts, in this order. */
const PATTERNS: RegExp[] = [
  // Values: addresses, quotations, numbers with their units.
  /\b[\w.+-]+@[\w-]+\.[\w.]+/g,
  /https?:\/\/\S+/g,
  /"[^"\n]{1,200}"|\u201c[^\u201d\n]{1,200}\u201d|(?<!\w)'[^'\n]{1,200}'(?!\w)/g,
  /\b(?:at|around|by|from|until|till|before|after)?\s*\d{1,2}(?::\d{2})?\s*(?:am|pm|o'clock)\b/gi,
  new RegExp(
    `\\b(?:\\d[\\d.,]*|${COUNT}|half an|an?|(?:a )?few|several|(?:a )?couple of)(?: and a half)?[\\s-](?:${UNIT})(?: ago| later| long| old)?\\b`,
    'gi',
  ),
  /[$\u20ac\u00a3]\s?\d[\d.,]*|\b\d[\d.,:/-]*\s?(?:%|st|nd|rd|th|usd|eur|dollars|euros|k|kg|km|gb|mb)?(?![\w-])/gi,
  // Dates.
  new RegExp(
    `\\b(?:on |by |since |until |till |from |in |early |late )?(?:last |next |this |past |coming |the )?(?:${DAY})s?(?:'s)?(?: (?:morning|afternoon|evening|night))?\\b`,
    'gi',
  ),
  /\b(?:in |on )?(?:the )?(?:last|next|this|past|coming|end of the|first|second|third|fourth) (?:morning|afternoon|evening|night|week|month|quarter|year|weekend|days)(?:'s)?\b/gi,
  /\b(?:the day (?:before|after) )?(?:today|tomorrow|tonight|yesterday)(?:'s)?(?: (?:morning|afternoon|evening|night))?\b|\b(?:as soon as possible|asap|all (?:day|night)|no time)\b/gi,
  // The person, the purpose, and politeness.
  /\b(?:hi|hello|hey|dear|good (?:morning|afternoon|evening))(?: there| all| team)?\b[,!]?/gi,
  /\b(?:please|pls|kindly|thanks(?: a lot| in advance| so much)?|thank you(?: very much| so much)?|sorry|cheers)\b/gi,
  /\b(?:so that|so|because|since|as|while|before|after|until|when) (?:i|i'm|we|we're|he|she|they|you)\b[^.,;!?]*/gi,
  /\b(?:do you think )?(?:could|can|would|will) (?:you|we|i)\b(?: (?:be able to|maybe|perhaps|also|just|quickly|help me(?: to)?))?/gi,
  /\b(?:is it possible|is there (?:a|any) way|any chance|what(?:'s| is) the best way|how (?:do|can|could|should) (?:i|we))(?: (?:to|of|you))?\b/gi,
  /\b(?:i|we)(?:'d| would)? (?:also |just |really |only )?(?:like|love|want|need|wish|hope|have got|have|must)(?: (?:you|it|someone))?(?: to)?\b/gi,
  /\b(?:i'm|i am|we're|we are) (?:trying|looking|planning|going|about|hoping|supposed|wondering)(?: to| for| if| whether)?\b/gi,
  /\bi (?:was |am |do )?(?:just )?(?:wonder(?:ing)?|think|guess|believe|know|forgot|remember)(?: (?:if|whether|that|you))*\b/gi,
  /\b(?:help|let|tell|show|give|get|send|find|bring|remind) (?:me|us)\b(?: (?:know|see|have|with|to))?/gi,
  /\bfor (?:me|us)\b/gi,
  new RegExp(
    `\\b(?:my|our) (?:${PEOPLE})s?(?:'s)?\\b(?: (?:wants?|needs?|asks?|asked|would like)(?: (?:me|us))?(?: to)?(?: (?:know|see|have))?)?`,
    'gi',
  ),
]
/** The number of patterns to apply before identifiers: e-mail addresses and URLs contain identifiers. */
const VALUES = 3
/** `Ms Tanaka`, `Lena Fischer`. */
const HONORIFIC = /\b(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.?\s+\p{Lu}\p{L}+/gu
const CAPITALIZED = /(?<=[\p{Ll},]\s)\p{Lu}\p{Ll}+(?:['\u2019]s)?(?=[\s.,;:!?]|$)/gu
/** `ABC-123`, `run-8fk2`. */
const IDENTIFIER = /\b(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[\w-]+/g
/** Keeps only the extension of a file name, which says what kind of file it is. */
const FILE = /\b[\w-]+\.(\p{L}{2,4})\b/gu

/** Asks for the present state, which tools call current. "Cut it at the moment when the bell rings" does not. */
const NOW = /\b(?:right now|at the moment)\b(?!\s+(?:when|where|that|of|the|it)\b)/gi

/** @param isKnown whether tools use a word: then it is not treated as a person's or place's name */
export function requestIn(asked: string, isKnown: (word: string) => boolean): string {
  const query = asked.replace(NOW, 'current')
  if ((query.match(/\p{L}+/gu) ?? []).length < SENTENCE) return query
  const keepKnown = (word: string): string => (isKnown(word.toLowerCase().replace(/['\u2019]s$/, '')) ? word : GAP)
  let left = query.replaceAll('\u2019', "'").replace(HONORIFIC, GAP).replace(CAPITALIZED, keepKnown)
  for (const pattern of PATTERNS.slice(0, VALUES)) left = left.replace(pattern, GAP)
  left = left.replace(FILE, ' $1 ').replace(IDENTIFIER, keepKnown)
  for (const pattern of PATTERNS.slice(VALUES)) left = left.replace(pattern, GAP)
  return left.replaceAll(/[^\p{L}]/gu, '').length < LEAST_LEFT ? query : left
}
