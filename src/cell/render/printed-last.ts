// Detects that a cell printed its value before it showed it: `print(v)` and then `v`. Allows for differences between
// print and the kernel's display. Pure.
import { plainText } from '../../util/text/terminal-text.ts'

/** A shorter text may be equal by chance. */
const MIN_CHARS = 16
const ESCAPE = /\\(?:([ntr'"\\])|x([\da-f]{2})|u([\da-f]{4})|U((?:000[\da-f]|0010)[\da-f]{4}))/g
const NAMED: Record<string, string> = { n: '\n', t: '\t', r: '\r' }

/** @param value the text that the kernel shows for a value */
export function wasPrintedLast(printed: string, value: string): boolean {
  const end = printed.trimEnd()
  return asPrinted(value).some((text) => text.trim().length >= MIN_CHARS && endsWithLines(end, text.trimEnd()))
}

/** The texts that `print` may have written for it. */
function asPrinted(value: string): string[] {
  const text = value.trimEnd()
  const quote = text.charAt(0)
  // A str is shown as its repr.
  if ((quote === "'" || quote === '"') && text.endsWith(quote)) return [text, plainText(unescaped(text.slice(1, -1)))]
  if (!text.includes('\n')) return [text]
  // A wide container is wrapped, and a data frame is followed by its shape: see wrapping.py and tables.py of the
  // kernel.
  return [text, text.replace(/,\n +/g, ', '), text.replace(/\n\[\d+ rows × \d+ columns\]$/, '')]
}

function unescaped(repr: string): string {
  return repr.replace(ESCAPE, (_, sign?: string, ...codes: (string | undefined)[]) =>
    sign === undefined ? String.fromCodePoint(parseInt(codes.slice(0, 3).find(Boolean)!, 16)) : (NAMED[sign] ?? sign),
  )
}

function endsWithLines(text: string, end: string): boolean {
  return text.endsWith(end) && (text.length === end.length || text[text.length - end.length - 1] === '\n')
}
