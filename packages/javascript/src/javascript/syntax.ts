// Parses cells, and walks syntax trees without recursion. Pure.
import type { Node, Program } from 'acorn'
import { parse } from 'acorn'

export type AnyNode = Node & Record<string, any>

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

/**
 * Parses a cell as a module, with `import`, `await` and also `return` allowed outside of functions.
 * @throws SyntaxError
 */
export function parseCell(source: string): Program {
  return parse(source, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowReturnOutsideFunction: true,
    allowHashBang: true,
    locations: true,
  })
}

export function isFunction(node: AnyNode): boolean {
  return FUNCTIONS.has(node.type)
}

/** Calls `visit` for each node, outer nodes first, in source order. Skips the children if `visit` returns false. */
export function walk(root: AnyNode, visit: (node: AnyNode, parent: AnyNode | undefined) => boolean | void): void {
  const pending: [AnyNode, AnyNode | undefined][] = [[root, undefined]]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [node, parent] = next
    if (visit(node, parent) === false) continue
    const inside = children(node)
    for (let at = inside.length - 1; at >= 0; at -= 1) pending.push([inside[at]!, node])
  }
}

function children(node: AnyNode): AnyNode[] {
  const found: AnyNode[] = []
  for (const value of Object.values(node)) {
    for (const one of Array.isArray(value) ? value : [value]) if (typeof one?.type === 'string') found.push(one)
  }
  return found
}

/** Returns the names that a pattern binds, such as `{ a, b: [c] }`. */
export function namesOf(pattern: AnyNode | null): string[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern['name']]
    case 'ObjectPattern':
      return pattern['properties'].flatMap((one: AnyNode) => namesOf(one['value'] ?? one['argument']))
    case 'ArrayPattern':
      return pattern['elements'].flatMap(namesOf)
    case 'AssignmentPattern':
      return namesOf(pattern['left'])
    case 'RestElement':
      return namesOf(pattern['argument'])
    default:
      return []
  }
}
