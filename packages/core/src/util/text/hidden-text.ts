// Invisible text: it can tell a model what its user does not see. Pure.
import { escapedUnits } from './visible.ts'

/** Direction marks, zero-width signs, fillers, variation selectors, tags, and marks of annotations. */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u
/** Scripts whose letters join by signs that are not seen. */
const JOINING =
  'Arabic Syriac Nko Mongolian Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer ' +
  'Myanmar Tibetan'
const LETTER = `[${JOINING.split(' ')
  .map((script) => `\\p{scx=${script}}`)
  .join('')}]`
const PICTURE = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}?[\\ufe0e\\ufe0f]?'
/** England, Scotland, Wales. */
const FLAG =
  '\\u{1f3f4}\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|' +
  '\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}'
/** What needs such signs, as a whole, before signs that nothing needs. */
const PARTS = new RegExp(
  [
    FLAG,
    `(?=..?[\\ufe0e\\ufe0f\\u200d])${PICTURE}(?:\\u200d${PICTURE})*`,
    '[0-9#*]\\ufe0f\\u20e3',
    '\\p{sc=Han}[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
    '\\p{Sm}\\ufe00',
    '\\p{sc=Mongolian}[\\u180b-\\u180f]',
    `${LETTER}[\\u200c\\u200d](?=(?!\\p{Default_Ignorable_Code_Point})${LETTER})`,
    // A half form of an Indic letter at the end of a word.
    '[\\u09cd\\u0d4d]\\u200d',
    `(${HIDDEN.source}{1,99})`,
  ].join('|'),
  'gu',
)

/** Shows what is not seen as escapes, but in emoji and in scripts that need it. */
export function withHiddenShown(text: string): string {
  if (!HIDDEN.test(text)) return text
  return text.replace(PARTS, (part, hidden?: string) => {
    if (hidden === undefined) return part
    let shown = ''
    for (const sign of hidden) shown += escapedUnits(sign)
    return shown
  })
}
