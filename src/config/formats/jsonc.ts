// Parses JSON with comments and trailing commas. The parser is loaded only for a text that is not plain JSON. Pure.
import { parse, printParseErrorCode } from 'jsonc-parser'
import type { ParseError } from 'jsonc-parser'
import type { Parsed } from '../config-document.ts'

export function parseJsonc(text: string): Parsed {
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first === undefined) return { value }
  return { reason: `is not valid JSON: ${printParseErrorCode(first.error)}`, offset: first.offset }
}
