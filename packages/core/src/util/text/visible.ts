// Makes text from others safe for a terminal: nothing in it controls the terminal or displays as something else. Pure.

/**
 * What is not seen: terminal controls (C0, C1), direction marks, zero-width and filler characters, the empty Braille
 * pattern, and combining marks after the fourth on one letter, which no script needs and which cover other lines.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}/gu

/** What a name or a value can hold without a reader noticing. */
export const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

const KEPT = new Set(['\n', '\t', '\ufe0f'])

/** Escapes invisible characters as JSON does: `\u001b`. Line breaks, tabs and emoji marks stay. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => (KEPT.has(character) ? character : escapedUnits(character)))
}

/** The same on one line, so that foreign text cannot imitate a line of ours. */
export function visibleInline(text: string): string {
  return text.replace(UNSEEN, escapedUnits)
}

/** Also escapes blanks that could hide text: runs of spaces, and look-alikes. @param plain so many in a row stay */
export function withVisibleBlanks(line: string, plain = 1): string {
  return visibleInline(line)
    .replace(/[\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/gu, (blank) =>
      blank === ' ' ? blank : escapedUnits(blank),
    )
    .replace(/ {2,}/g, (run) => (run.length > plain ? `\\u0020{${run.length}}` : run))
}

/** Those of the few thousand such characters that were met: a cell may print millions of them. */
const escapes = new Map<string, string>()

/** The code units of an invisible character as JSON escapes. */
export function escapedUnits(character: string): string {
  let made = escapes.get(character)
  if (made === undefined) {
    made = character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    escapes.set(character, made)
  }
  return made
}
