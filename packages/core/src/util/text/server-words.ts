// Cleans server text for people and models: removes terminal controls, the invisible, and reordering. All server text
// that leaves the bridge passes through here. Pure.

/** Control, bidirectional, zero-width, tag and filler characters: used to hide instructions from people. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu
/* oxlint-disable no-control-regex -- control characters are what is looked for */
const ESCAPE_SEQUENCE =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|\u001b[@-Z\\^_]/g
/* oxlint-enable no-control-regex */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const HIDDEN = /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u

/** Fast path: most server text contains nothing to clean. */
const PLAIN = /^[\x20-\x7e\n\t]*$/

/** Removes invisible characters; line breaks stay. */
export function cleanWords(text: string): string {
  if (PLAIN.test(text)) return text
  return text
    .replace(ESCAPE_SEQUENCE, '')
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : ''))
    .replace(LONE_SURROGATE, '\ufffd')
}

/** True if a text contains characters that people do not see, except joiners of emoji and of some scripts. */
export function hidesWords(text: string): boolean {
  return HIDDEN.test(text)
}

/** True if a text that must not be changed, such as the value of a choice, displays as it is. */
export function isPlainlySeen(text: string): boolean {
  return cleanWords(text) === text && !text.includes('\n')
}

/** Collapses all white space to single blanks. */
export function onOneLine(text: string): string {
  return cleanWords(text).replace(/\s+/g, ' ').trim()
}
