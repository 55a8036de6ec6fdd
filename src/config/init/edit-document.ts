// Changes single values in the text of a config file and leaves the rest of it alone, comments included. Pure.
// Every result is parsed again: when it does not hold exactly what it should, the text is not changed and a reason is given.
import { isDeepStrictEqual } from 'node:util'
import type { ConfigFormat, ConfigObject } from '../config-document.ts'
import { parseDocument, valueAt } from '../config-document.ts'
import { isRecord } from '../../text/json.ts'

/** Set the value at a path of keys, or remove it when there is no value. */
export interface Edit {
  path: readonly string[]
  value?: unknown
}

/** The text after the edits, or why they cannot be made. An absent file is an empty text. */
export async function editDocument(
  text: string,
  format: ConfigFormat,
  edits: readonly Edit[],
): Promise<{ text: string } | { reason: string }> {
  const before = await parseDocument(text, format)
  if ('reason' in before) return before
  const expected = plainCopy(before.document)
  for (const edit of edits) change(expected, edit)

  const editors = { jsonc: editJsonc, toml: editToml, yaml: editYaml }
  const edited = await editors[format](text, edits)
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

/** TOML is edited by whole tables, which is how every client writes them: one goes by its lines, and one comes at the end. */
async function editToml(text: string, edits: readonly Edit[]): Promise<string> {
  const { stringifyToml } = await import('../formats/toml.ts')
  let edited = text
  for (const { path, value } of edits) {
    edited = withoutTable(edited, path)
    if (value === undefined) continue
    const nested = path.toReversed().reduce<unknown>((inner, key) => ({ [key]: inner }), value)
    const gap = edited.trim() === '' ? '' : `${edited.trimEnd()}${eolOf(text)}${eolOf(text)}`
    edited = gap + stringifyToml(nested)
  }
  return edited
}

function withoutTable(text: string, path: readonly string[]): string {
  let inside = false
  const kept: string[] = []
  // Comments above a header belong to what it opens.
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

/** `a."b c".d` → a, b c, d. What is written in another way is left in place, and found out by the check at the end. */
function headerKeys(header: string): string[] {
  return [...header.matchAll(/"([^"\\]*)"|'([^']*)'|([\w-]+)/g)].map(
    ([, basic, literal, bare]) => basic ?? literal ?? bare ?? '',
  )
}

function change(document: ConfigObject, { path, value }: Edit): void {
  const last = path.at(-1) ?? ''
  let at = document
  for (const key of path.slice(0, -1)) {
    if (!isRecord(valueAt(at, key))) {
      if (value === undefined) return
      at[key] = {}
    }
    at = valueAt(at, key) as ConfigObject
  }
  if (value === undefined) delete at[last]
  else at[last] = plainCopy(value)
}

/** Without dates and the like, which no two parses give as equals. */
function plainCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}
