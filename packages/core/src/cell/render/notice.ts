// Notices: what the bridge itself says in a result. They alone begin with the mark; others are quoted. Pure.
import { withHiddenShown } from '../../util/text/hidden-text.ts'
import { plainText, shownText } from '../../util/text/terminal-text.ts'

const MARK = '[sandbridge: '
/** Begins a note of the kernel. It runs beside the cell's code, which can write such notes, too. */
const KERNEL = 'kernel: '
const QUOTE = '> '

/** A note that came from the sandbox. The renderer does not show it as one of the bridge. */
export function kernelNote(text: string): string {
  return KERNEL + text
}

/** A note as it is shown. Lines after the first are quoted, because they hold what a cell printed. */
export function noteText(note: string): string {
  return shownText(note)
    .trim()
    .replace(/[\n\u2028\u2029]/g, `\n${QUOTE}`)
}

/** What begins the line of a note. */
export function openingOfNote(note: string): string {
  return note.startsWith(KERNEL) ? '[' : MARK
}

/** A note between the other parts of a text. */
export function noticeLine(note: string): string {
  const text = noteText(note)
  return `${openingOfNote(text)}${text}]`
}

/** Text of others for a reader: it hides no other text, changes no order, and no line is like a notice. */
export function fromOthers(text: string): string {
  const plain = plainText(text)
  if (!BRACKET.test(plain)) return withHiddenShown(plain)
  const quoted = plain.replace(LINE_START, (start: string, at: number) =>
    isLikeMark(plain, at + start.length) ? QUOTE + start : start,
  )
  return withHiddenShown(quoted)
}

/** Rules out most texts quickly: a bracket, and neither `s` nor anything unusual after it. */
const BRACKET = /[[\uff3b\ufe47][^!-RT-rt-~]/
/** What a reader sees as text. Signs such as U+FFFC and U+2800 may look like a blank, or like nothing. */
const TEXT = /(?!\p{DI})[\p{L}\p{N}\p{ASCII}]/u
/** The beginning of a line up to a bracket, past blanks and what is not text. Its alternatives share no character. */
const LINE_START =
  /^(?:[\p{DI}\t\v\f\r ]|(?!\p{DI})[^\p{L}\p{N}\p{ASCII}\u2028\u2029\uff3b\ufe47])*[[\uff3b\ufe47](?![!-RT-rt-~])/gmu
const WORD = 'sandbridge'
/** Letters of other scripts look like these, so they count as equal if some letters are. */
const MIN_SAME = 3

/** Whether the word of the mark, or one that looks like it, follows a bracket. */
function isLikeMark(text: string, from: number): boolean {
  let length = 0
  let same = 0
  for (let at = from; at < text.length && length < WORD.length;) {
    const character = String.fromCodePoint(text.codePointAt(at)!)
    at += character.length
    const plain = character.normalize('NFKD')
    if (!TEXT.test(plain) || (length === 0 && /\s/.test(character))) continue
    for (const letter of plain.toLowerCase().replace(/[\p{M}\p{DI}]/gu, '')) {
      if (letter === WORD[length]) same += 1
      else if (letter < '\x80' || !/\p{L}/u.test(letter)) return false
      length += 1
    }
  }
  return length >= WORD.length && same >= MIN_SAME
}
