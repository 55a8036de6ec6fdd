// What a server says, made fit for a person or a model to read: nothing that steers a terminal, is invisible, or shows in another order than it is written.
// Every path on which a server's words leave the bridge goes through here. It cannot make them true or harmless. Pure.

/** Controls, bidirectional and zero-width characters, tag characters, fillers: used to hide instructions from people. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu
/* oxlint-disable no-control-regex -- control characters are what is looked for */
const ESCAPE_SEQUENCE =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|\u001b[@-Z\\^_]/g
/* oxlint-enable no-control-regex */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const HIDDEN = /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u

/** Most of what servers say: in it there is nothing to clean. */
const PLAIN = /^[\x20-\x7e\n\t]*$/

/** The same text with nothing unseen in it; lines stay lines. */
export function cleanWords(text: string): string {
  if (PLAIN.test(text)) return text
  return text
    .replace(ESCAPE_SEQUENCE, '')
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(UNSEEN, (character) => (character === '\n' || character === '\t' ? character : ''))
    .replace(LONE_SURROGATE, '\ufffd')
}

/** Whether there is something in a text that people do not see, other than joiners of emoji and of some scripts. */
export function hidesWords(text: string): boolean {
  return HIDDEN.test(text)
}

/** Whether a text that must stay as it is, such as the value of a choice, shows as what it is. */
export function isPlainlySeen(text: string): boolean {
  return cleanWords(text) === text && !text.includes('\n')
}

/** `text` with all white space as single blanks. */
export function onOneLine(text: string): string {
  return cleanWords(text).replace(/\s+/g, ' ').trim()
}
