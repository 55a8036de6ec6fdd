// Finds what can spell a text though it says nothing alone: numbers, Morse code, and signs that are not seen, which are
// shown as escapes. Numbers are not decoded: which code they are in, the server chooses. Pure.

/** Shorter runs may be chance. */
const MIN_SIGNS = 12
/** Of variation selectors and tags the first half, which the second one follows. */
const UNSEEN =
  /\\u(?:00ad|034f|061c|115f|1160|17b[45]|180[b-f]|20[06][0-9a-f]|202[a-e]|3164|fe0[0-9a-f]|feff|ffa0|db4[0-3])/g
const MORSE = /(?:[.-]{1,6}[ /]+){11,}/g

/** A date, a time, or both are one number; a truth is 1, and what is not true 0. */
const NUMBER = new RegExp(
  [
    String.raw`\b(?:true|false)\b`,
    String.raw`\d{4}(?:-\d\d){2}(?: (?=\d\d:))?(?:[-+:]?\d\d(?!\d))*(?:\.\d+)?`,
    String.raw`\d\d?(?::\d\d){1,2}(?!\d)(?:\.\d+)?`,
    String.raw`\d+(?:\.\d+)?`,
  ].join('|'),
  'gi',
)
/** Sorted numbers, such as counts, only grow or only fall; codes of letters do both. */
const MAX_TURNING_DIGITS = 16
const MAX_DIGITS = 24

export function spellsText(text: string): boolean {
  if (turningDigits(text) > MAX_TURNING_DIGITS) return true
  if ((text.match(UNSEEN)?.length ?? 0) >= MIN_SIGNS) return true
  return [...text.matchAll(MORSE)].some(([signs]) => signs.includes('.') && signs.includes('-'))
}

/** Digits of numbers above, or below, the one before, whichever are fewer; and of those that are too long for one. */
function turningDigits(text: string): number {
  let [falling, rising, long, before] = [0, 0, 0, NaN]
  for (const { 0: number } of text.matchAll(NUMBER)) {
    const digits = /^[tf]/i.test(number) ? String(Number(number.length === 4)) : number.replaceAll(/[^\d.]/g, '')
    const value = Number(digits)
    if (digits.length > MAX_DIGITS) long += digits.length
    else if (value < before) falling += digits.length
    else if (value > before) rising += digits.length
    before = value
  }
  return Math.min(falling, rising) + long
}
