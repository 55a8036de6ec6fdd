// Whether texts beside structured content repeat it, as for old clients, or say something else. Pure.
import { isRecord, parseJson } from '../util/json/json.ts'
import { parsePythonLiteral } from '../util/text/python-value.ts'

/** A longer text is compared as it is, apart from white space. */
const MAX_PARSED = 256 * 1024
/** Of the fields or items of the data, so many are compared with a text of their own. */
const MAX_PARTS = 100

/** The texts; none if each repeats the data or a part of it. */
export function textsBeside(data: unknown, texts: readonly string[]): string[] {
  const said = texts.filter((text) => text.trim() !== '')
  if (said.length === 0) return []
  const fields = typeof data === 'object' && data !== null ? Object.values(data) : []
  const [only] = fields
  const items = fields.length === 1 && Array.isArray(only) ? only : []
  const parts = [data, ...fields.slice(0, MAX_PARTS), ...items.slice(0, MAX_PARTS)]
  return said.every((text) => parts.some(repeatedBy(text))) ? [] : said
}

function repeatedBy(text: string): (part: unknown) => boolean {
  const words = text.trim()
  const isLong = words.length > MAX_PARSED
  const shown = unwrapped(words)
  const value = isLong ? undefined : (parseJson(shown) ?? parsePythonLiteral(shown))
  return (part) => {
    if (typeof part === 'string' && part.trim() === words) return true
    if (isLong) return typeof part === 'object' && squeezed(JSON.stringify(part)) === squeezed(words)
    return value === undefined ? String(part).toLowerCase() === words.toLowerCase() : covers(part, value)
  }
}

function squeezed(json: string): string {
  return json.replaceAll(/\s+/g, '')
}

/** Whether the data has all that the value has. Many servers leave out of the text what is null. */
function covers(data: unknown, value: unknown): boolean {
  if (Array.isArray(value))
    return Array.isArray(data) && data.length === value.length && value.every((item, at) => covers(data[at], item))
  if (!isRecord(value)) return data === value
  return (
    isRecord(data) && Object.keys(value).every((key) => covers(Object.hasOwn(data, key) ? data[key] : null, value[key]))
  )
}

/** A text without a byte order mark and a Markdown fence around all of it. */
function unwrapped(text: string): string {
  const bare = text.replace(/^\uFEFF/, '')
  const fence = /^\s*(`{3,}|~{3,})[^\n`]*\n/.exec(bare)
  if (!fence) return bare
  const end = bare.trimEnd()
  return end.endsWith(`\n${fence[1]}`) ? end.slice(fence[0].length, -fence[1]!.length) : bare
}
