// Finds tool calls in a cell's source before it runs, and whether the cell would handle their failure. Pure.
// When in doubt, treats a failure as handled: a cell is refused only for certain mistakes.
import { type AnyNode, isFunction, namesOf, walk } from './syntax.ts'

interface SeenCall {
  line: number
  column: number
  /** The call depends on a condition. */
  branch: boolean
  /** It is made whenever the cell runs. */
  made: boolean
  server: string
  tool: string
  /** `{value}` for a literal, else `{}`. */
  args?: Seen[]
  kwargs?: Record<string, Seen>
  partial?: true
  /** The names are those to send: see docs/protocol.md. */
  exact?: true
}

export interface SeenCalls {
  calls: SeenCall[]
  /** The cell inspects what exists and branches, so it may avoid calls of missing tools. */
  mayKnowBetter: boolean
}

type Seen = { value?: unknown }

const MAX_CALLS = 500
const MAX_NODES = 2_000
const MAX_CHARS = 10_000
const BRANCHES = new Set(
  'IfStatement ConditionalExpression LogicalExpression SwitchStatement ChainExpression'.split(' '),
)
const LOOPS = new Set(['ForStatement', 'ForInStatement', 'ForOfStatement', 'WhileStatement', 'DoWhileStatement'])
/** Methods that can handle a failure without `try`. */
const CATCHING = new Set(['catch', 'then', 'finally', 'allSettled', 'any', 'race'])
const LOOKING =
  /^(discovered_?servers|list_?(loaded_?server_?metadata|servers|tools)|query_?tool_?docs|search_?tool_?docs|describe_?server|search|list|describe)$/i

interface Where {
  guarded: boolean
  deferred: boolean
  branch: boolean
  /** It runs only if something is thrown. */
  thrown: boolean
}

/**
 * @param servers names of the server variables
 * @param isOurs tells whether a global name has the API's value, or none
 */
export function seenCalls(
  program: AnyNode,
  servers: ReadonlySet<string>,
  isOurs: (name: string) => boolean,
): SeenCalls {
  const bound = boundNames(program)
  const places = new Map<AnyNode, Where>()
  const found: { call: SeenCall; isCertain: boolean; where: Where }[] = []
  let catches = false
  let looks = false
  let branches = false
  walk(program, (node, parent) => {
    const where = inside(parent && places.get(parent), parent, node)
    places.set(node, where)
    if (node.type === 'TryStatement' && node['handler']) catches = true
    if (node.type === 'WithStatement' || (node.type === 'Identifier' && /^(eval|Function)$/.test(node['name'])))
      catches = true
    if (node.type === 'MemberExpression' && !node['computed']) {
      const name: string = node['property'].name ?? ''
      catches ||= CATCHING.has(name)
      looks ||= LOOKING.test(name)
    }
    if (node.type === 'UnaryExpression' && node['operator'] === 'typeof') looks = true
    if (node.type === 'BinaryExpression' && node['operator'] === 'in') looks = true
    if (BRANCHES.has(node.type)) branches = true
    if (node.type !== 'CallExpression' || found.length >= MAX_CALLS) return
    const call = calledTool(node, where, servers, (name) => !bound.has(name) && isOurs(name))
    if (call) found.push({ call, where, isCertain: parent?.type === 'AwaitExpression' && !where.deferred })
  })
  const isSure = ({ isCertain, where }: (typeof found)[number]) => !where.guarded && (isCertain || !catches)
  return { calls: found.filter(isSure).map(({ call }) => call), mayKnowBetter: looks && branches }
}

function inside(outer: Where | undefined, parent: AnyNode | undefined, node: AnyNode): Where {
  const { guarded = false, deferred = false, branch = false, thrown = false } = outer ?? {}
  if (!parent) return { guarded, deferred, branch, thrown }
  const isCaught = parent.type === 'TryStatement' && node === parent['block']
  const first = parent['test'] ?? parent['discriminant'] ?? parent['left']
  return {
    guarded: guarded || (isCaught && (parent['handler'] !== null || endsEarly(parent['finalizer']))),
    deferred: deferred || isFunction(parent) || parent.type.startsWith('Class'),
    branch: branch || ((BRANCHES.has(parent.type) || LOOPS.has(parent.type)) && node !== first),
    thrown: thrown || parent.type === 'CatchClause',
  }
}

function endsEarly(finalizer: AnyNode | null): boolean {
  let found = false
  if (finalizer) walk(finalizer, (node) => void (found ||= /^(Return|Break|Continue)Statement$/.test(node.type)))
  return found
}

/** All names that the cell binds, in any scope. */
function boundNames(program: AnyNode): Set<string> {
  const names = new Set<string>()
  walk(program, (node) => {
    if (node.type === 'VariableDeclarator') for (const name of namesOf(node['id'])) names.add(name)
    if (isFunction(node)) for (const name of node['params'].flatMap(namesOf)) names.add(name)
    if (node.type === 'CatchClause') for (const name of namesOf(node['param'])) names.add(name)
    if (node.type === 'AssignmentExpression') for (const name of namesOf(node['left'])) names.add(name)
    if (/^Import\w*Specifier$/.test(node.type)) names.add(node['local'].name)
    if (/^(Function|Class)/.test(node.type) && node['id']) names.add(node['id'].name)
  })
  return names
}

