// Reads digits of any script. Pure.

/** Digits of scripts other than ASCII. */
export const FOREIGN_DIGIT = /[^\P{Nd}0-9]/gu

const known = new Map<string, string>()

/** As Python's `int` reads it. Unicode has the ten digits of a script in a row. */
export function asciiDigit(char: string): string {
  const before = known.get(char)
  if (before !== undefined) return before
  const code = char.codePointAt(0)!
  let zero = code
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  const digit = String((code - zero) % 10)
  known.set(char, digit)
  return digit
}
