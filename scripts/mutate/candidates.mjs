// What can be mutated in a TypeScript file: places in its text, and what would stand there instead.
import { parseAst } from 'rolldown/parseAst'

/** What a comparison and its like become. */
const SWAPPED = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '&&': '||',
  '||': '&&',
}
const CONDITIONS = new Set(['IfStatement', 'ConditionalExpression', 'WhileStatement', 'DoWhileStatement'])
/** Wrappers of types around an expression. All other nodes of types change nothing at run time. */
const AROUND_EXPRESSIONS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])
/** Parts of a node that are no expressions. */
const SKIPPED = new Set(['typeAnnotation', 'typeArguments', 'typeParameters', 'returnType', 'source', 'attributes'])

/**
 * A mutation puts `text` in the place of what stands from `start` to `end`, as offsets in UTF-16. What runs it runs
 * the beginning of `block`, which is the file where nothing else is around it; an expression has an end, too.
 *
 * @returns {{ operator: string, start: number, end: number, text: string, block: { start: number, end?: number } }[]}
 */
export function candidatesOf(source) {
  const found = []
  let block = { start: 0 }
  const add = (operator, { start, end }, text) => found.push({ operator, start, end, text, block })
  const textOf = ({ start, end }) => source.slice(start, end)
  const visit = (node) => {
    if (node.type.startsWith('TS') && !AROUND_EXPRESSIONS.has(node.type)) return
    const around = block
    block = blockOf(node) ?? around
    if (CONDITIONS.has(node.type)) add('negate a condition', node.test, `!(${textOf(node.test)})`)
    if (node.operator in SWAPPED && node.right !== undefined) {
      const between = source.slice(node.left.end, node.right.start)
      const start = node.left.end + between.indexOf(node.operator)
      const end = start + node.operator.length
      add(`${node.operator} becomes ${SWAPPED[node.operator]}`, { start, end }, SWAPPED[node.operator])
    }
    if (node.type === 'LogicalExpression' && node.operator === '??') add('drop a default', node, textOf(node.left))
    if (node.type === 'ExpressionStatement' && !node.directive) add('drop a statement', node, ';')
    if (node.type === 'ReturnStatement' && node.argument) add('return nothing', node, 'return undefined;')
    if (node.type === 'AwaitExpression') add('remove await', node, textOf(node.argument))
    if (node.type === 'UnaryExpression' && node.operator === '!') add('remove !', node, textOf(node.argument))
    if (node.type === 'Literal' && typeof node.value === 'boolean') add('replace a constant', node, String(!node.value))
    if (node.type === 'Literal' && typeof node.value === 'number')
      add('replace a constant', node, `(${textOf(node)} + 1)`)
    for (const [name, part] of Object.entries(node)) {
      if (SKIPPED.has(name) || (name === 'key' && !node.computed)) continue
      for (const child of Array.isArray(part) ? part : [part]) if (typeof child?.type === 'string') visit(child)
    }
    block = around
  }
  visit(parseAst(source, { lang: 'ts' }))
  return found
}

function blockOf(node) {
  if (node.type === 'BlockStatement') return { start: node.start + 1 }
  // Its arguments count as in it.
  return node.type === 'ArrowFunctionExpression' && node.body.type !== 'BlockStatement'
    ? { start: node.body.start, end: node.body.end }
    : undefined
}
