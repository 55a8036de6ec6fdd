// What is wrong with JSON with comments, in our words: the parser has codes. Quotes nothing of the text. Pure.
import { type ParseError, printParseErrorCode } from 'jsonc-parser'

const PROBLEMS: Record<string, string> = {
  InvalidSymbol: 'an unquoted word',
  InvalidNumberFormat: 'a malformed number',
  PropertyNameExpected: 'a name in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'there is more text after its end',
  UnexpectedEndOfComment: 'a comment does not end',
  UnexpectedEndOfString: 'a text in quotes does not end',
  UnexpectedEndOfNumber: 'a number does not end',
  InvalidUnicode: 'a malformed \\u escape',
  InvalidEscapeCharacter: 'an unknown escape after a backslash',
  InvalidCharacter: 'a character that is not allowed here',
}

/** Texts and comments, and beside them: comments of a shell, and blanks as web pages and editors leave them. */
const PIECES =
  /("(?:[^"\\\n]|\\.)*"?|\/\/.*|\/\*(?:[^]*?\*\/|[^]*))|#.*|[\u00A0\u1680\u2000-\u200D\u2028\u2029\u202F\u205F\u2060\u3000\uFEFF]+|;+\s*$/g

/** The same characters at the same places, but blanks for what the parser does not know and that means nothing. */
export function withPlainBlanks(text: string): string {
  return text.replaceAll(PIECES, (piece, kept?: string) => kept ?? ' '.repeat(piece.length))
}

/** A sentence without its subject, the file. */
export function jsonProblem({ error }: ParseError): string {
  const code = printParseErrorCode(error)
  return `is not valid JSON: ${PROBLEMS[code] ?? code}`
}
