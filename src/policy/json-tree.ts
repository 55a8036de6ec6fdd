// JSON with comments, read so that anything in it can be found again by line and column. Loaded only where there is a file of rules. Pure.
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'

export interface Place {
  line: number
  column: number
}

export interface JsonTree {
  value: unknown
  /** Where the value at a path of keys is; of the nearest that there is. */
  at(path: readonly (string | number)[]): Place
  /** Where a character of the text at a path is. */
  within(path: readonly (string | number)[], offset: number): Place
}

/** @returns what is wrong: the JSON itself, or a key that is there twice */
export function readJsonTree(text: string): JsonTree | { reason: string; place: Place } {
  const errors: ParseError[] = []
  let root: Node | undefined
  try {
    root = parseTree(text, errors, { allowTrailingComma: true })
    const [first] = errors
    if (first !== undefined)
      return { reason: `is not valid JSON: ${printParseErrorCode(first.error)}`, place: placeOf(text, first.offset) }
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
      // An unknown key is itself what is wrong, not its value.
      if (found) return found.parent?.type === 'property' ? found.parent : found
    }
    return tree
  }
  return {
    value: getNodeValue(tree) as unknown,
    at: (path) => placeOf(text, nodeAt(path).offset),
    within: (path, offset) => {
      const found = findNodeAtLocation(tree, [...path])
      return found?.type === 'string'
        ? placeOf(text, found.offset + offsetInSource(text, found, offset))
        : placeOf(text, nodeAt(path).offset)
    },
  }
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

/** The `offset`th character of a string's value, in the source: escapes are longer there. */
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
