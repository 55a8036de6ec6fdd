// From a cell's source to its syntax tree: JavaScript as it is, TypeScript with its types taken away. Pure.
import type { AnyNode } from './syntax.ts'
import { parseCell, walk } from './syntax.ts'

/** `f<T>(x)`, which JavaScript reads as two comparisons. */
const TYPE_ARGUMENTS = /[\w$]<[^<>()=;]*>\s*\(/

export interface ReadCell {
  /** JavaScript. */
  source: string
  program: AnyNode
}

/** @param withoutTypes loaded for the first cell that needs it @throws SyntaxError */
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
    // In a list, as in `f<A, B>(x)`, the two are neighbours.
    const list: AnyNode[] = node['expressions'] ?? node['arguments'] ?? []
    found ||= list.some((one, at) => isLess(one) && list[at + 1]?.['operator'] === '>')
    return !found
  })
  return found
}

function isLess(node: AnyNode): boolean {
  return node.type === 'BinaryExpression' && node['operator'] === '<'
}
