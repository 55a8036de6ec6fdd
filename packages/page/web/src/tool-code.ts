// A cell as a function that can be saved: its last expression becomes the return value. Pure.
import { pythonLanguage } from '@codemirror/lang-python'
import { isPythonName } from './python-text.ts'

const DEFINITIONS = new Set([
  'FunctionDefinition',
  'ClassDefinition',
  'DecoratedStatement',
  'ImportStatement',
  'Comment',
])
const STRINGS = new Set(['String', 'FormatString'])
const INDENT = '    '

/** The name of the last function, if a cell only defines functions. */
export function definedName(code: string): string | undefined {
  const nodes = topNodes(code)
  if (!nodes.every(({ name }) => DEFINITIONS.has(name))) return undefined
  const last = nodes.findLast(({ name }) => name === 'FunctionDefinition' || name === 'DecoratedStatement')
  return last && /\bdef\s+(\w+)/.exec(code.slice(last.from, last.to))?.[1]
}

/** The comment at the beginning of a cell. */
export function firstComment(code: string): string {
  return /^\s*#+[ \t]*(.*)/.exec(code)?.[1]?.trim() ?? ''
}

/** What is wrong with a name for a tool, as a sentence. */
export function nameProblem(name: string): string | undefined {
  if (/^[A-Za-z]\w{0,63}$/.test(name) && isPythonName(name)) return undefined
  return 'A name has letters, digits and _ only, begins with a letter, and is not a keyword of Python.'
}

export type SavedAs = 'tool' | 'workflow'

/** The workflow name for a function's name. */
export function workflowTitle(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}

/** A cell that saves another cell's code without running it. */
export function savingCode(code: string, name: string, description: string, as: SavedAs): string {
  const given = description === '' ? '' : `, description=${JSON.stringify(description)}`
  const definition = definedName(code) === name ? code : asFunction(code, name)
  const save = as === 'tool' ? `save_tool(${name}` : `save_workflow(${JSON.stringify(workflowTitle(name))}, ${name}`
  return `${definition.trimEnd()}\n\nruntime.${save}${given})`
}

function asFunction(code: string, name: string): string {
  const last = topNodes(code)
    .filter((node) => node.name !== 'Comment')
    .at(-1)
  const returning =
    last?.name === 'ExpressionStatement' ? `${code.slice(0, last.from)}return ${code.slice(last.from)}` : code
  const body = indented(returning)
  return `async def ${name}():\n${last ? body : `${body}\n${INDENT}pass`}`
}

/** Lines that begin inside a string literal are part of the string and are not indented. */
function indented(code: string): string {
  const texts: { from: number; to: number }[] = []
  pythonLanguage.parser.parse(code).iterate({
    enter: ({ name, from, to }) => void (STRINGS.has(name) && texts.push({ from, to })),
  })
  let at = 0
  const lines = code.split('\n').map((line) => {
    const start = at
    at += line.length + 1
    const isText = texts.some(({ from, to }) => from < start && start < to)
    return isText || line.trim() === '' ? line : INDENT + line
  })
  return lines.join('\n')
}

interface TopNode {
  name: string
  from: number
  to: number
}

function topNodes(code: string): TopNode[] {
  const nodes: TopNode[] = []
  const { topNode } = pythonLanguage.parser.parse(code)
  for (let node = topNode.firstChild; node; node = node.nextSibling) {
    const { name, from, to } = node
    nodes.push({ name, from, to })
  }
  return nodes
}
