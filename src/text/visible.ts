// Makes text from others safe for a terminal: nothing in it controls the terminal or displays as something else. Pure.

/** Terminal controls (C0, C1), direction marks, and zero-width characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes invisible characters as JSON does: `\u001b`. Line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)))
}

/** The same on one line, so that foreign text cannot imitate a line of ours. */
export function visibleInline(text: string): string {
  return text.replace(UNSEEN, escaped)
}

/** Also escapes blanks that a line would hide text behind: runs of spaces, as one space with their number, and characters that look like none. */
export function withVisibleBlanks(line: string): string {
  return visibleInline(line)
    .replace(/[\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/gu, (blank) => (blank === ' ' ? blank : escaped(blank)))
    .replace(/ {2,}/g, (run) => `\\u0020{${run.length}}`)
}

function escaped(character: string): string {
  const unit = (index: number): string => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  return Array.from({ length: character.length }, (_, index) => unit(index)).join('')
}
