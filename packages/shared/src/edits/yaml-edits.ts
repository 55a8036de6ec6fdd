// Edits YAML, loaded only then: the affected lines; if that is impossible, the whole document. Pure.
import { isMap, isScalar, parseDocument, stringify, type Document, type Pair, type YAMLMap } from 'yaml'

type Ranged = { range?: [number, number, number] | null } | null

/** Sets the value at a path of keys, or removes it when `value` is undefined. */
export function editYamlText(text: string, path: readonly string[], value: unknown): string {
  // A warning would quote the file.
  const document = parseDocument(text, { logLevel: 'error' })
  const edited = value === undefined ? withoutLines(text, document, path) : withLines(text, document, path, value)
  if (edited !== undefined) return edited
  if (value === undefined) document.deleteIn(path)
  else setWithComment(document, path, value)
  return document.toString({ lineWidth: 0 })
}

/** Keeps the comment of the value that it replaces. */
function setWithComment(document: Document, path: readonly string[], value: unknown): void {
  const old = document.getIn(path, true)
  const node = document.createNode(value)
  if (isScalar(old) && old.comment) node.commentBefore = old.comment
  document.setIn(path, node)
}

/** Appends a new key to a block map. */
function withLines(text: string, document: Document, path: readonly string[], value: unknown): string | undefined {
  const map = blockMapAt(document, path.slice(0, -1))
  const last = map && rangeOf(map.items.at(-1)!)
  if (map === undefined || last === undefined || pairOf(map, path.at(-1))) return undefined
  const indent = ' '.repeat(last.start - lineStart(text, last.start))
  const lines = stringify({ [path.at(-1)!]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
  const end = lineEnd(text, last.end)
  const gap = text.slice(0, end).endsWith('\n') ? '' : '\n'
  return text.slice(0, end) + gap + lines.map((line) => `${indent}${line}\n`).join('') + text.slice(end)
}

function withoutLines(text: string, document: Document, path: readonly string[]): string | undefined {
  const map = blockMapAt(document, path.slice(0, -1))
  const pair = map && pairOf(map, path.at(-1))
  const range = pair && rangeOf(pair)
  // A map without keys would become another value.
  if (map === undefined || range === undefined || map.items.length === 1) return undefined
  return text.slice(0, lineStart(text, range.start)) + text.slice(lineEnd(text, range.end))
}

function blockMapAt(document: Document, path: readonly string[]): YAMLMap | undefined {
  const node = path.length === 0 ? document.contents : document.getIn(path, true)
  return isMap(node) && !node.flow && node.items.length > 0 ? node : undefined
}

function pairOf(map: YAMLMap, key: string | undefined): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key)
}

/** From the first character of the key to the end of the value, without following comments. */
function rangeOf({ key, value }: Pair): { start: number; end: number } | undefined {
  const from = (key as Ranged)?.range
  const to = (value as Ranged)?.range ?? from
  return from && to ? { start: from[0], end: to[1] } : undefined
}

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1

/** The start of the line after the one with the last character before `at`. */
function lineEnd(text: string, at: number): number {
  if (text[at - 1] === '\n') return at
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}
