// Parses JSON with comments and trailing commas. The parser is loaded only for a text that is not plain JSON. Pure.
import { parse, type ParseError, visit } from 'jsonc-parser'
import { jsonProblem, withPlainBlanks } from '../../util/json/json-error.ts'
import { valueAt } from '../../util/json/json.ts'

/** Where a number stands for the text that it is written as, such as a version or a long id. */
const TEXTS = /^(?:args|env|envs|environment|environment_?variables|headers|http_?headers)$/i

export function parseJsonc(source: string): Parsed {
  const text = withPlainBlanks(source)
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first !== undefined) return { reason: jsonProblem(first), offset: first.offset }
  visit(text, {
    onLiteralValue(read, offset, length, _line, _column, pathTo) {
      const written = text.slice(offset, offset + length)
      if (typeof read !== 'number' || String(read) === written) return
      const path = pathTo()
      const [key] = path.splice(-1)
      const holder = valueAt(value, ...path) as Record<string | number, unknown> | undefined
      // Another value may stand there where a key occurs twice.
      if (path.some((name) => TEXTS.test(String(name))) && holder?.[key!] === read) holder[key!] = written
    },
  })
  return { value }
}

/** A reason has only the kind of error and its position: a parser's own message may quote secrets of the file. */
export type Parsed = { value: unknown } | { reason: string; offset?: number }
