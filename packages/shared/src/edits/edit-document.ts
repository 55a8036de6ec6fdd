// Changes single values in the text of a config file and keeps the rest, including comments. Pure.
// Every result is parsed again: if it does not contain exactly the expected values, the text stays unchanged and a
// reason is returned.
import { isDeepStrictEqual } from 'node:util'
import { type ConfigFormat, type ConfigObject, parseDocument } from '@sandbridge/core/config/formats'
import { isRecord, valueAt } from '@sandbridge/core/util/json/json.ts'

/** Sets the value at a path of keys, or removes it when `value` is missing. */
export interface Edit {
  path: readonly string[]
  value?: unknown
}

/** Returns the edited text, or why it cannot be edited. An absent file is an empty text. */
export async function editDocument(
  text: string,
  format: ConfigFormat,
  edits: readonly Edit[],
): Promise<{ text: string } | { reason: string }> {
  const before = await parseDocument(text, format)
  if ('reason' in before) return before
  const expected = plainCopy(before.document)
  const possible: Edit[] = []
  for (const edit of edits) {
    const one = possibleEdit(expected, edit)
    if (one === undefined) continue
    if ('reason' in one) return one
    change(expected, one)
    possible.push(one)
  }

  const editors = { jsonc: editJsonc, toml: editToml, yaml: editYaml }
  // A file whose lines all end as those of Windows stays one.
  const isOfWindows = text.includes('\r\n') && !/(?<!\r)\n/.test(text)
  const plain = await editors[format](isOfWindows ? text.replaceAll('\r\n', '\n') : text, possible)
  const edited = isOfWindows ? plain.replaceAll('\n', '\r\n') : plain
  const after = await parseDocument(edited, format)
  const isRight = 'document' in after && isDeepStrictEqual(plainCopy(after.document), expected)
  return isRight ? { text: edited } : { reason: 'cannot be edited safely; edit it by hand' }
}

async function editJsonc(text: string, edits: readonly Edit[]): Promise<string> {
  const { editJsoncText } = await import('./jsonc-edits.ts')
  const start = text.trim() === '' ? '{}' : text
  return edits.reduce((edited, { path, value }) => editJsoncText(edited, path, value), start)
}

async function editYaml(text: string, edits: readonly Edit[]): Promise<string> {
  const { editYamlText } = await import('./yaml-edits.ts')
  return edits.reduce((edited, { path, value }) => editYamlText(edited, path, value), text)
}

/**
 * Edits TOML by whole tables, the form that every client writes: removes a table by its lines, and appends a table at
 * the end.
 */
async function editToml(text: string, edits: readonly Edit[]): Promise<string> {
  const { stringifyToml } = await import('@sandbridge/core/config/formats/toml.ts')
  let edited = text
  for (const { path, value } of edits) {
    edited = withoutTable(edited, path)
    if (value === undefined) continue
    const nested = path.toReversed().reduce<unknown>((inner, key) => ({ [key]: inner }), value)
    const gap = edited.trim() === '' ? '' : `${edited.trimEnd()}\n\n`
    edited = gap + stringifyToml(nested)
  }
  return edited
}

function withoutTable(text: string, path: readonly string[]): string {
  let inside = false
  const kept: string[] = []
  // Comments above a header belong to its table.
  let above: string[] = []
  for (const line of text.split('\n')) {
    const header = /^\s*\[([^[\]]+)\]\s*(?:#.*)?\r?$/.exec(line)?.[1]
    if (header !== undefined) {
      const wasInside = inside
      inside = isDeepStrictEqual(headerKeys(header).slice(0, path.length), path)
      if (wasInside && !inside) kept.push(...above)
    }
    if (!inside) kept.push(line)
    above = inside && /^\s*#/.test(line) ? [...above, line] : []
  }
  return kept.join('\n')
}

/** `a."b c".d` → a, b c, d. Tables in another notation are left in place, which the final check notices. */
function headerKeys(header: string): string[] {
  return [...header.matchAll(/"([^"\\]*)"|'([^']*)'|([\w-]+)/g)].map(
    ([, basic, literal, bare]) => basic ?? literal ?? bare ?? '',
  )
}

/**
 * A null on the way becomes an object; no other value does, as it may be something that its owner needs. Undefined when
 * there is nothing to remove.
 */
function possibleEdit(document: ConfigObject, edit: Edit): Edit | { reason: string } | undefined {
  const { path, value } = edit
  const isObject = (depth: number): boolean => isRecord(valueAt(document, ...path.slice(0, depth)))
  const depth = path.findIndex((_key, index) => index > 0 && !isObject(index))
  const found = depth < 0 ? undefined : valueAt(document, ...path.slice(0, depth))
  if (value === undefined) return depth < 0 ? edit : undefined
  if (found === undefined) return edit
  if (found !== null) return { reason: `has no object as ${path.slice(0, depth).join('.')}; edit it by hand` }
  const nested = path.slice(depth).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
  return { path: path.slice(0, depth), value: nested }
}

/** Takes possible edits only: a value that is to be removed has its parents. */
function change(document: ConfigObject, { path, value }: Edit): void {
  const last = path.at(-1) ?? ''
  let at = document
  for (const key of path.slice(0, -1)) {
    if (!isRecord(valueAt(at, key))) at[key] = {}
    at = valueAt(at, key) as ConfigObject
  }
  if (value === undefined) delete at[last]
  else at[last] = plainCopy(value)
}

/** Converts dates and similar values, which differ between two parses. */
function plainCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