function calledTool(
  node: AnyNode,
  { branch, deferred, thrown }: Where,
  servers: ReadonlySet<string>,
  means: (name: string) => boolean,
): SeenCall | undefined {
  let target: AnyNode = node['callee']
  if (target.type === 'MemberExpression' && keyOf(target) === 'raw') target = target['object']
  if (target.type !== 'MemberExpression' || node['optional'] || target['optional']) return undefined
  const name = keyOf(target)
  const from: AnyNode = target['object']
  if (name === undefined) return undefined
  const { line, column } = node.loc!.start
  const place = { line, column, branch, made: !branch && !deferred && !thrown }
  const given: AnyNode[] = node['arguments']
  if (from.type === 'Identifier' && means(from['name'])) {
    const owner: string = from['name']
    if (owner.startsWith('mcp_') && owner !== 'mcp_servers')
      return { ...place, server: owner.slice(4), tool: name, ...argumentsOf(given) }
    if ((owner === 'runtime' && /^call_?tool$/i.test(name)) || (owner === 'tools' && name === 'call'))
      return callByName(place, given)
    if (servers.has(owner)) return { ...place, server: owner, tool: name, ...argumentsOf(given) }
  }
  if (from.type === 'MemberExpression' && from['object'].name === 'mcp_servers' && means('mcp_servers')) {
    const server = keyOf(from)
    return server === undefined ? undefined : { ...place, server, tool: name, ...argumentsOf(given) }
  }
  return undefined
}

function callByName(
  place: Pick<SeenCall, 'line' | 'column' | 'branch' | 'made'>,
  given: AnyNode[],
): SeenCall | undefined {
  const [server, tool, values] = given
  if (typeof server?.['value'] !== 'string' || typeof tool?.['value'] !== 'string') return undefined
  const named = argumentsOf(values ? [values] : [])
  return { ...place, server: server['value'], tool: tool['value'], ...named, exact: true }
}

function keyOf({ computed, property }: AnyNode): string | undefined {
  if (!computed) return property.name
  return typeof property.value === 'string' ? property.value : undefined
}

/** A single object passes arguments by name; anything else passes them by position. */
function argumentsOf(given: AnyNode[]): Pick<SeenCall, 'args' | 'kwargs' | 'partial'> {
  const [only] = given
  if (given.length === 1 && only!.type === 'ObjectExpression') {
    const kwargs: Record<string, Seen> = Object.create(null) as Record<string, Seen>
    let isPartial = false
    for (const one of only!['properties'] as AnyNode[]) {
      const key = one.type === 'Property' ? literalKey(one) : undefined
      if (key === undefined) isPartial = true
      else kwargs[key] = seen(one['value'])
    }
    return { kwargs, ...(isPartial && { partial: true }) }
  }
  const isUnsure =
    given.some(({ type }) => type === 'SpreadElement') ||
    (given.length === 1 && only!.type !== 'Literal' && only!.type !== 'TemplateLiteral')
  return isUnsure ? { partial: true } : { args: given.map(seen) }
}

function literalKey({ computed, key }: AnyNode): string | undefined {
  if (computed) return undefined
  return key.name ?? String(key.value)
}

function seen(node: AnyNode): Seen {
  const budget = { left: MAX_NODES }
  try {
    return { value: literal(node, budget) }
  } catch {
    return {}
  }
}

/** Returns the value of a literal with a JSON form. @throws for any other node */
function literal(node: AnyNode, budget: { left: number }): unknown {
  budget.left -= 1
  if (budget.left < 0) throw new RangeError('too large')
  const value: unknown = node['value']
  if (node.type === 'Literal' && !node['regex'] && !node['bigint']) {
    if (typeof value === 'string' && value.length > MAX_CHARS) throw new RangeError('too long')
    if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('no form in JSON')
    return value
  }
  if (node.type === 'TemplateLiteral' && node['quasis'].length === 1) return node['quasis'][0].value.cooked as string
  if (node.type === 'UnaryExpression' && node['operator'] === '-' && typeof node['argument'].value === 'number')
    return -node['argument'].value
  if (node.type === 'ArrayExpression') return node['elements'].map((one: AnyNode) => literal(one, budget))
  if (node.type === 'ObjectExpression') {
    return Object.fromEntries(
      node['properties'].map((one: AnyNode) => {
        const key = one.type === 'Property' && one['kind'] === 'init' && !one['method'] ? literalKey(one) : undefined
        if (key === undefined) throw new TypeError('no literal')
        return [key, literal(one['value'], budget)]
      }),
    )
  }
  throw new TypeError('no literal')
}
