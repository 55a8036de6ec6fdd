// Parses JSON with comments and finds the place of every value. Loaded only when needed. Pure.
import { findNodeAtLocation, type Node, type ParseError, parseTree } from 'jsonc-parser'
import { jsonProblem, withPlainBlanks } from '../../util/json/json-error.ts'

export interface Place {
  line: number
  column: number
}

export interface JsonTree {
  value: unknown
  /** The position of the value at a path of keys, or of its nearest existing parent. */
  at(path: readonly (string | number)[]): Place
  /** The position of a character inside the text at a path. */
  within(path: readonly (string | number)[], offset: number): Place
}

/** @returns the problem when the JSON is invalid or a key occurs twice */
export function readJsonTree(source: string): JsonTree | { reason: string; place: Place } {
  const text = withPlainBlanks(source)
  const errors: ParseError[] = []
  let root: Node | undefined
  try {
    root = parseTree(text, errors, { allowTrailingComma: true })
    const [first] = errors
    if (first !== undefined) return { reason: jsonProblem(first), place: placeOf(text, first.offset) }
    if (root === undefined) return { reason: 'is empty', place: { line: 1, column: 1 } }
    const double = doubleKey(root)
    if (double) {
      const key = JSON.stringify(double.value).slice(0, 100)
      return { reason: `has the key ${key} twice in one object`, place: placeOf(text, double.offset) }
    }
  } catch (error) {
    if (error instanceof RangeError) return { reason: 'is nested too deeply', place: { line: 1, column: 1 } }
    throw error
  }
  const tree = root
  const nodeAt = (path: readonly (string | number)[]): Node => {
    for (let length = path.length; length > 0; length -= 1) {
      const found = findNodeAtLocation(tree, path.slice(0, length))
      // For an unknown key, point at the key instead of its value.
      if (found) return found.parent?.type === 'property' ? found.parent : found
    }
    return tree
  }
  return {
    value: valueOf(tree),
    at: (path) => placeOf(text, nodeAt(path).offset),
    within: (path, offset) => {
      const found = findNodeAtLocation(tree, [...path])
      return found?.type === 'string'
        ? placeOf(text, found.offset + offsetInSource(text, found, offset))
        : placeOf(text, nodeAt(path).offset)
    },
  }
}

/** Unlike the library's function, keeps a key `__proto__` as a key. */
function valueOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(valueOf)
  if (node.type !== 'object') return node.value as unknown
  return Object.fromEntries(
    (node.children ?? []).map(({ children: [key, value] = [] }) => [key?.value, value && valueOf(value)]),
  )
}

function doubleKey(root: Node): Node | undefined {
  const pending = [root]
  while (pending.length > 0) {
    const node = pending.pop()!
    const seen = new Set<unknown>()
    for (const child of node.children ?? []) {
      const [key] = node.type === 'object' ? (child.children ?? []) : []
      if (key && seen.has(key.value)) return key
      if (key) seen.add(key.value)
      pending.push(child)
    }
  }
  return undefined
}

/** The position in the source of the `offset`th character of a string's value: escapes are longer in the source. */
function offsetInSource(text: string, node: Node, offset: number): number {
  let at = 1
  for (let passed = 0; passed < offset && at < node.length - 1; passed += 1) {
    const isEscape = text[node.offset + at] === '\\'
    at += !isEscape ? 1 : text[node.offset + at + 1] === 'u' ? 6 : 2
  }
  return at
}

function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
