// Text written by others as a terminal can show it: nothing in it steers the terminal, or shows as something else than it is. Pure.

/** Controls of a terminal (C0, C1), of the direction of writing, and characters without any width. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A text with everything that cannot be seen written as JSON would: `\u001b`. Lines stay lines. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)))
}

/** The same on one line: what was written by others cannot pass for a line of ours. */
export function visibleInline(text: string): string {
  return text.replace(UNSEEN, escaped)
}

function escaped(character: string): string {
  const unit = (index: number): string => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  return Array.from({ length: character.length }, (_, index) => unit(index)).join('')
}
