// Finds what can spell a text though it says nothing alone: numbers, Morse code, and signs that are not seen, which are
// shown as escapes. Numbers are not decoded: which code they are in, the server chooses. Pure.

/** Shorter runs may be chance. */
const MIN_SIGNS = 12
/** Of variation selectors and tags the first half, which the second one follows. */
const UNSEEN =
  /\\u(?:00ad|034f|061c|115f|1160|17b[45]|180[b-f]|20[06][0-9a-f]|202[a-e]|3164|fe0[0-9a-f]|feff|ffa0|db4[0-3])/g
const MORSE = /(?:[.-]{1,6}[ /]+){11,}/g

const NUMBER = /\d+(?:\.\d+)?/g
/** In numbers that only grow, such as counts, none has less than the one before; in codes of letters, half have. */
const MAX_FALLING_DIGITS = 16
const MAX_DIGITS = 24

export function spellsText(text: string): boolean {
  if (fallingDigits(text) > MAX_FALLING_DIGITS) return true
  if ((text.match(UNSEEN)?.length ?? 0) >= MIN_SIGNS) return true
  return [...text.matchAll(MORSE)].some(([signs]) => signs.includes('.') && signs.includes('-'))
}

function fallingDigits(text: string): number {
  let [digits, before] = [0, 0]
  for (const { 0: number } of text.matchAll(NUMBER)) {
    if (Number(number) < before || number.length > MAX_DIGITS) digits += number.length
    before = Number(number)
  }
  return digits
}
