// Loaded only when JSON is edited. Every byte but those of the edited property and its commas stays as it is: the library's own edits
// format what stands beside them. Pure.
import { applyEdits, createScanner, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser'

/** Set the value at a path of keys, or remove it when there is no value. */
export function editJsoncText(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true })
  const parent = root && findNodeAtLocation(root, path.slice(0, -1))
  const properties = parent?.type === 'object' ? (parent.children ?? []) : []
  const at = properties.findIndex((property) => property.children?.[0]?.value === path.at(-1))
  if (value === undefined) return at < 0 ? text : without(text, properties, at)
  if (parent === undefined || properties.length === 0 || at >= 0) return formatted(text, path, value)
  return withLast(text, parent, properties, JSON.stringify(path.at(-1)), value)
}

/** Where there is no neighbour whose formatting could be lost. */
function formatted(text: string, path: readonly string[], value: unknown): string {
  const unit = unitOf(text)
  const formattingOptions = { insertSpaces: !unit.startsWith('\t'), tabSize: unit.length, eol: eolOf(text) }
  return applyEdits(text, modify(text, [...path], value, { formattingOptions }))
}

function withLast(text: string, parent: Node, properties: readonly Node[], key: string, value: unknown): string {
  const last = properties.at(-1)!
  const end = endOf(last)
  const comma = commaAfter(text, end)
  const isInLines = text.slice(parent.offset, last.offset).includes('\n')
  if (!isInLines) {
    const added = `${key}: ${JSON.stringify(value)}`
    return comma === undefined ? insert(text, end, `, ${added}`) : insert(text, comma + 1, ` ${added},`)
  }
  const eol = eolOf(text)
  const indent = /^[ \t]*/.exec(text.slice(lineStart(text, last.offset)))![0]
  const lines = JSON.stringify(value, undefined, unitOf(text)).split('\n')
  const added = `${eol}${indent}${key}: ${lines.join(eol + indent)}`
  if (comma !== undefined) return insert(text, lineEnd(text, comma + 1), `${added},`)
  // A comment behind the last property stays on its line, unless the object ends there as well.
  const rest = text.slice(end, lineEnd(text, end))
  const place = /^\s*(\/\/.*)?$/.test(rest) ? lineEnd(text, end) : end
  return insert(insert(text, place, added), end, ',')
}

function without(text: string, properties: readonly Node[], at: number): string {
  const property = properties[at]!
  const comma = commaAfter(text, endOf(property))
  let left = cut(text, property.offset, comma === undefined ? endOf(property) : comma + 1)
  // The one before is the last now.
  const before = comma === undefined ? properties[at - 1] : undefined
  const spare = before && commaAfter(text, endOf(before))
  if (spare !== undefined) left = left.slice(0, spare) + left.slice(spare + 1)
  return left
}

/** Without a part, and without the lines that have nothing else. */
function cut(text: string, start: number, end: number): string {
  const from = lineStart(text, start)
  const to = lineEnd(text, end)
  const isWhole = text.slice(from, start).trim() === '' && text.slice(end, to).trim() === '' && from > 0
  if (!isWhole) return text.slice(0, start) + text.slice(end).replace(/^[ \t]+/, '')
  return text.slice(0, from) + text.slice(to).replace(/^\r?\n/, '')
}

/** Where the comma behind a property is; undefined when there is none. */
function commaAfter(text: string, end: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(end)
  scanner.scan()
  return text[scanner.getTokenOffset()] === ',' ? scanner.getTokenOffset() : undefined
}

const endOf = ({ offset, length }: Node): number => offset + length
const insert = (text: string, at: number, added: string): string => text.slice(0, at) + added + text.slice(at)
const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1
const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')
const unitOf = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '

/** Where the line ends, before its line end. */
function lineEnd(text: string, at: number): number {
  const end = text.slice(at).search(/\r?\n|$/)
  return at + end
}

/** The text with one more value at the end of a list, which is made where there is none. */
export function appendToList(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true })
  const list = root && findNodeAtLocation(root, [...path])
  if (list?.type !== 'array') return formatted(text, path, [value])
  const last = list.children?.at(-1)
  if (last === undefined) return formatted(text, path, [value])
  const end = endOf(last)
  const comma = commaAfter(text, end)
  const isInLines = text.slice(list.offset, last.offset).includes('\n')
  const gap = isInLines ? eolOf(text) + /^[ \t]*/.exec(text.slice(lineStart(text, last.offset)))![0] : ' '
  const added = gap + JSON.stringify(value)
  return comma === undefined ? insert(text, end, `,${added}`) : insert(text, comma + 1, `${added},`)
}
