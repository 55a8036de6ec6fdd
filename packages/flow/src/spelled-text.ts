// Finds text that is spelled in what says nothing alone: codes of letters in any base, Morse code, and signs that are
// not seen, which are shown as escapes. Pure.

/** Shorter runs may be counts. */
const MIN_SIGNS = 12
const MIN_LETTERS = 0.8
/** Numbers that only grow are counts; among letters, one of so many is before the one on its left. */
const MIN_FALLS = 0.2
/** How many digits a letter has where nothing separates them, by base. */
const WIDTHS = { 2: 8, 8: 3, 10: 3, 16: 2 }
/** Of variation selectors and tags the first half, which the second one follows. */
const UNSEEN =
  /\\u(?:00ad|034f|061c|115f|1160|17b[45]|180[b-f]|20[06][0-9a-f]|202[a-e]|3164|fe0[0-9a-f]|feff|ffa0|db4[0-3])/g
const MORSE = /(?:[.-]{1,6}[ /]+){11,}/g
/** Numbers that are no text are letters of many scripts. */
const SCRIPTS = ['Cyrillic', 'Greek', 'Arabic', 'Hebrew', 'Devanagari', 'Bengali', 'Thai', 'Khmer', 'Hangul']
const LETTERS = ['A-Za-z', '\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}', ...SCRIPTS.map((script) => `\\p{sc=${script}}`)]
const RUNS = LETTERS.map((letters) => ({
  run: new RegExp(`[${letters}\\p{P}\\p{M} ]{${MIN_SIGNS},}`, 'gu'),
  letter: new RegExp(`[${letters} ]`, 'gu'),
}))
const UTF8 = /(?:[ -~]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+/g

export function spellsText(text: string): boolean {
  if ((text.match(UNSEEN)?.length ?? 0) >= MIN_SIGNS) return true
  if ([...text.matchAll(MORSE)].some(([signs]) => signs.includes('.') && signs.includes('-'))) return true
  const numbers = text.split(/[^0-9A-Za-z]+/)
  return Object.entries(WIDTHS).some(([base, width]) => {
    const isNumber = new RegExp(`^[0-${Math.min(9, Number(base) - 1)}]+$`)
    let codes = ''
    for (const number of numbers) {
      if (!isNumber.test(number)) codes += '\0'
      else if (number.length < width * MIN_SIGNS) codes += signOf(number, Number(base))
      else
        codes += `\0${inPieces(number, width)
          .map((piece) => signOf(piece, Number(base)))
          .join('')}\0`
    }
    const bytes = [...codes.matchAll(UTF8)].map(([run]) => Buffer.from(run, 'latin1').toString('utf8'))
    return [codes, ...bytes].some(isSpelled)
  })
}

function isSpelled(codes: string): boolean {
  return RUNS.some(({ run, letter }) =>
    [...codes.matchAll(run)].some(([signs]) => {
      const letters = signs.match(letter)?.length ?? 0
      const falls = signs.split('').filter((sign, at) => at > 0 && sign < signs[at - 1]!).length
      return letters >= signs.length * MIN_LETTERS && falls >= signs.length * MIN_FALLS
    }),
  )
}

/** A zero for what no text has. Only in base 10 are letters of other scripts written as they are, not as bytes. */
function signOf(digits: string, base: number): string {
  const code = Number.parseInt(digits, base)
  return code <= (base === 10 ? 0xff_ff : 0xff) ? String.fromCharCode(code) : '\0'
}

function inPieces(number: string, width: number): string[] {
  return Array.from({ length: Math.floor(number.length / width) }, (_, at) =>
    number.slice(at * width, (at + 1) * width),
  )
}
