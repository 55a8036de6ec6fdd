// Edits JSON with comments. Loaded only when JSON is edited. Keeps every byte except those of the edited property and
// its commas; the library's own edits would reformat their surroundings. Pure.
import { applyEdits, createScanner, findNodeAtLocation, modify, type Node, parseTree } from 'jsonc-parser'

/** Sets the value at a path of keys, or removes it when `value` is undefined. */
export function editJsoncText(text: string, path: readonly string[], value: unknown): string {
  const root = parseTree(text, [], { allowTrailingComma: true })
  const parent = root && findNodeAtLocation(root, path.slice(0, -1))
  const properties = parent?.type === 'object' ? (parent.children ?? []) : []
  const at = properties.findIndex((property) => property.children?.[0]?.value === path.at(-1))
  if (value === undefined) return at < 0 ? text : without(text, properties, at)
  if (parent === undefined || properties.length === 0 || at >= 0) return formatted(text, path, value)
  return withLast(text, parent, properties, JSON.stringify(path.at(-1)), value)
}

/** Uses the library's edit where there is no neighbour to reformat. */
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
  // A comment after the last property stays on its line, unless the object ends on that line.
  const rest = text.slice(end, lineEnd(text, end))
  const place = /^\s*(\/\/.*)?$/.test(rest) ? lineEnd(text, end) : end
  return insert(insert(text, place, added), end, ',')
}

function without(text: string, properties: readonly Node[], at: number): string {
  const property = properties[at]!
  const comma = commaAfter(text, endOf(property))
  let left = cut(text, property.offset, comma === undefined ? endOf(property) : comma + 1)
  // The previous property becomes the last one.
  const before = comma === undefined ? properties[at - 1] : undefined
  const spare = before && commaAfter(text, endOf(before))
  if (spare !== undefined) left = left.slice(0, spare) + left.slice(spare + 1)
  return left
}

/** Removes a part, and lines that contain nothing else. */
function cut(text: string, start: number, end: number): string {
  const from = lineStart(text, start)
  const to = lineEnd(text, end)
  const isWhole = text.slice(from, start).trim() === '' && text.slice(end, to).trim() === '' && from > 0
  if (!isWhole) return text.slice(0, start) + text.slice(end).replace(/^[ \t]+/, '')
  return text.slice(0, from) + text.slice(to).replace(/^\r?\n/, '')
}

/** The position of the comma after a property; undefined when there is none. */
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

/** The end of the line, before its line break. */
function lineEnd(text: string, at: number): number {
  const end = text.slice(at).search(/\r?\n|$/)
  return at + end
}

/** Appends a value to a list, which is created if missing. */
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
