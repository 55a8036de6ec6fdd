// Converts a cell into scripts whose variables survive it. Pure.
//
// Declarations outside of functions and blocks become properties of the global object, which later cells see. Functions
// form a separate script, so that they exist before anything runs; the rest becomes the body of an async function. Both
// keep every line in place.
import { type AnyNode, isFunction, namesOf, walk } from './syntax.ts'

export interface Scripts {
  /** Missing if the cell declares no function. */
  functions?: string
  /** An expression that runs the cell and evaluates to a promise of its value. It begins one line above the cell. */
  body: string
  names: string[]
}

export function toScripts(source: string, program: AnyNode): Scripts {
  const edits = new Edits(source)
  const functions: AnyNode[] = []
  const names = new Set<string>()
  const statements: AnyNode[] = program['body']
  for (const statement of statements) {
    const declared = exported(statement, edits)
    if (declared?.type === 'FunctionDeclaration') {
      functions.push(declared)
      edits.blank(declared)
    } else if (declared?.type === 'ClassDeclaration') {
      names.add(declared['id'].name)
      edits.insert(declared.start, `void (${declared['id'].name} = `)
      edits.insert(declared.end, ');')
    } else if (declared?.type === 'ImportDeclaration') {
      importInPlace(declared, edits, names)
    } else if (declared?.type === 'VariableDeclaration' && declared['kind'] !== 'using') {
      assignInPlace(declared, edits, names)
    }
  }
  nestedVariables(program, edits, names)
  returnLast(statements.at(-1), source, edits)
  const body = `(async () => {\n${edits.result()}\n})()`
  return {
    body,
    names: [...names],
    ...(functions.length > 0 && { functions: onlyThese(source, functions) }),
  }
}

/** Returns the declaration or statement without `export`. */
function exported(statement: AnyNode, edits: Edits): AnyNode | undefined {
  if (statement.type === 'ExportNamedDeclaration') {
    const inner: AnyNode | null = statement['declaration']
    if (!inner) {
      edits.blank(statement)
      return undefined
    }
    edits.blank({ start: statement.start, end: inner.start })
    return inner
  }
  if (statement.type === 'ExportAllDeclaration') {
    edits.blank(statement)
    return undefined
  }
  if (statement.type === 'ExportDefaultDeclaration') {
    const inner: AnyNode = statement['declaration']
    edits.blank({ start: statement.start, end: inner.start })
    if (inner['id']) return inner
    edits.insert(inner.start, 'void (')
    edits.insert(inner.end, ');')
    return undefined
  }
  return statement
}

/** Converts `import a, { b as c } from 'm'` to an assignment. */
function importInPlace(node: AnyNode, edits: Edits, names: Set<string>): void {
  const attributes: AnyNode[] = node['attributes'] ?? []
  const pairs = attributes.map(({ key, value }) => `${JSON.stringify(key.name ?? key.value)}: ${value.raw}`)
  const options = pairs.length > 0 ? `, { with: { ${pairs.join(', ')} } }` : ''
  const loaded = `await import(${node['source'].raw}${options})`
  const parts: string[] = []
  let whole: string | undefined
  for (const { type, local, imported } of node['specifiers'] as AnyNode[]) {
    names.add(local.name)
    if (type === 'ImportNamespaceSpecifier') whole = local.name
    else {
      const key = type === 'ImportDefaultSpecifier' ? 'default' : (imported.name ?? imported.value)
      parts.push(`${JSON.stringify(key)}: ${local.name}`)
    }
  }
  const named = whole === undefined ? loaded : `(${whole} = ${loaded})`
  edits.replace(node, parts.length > 0 ? `void ({ ${parts.join(', ')} } = ${named});` : `void (${named});`)
}

/** Converts `const a = 1, b` to `void ((a = 1), (b = undefined));`. `void` keeps it from continuing the line before. */
function assignInPlace(node: AnyNode, edits: Edits, names: Set<string>): void {
  const parts: AnyNode[] = node['declarations']
  edits.blank({ start: node.start, end: parts[0]!.start })
  edits.insert(parts[0]!.start, 'void (')
  for (const { id, init, start, end } of parts) {
    for (const name of namesOf(id)) names.add(name)
    edits.insert(start, '(')
    edits.insert(end, init || node['kind'] === 'var' ? ')' : ' = undefined)')
  }
  edits.insert(parts.at(-1)!.end, ');')
}

/** `var` in a block or a loop has the scope of the cell. */
function nestedVariables(program: AnyNode, edits: Edits, names: Set<string>): void {
  walk(program, (node, parent) => {
    if (isFunction(node) || node.type === 'StaticBlock' || node.type === 'PropertyDefinition') return false
    if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') return false
    if (node.type === 'MetaProperty') edits.replace(node, META)
    if (node.type !== 'VariableDeclaration' || node['kind'] !== 'var') return undefined
    if (parent?.type === 'Program' || parent?.type === 'ExportNamedDeclaration') return undefined
    const inHead =
      parent?.type.startsWith('For') && (node === parent['left'] || node === parent['init']) ? parent : undefined
    if (!inHead) {
      assignInPlace(node, edits, names)
      return undefined
    }
    const parts: AnyNode[] = node['declarations']
    for (const { id } of parts) for (const name of namesOf(id)) names.add(name)
    edits.blank({ start: node.start, end: parts[0]!.start })
    return undefined
  })
}

/** Replaces `import.meta`, which only modules have. */
const META =
  '({ dirname: process.cwd(), filename: process.cwd() + "/cell.js", url: "file://" + process.cwd() + "/cell.js" })'

function returnLast(last: AnyNode | undefined, source: string, edits: Edits): void {
  if (last?.type !== 'ExpressionStatement') return
  const end = source[last.end - 1] === ';' ? last.end - 1 : last.end
  edits.insert(last.start, 'return (')
  edits.insert(end, '\n)')
}

function onlyThese(source: string, nodes: readonly AnyNode[]): string {
  let text = ''
  let at = 0
  for (const { start, end } of nodes) {
    text += spaces(source.slice(at, start)) + source.slice(start, end)
    at = end
  }
  return text
}

function spaces(text: string): string {
  return text.replace(/[^\n\r\u2028\u2029]/g, ' ')
}

/** Edits of a text, each with its position in the original. */
class Edits {
  readonly #source: string
  readonly #list: { start: number; end: number; text: string }[] = []

  constructor(source: string) {
    this.#source = source
  }

  insert(at: number, text: string): void {
    this.#list.push({ start: at, end: at, text })
  }

  replace({ start, end }: { start: number; end: number }, text: string): void {
    const lines = this.#source.slice(start, end).match(/\n/g)?.join('') ?? ''
    this.#list.push({ start, end, text: text + lines })
  }

  blank({ start, end }: { start: number; end: number }): void {
    this.#list.push({ start, end, text: spaces(this.#source.slice(start, end)) })
  }

  result(): string {
    let text = ''
    let at = 0
    // A stable sort: insertions at one position keep their order. Edits within replaced text are skipped.
    for (const { start, end, text: put } of this.#list.toSorted((a, b) => a.start - b.start)) {
      if (start < at) continue
      text += this.#source.slice(at, start) + put
      at = end
    }
    return text + this.#source.slice(at)
  }
}
