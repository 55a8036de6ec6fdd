// Parses a cell's source: JavaScript as it is, TypeScript after its types are removed. Pure.
import type { AnyNode } from './syntax.ts'
import { parseCell, walk } from './syntax.ts'

/** Finds `f<T>(x)`, which JavaScript parses as two comparisons. */
const TYPE_ARGUMENTS = /[\w$]<[^<>()=;]*>\s*\(/

export interface ReadCell {
  source: string
  program: AnyNode
}

/** @param withoutTypes removes types; called only if needed @throws SyntaxError */
export function readCell(source: string, withoutTypes: (source: string) => string): ReadCell {
  let problem: unknown
  try {
    const program = parseCell(source)
    if (!TYPE_ARGUMENTS.test(source) || !comparesTwice(program)) return { source, program }
  } catch (error) {
    problem = error
  }
  try {
    const plain = withoutTypes(source)
    return { source: plain, program: parseCell(plain) }
  } catch (error) {
    throw problem ?? error
  }
}

function comparesTwice(program: AnyNode): boolean {
  let found = false
  walk(program, (node) => {
    found ||= node.type === 'BinaryExpression' && node['operator'] === '>' && isLess(node['left'])
    // In `f<A, B>(x)`, the two comparisons are neighbours in a list.
    const list: AnyNode[] = node['expressions'] ?? node['arguments'] ?? []
    found ||= list.some((one, at) => isLess(one) && list[at + 1]?.['operator'] === '>')
    return !found
  })
  return found
}

function isLess(node: AnyNode): boolean {
  return node.type === 'BinaryExpression' && node['operator'] === '<'
}
