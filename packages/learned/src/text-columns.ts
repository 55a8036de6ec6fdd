// The rows of a text, and their columns, as packages/core/python/sandbridge_kernel/data/rows.py finds them;
// packages/core/test/fixtures/rows.json tests that both agree. Pure.
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'

const TAGGED = /^\[[A-Z][A-Z0-9_ -]{0,30}\] +\S.*$/s
const SIZED = /\S {2,}\d[\d.,]* ?(?:[KMGTP]i?)?B$/
const FIELD = /^[-*]? ?([A-Za-z][\w .()/-]{0,40}):(?: +\S.*)?$/s
/** Spaces that two parts of a pattern could share would take quadratic time. */
const RULE = /^ *(?:\| *)?:?-{3,}:? *(?:\| *:?-+:? *)*(?:\| *)?$/
const HEADER = /^[\w.()%$#/][\w .()%$#/-]{0,39}$/
const MAX_COLUMNS = 32
/** Of the start of a text; the rest is not read. */
const MAX_CHARS = 8_192
const MAX_LINES = 60

/** The first objects of a text with a JSON object on each line; undefined for any other text. */
export function jsonLines(text: string): Record<string, unknown>[] | undefined {
  const lines = linesOf(text).filter((line) => line !== '')
  if (lines.length < 2 || !lines.every((line) => line.startsWith('{'))) return undefined
  const objects = lines.map((line) => parseJson(line))
  return objects.every(isRecord) ? objects : undefined
}

/** Undefined for a text without rows, and for an empty one. */
export function columnsOf(text: string): string[] | undefined {
  const lines = linesOf(text)
  if (lines.join('').trim() === '') return undefined
  return tagged(lines) ?? table(lines) ?? blocks(lines) ?? separated(lines)
}

/** Without the end of a long text. */
function linesOf(text: string): string[] {
  // A first line that is longer has no end there.
  const start = text.length > MAX_CHARS ? text.slice(0, Math.max(0, text.lastIndexOf('\n', MAX_CHARS))) : text
  return (
    start
      // Excel begins a CSV with it.
      .replace(/^\uFEFF/, '')
      .replace(/^[\r\n]+|(?<![\r\n])[\r\n]+$/g, '')
      .split(/\r?\n/)
      .slice(0, MAX_LINES)
      .map((line) => line.trimEnd())
  )
}

function tagged(lines: string[]): string[] | undefined {
  const end = lines.indexOf('')
  const listed = end === -1 ? lines : lines.slice(0, end)
  if (listed.length === 0 || !listed.every((line) => TAGGED.test(line))) return undefined
  const kindOf = (line: string) => line.slice(0, line.indexOf(']'))
  const kinds = new Set(listed.filter((line) => SIZED.test(line)).map(kindOf))
  const isSized = kinds.size > 0 && listed.every((line) => SIZED.test(line) || !kinds.has(kindOf(line)))
  return isSized ? ['type', 'name', 'size'] : ['type', 'name']
}

function table(lines: string[]): string[] | undefined {
  for (const [index, line] of lines.entries()) {
    const header = lines[index - 1]
    if (!header?.includes('|') || !RULE.test(line)) continue
    const names = cells(header)
    if (names.length === cells(line).length && areNames(names)) return names
  }
  return undefined
}

function cells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

function blocks(lines: string[]): string[] | undefined {
  const all = new Set<string>()
  let block = new Set<string>()
  for (const line of [...lines, '']) {
    if (line === '' || /^[-=*]{3,}$/.test(line)) {
      if (block.size === 1) return undefined
      block = new Set()
      continue
    }
    const [, name] = FIELD.exec(line) ?? []
    if (name === undefined || block.has(name)) return undefined
    all.add(name)
    block.add(name)
  }
  return all.size > 0 && all.size <= MAX_COLUMNS ? [...all] : undefined
}

/** Judges by the header, and by the lines without quotes. */
function separated(lines: string[]): string[] | undefined {
  const [header = '', ...rest] = lines
  const delimiter = [',', '\t', ';'].toSorted((a, b) => header.split(b).length - header.split(a).length)[0]!
  const names = header.split(delimiter).map((name) => name.replace(/^"(.*)"$/, '$1'))
  if (names.length < 2 || !areNames(names) || rest.length === 0) return undefined
  const plain = rest.filter((line) => !line.includes('"') && line !== '')
  return plain.length > 0 && plain.every((line) => line.split(delimiter).length === names.length) ? names : undefined
}

function areNames(names: string[]): boolean {
  return new Set(names).size === names.length && names.length <= MAX_COLUMNS && names.every((name) => HEADER.test(name))
}
