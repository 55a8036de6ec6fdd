// Parses JSON with comments and trailing commas. The parser is loaded only for a text that is not plain JSON. Pure.
import { parse, type ParseError } from 'jsonc-parser'
import { jsonProblem } from '../../util/json/json-error.ts'
import type { Parsed } from './parsed.ts'

export function parseJsonc(text: string): Parsed {
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first === undefined) return { value }
  return { reason: jsonProblem(first), offset: first.offset }
}
