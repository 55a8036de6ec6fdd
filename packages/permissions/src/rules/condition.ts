// Conditions on arguments, in CEL (https://cel.dev), loaded for the first rule that has one. CEL cannot loop forever;
// expressions of more than linear time are refused when a rule is read. Pure.
import type { ASTNode, Environment } from '@marcbachmann/cel-js'
import type { Condition, Facts } from '@sandbridge/core/config/rules'
import { passedOn } from './flow.ts'

/** Why a condition is invalid, and at which position. */
export interface ConditionProblem {
  reason: string
  offset: number
}

const MAX_CHARS = 4_000
const LIMITS = { maxAstNodes: 500, maxDepth: 50, maxListElements: 200, maxMapEntries: 100, maxCallArguments: 10 }
/** Macros that evaluate an expression for each entry of a list. */
const LOOPS = new Set(['all', 'exists', 'exists_one', 'filter', 'map'])
const REFUSED = new Map([
  ['matches', 'uses matches: a regular expression can take for ever. Write startsWith, endsWith or contains'],
  ['bind', 'uses bind, which is not offered here'],
])
/** Limits of the arguments for a condition with a loop: the number of values, and the characters of their texts. */
const MAX_LOOPED_VALUES = 1_000
const MAX_LOOPED_CHARS = 100_000

let environment: Environment | undefined
/** The call that is being judged, for `from`: functions of CEL know no context. */
let callNow: Facts | undefined

export async function compileCondition(text: string): Promise<Condition | ConditionProblem> {
  if (text.length > MAX_CHARS) return { reason: `is longer than ${MAX_CHARS} characters`, offset: 0 }
  const { Environment } = await import('@marcbachmann/cel-js')
  environment ??= new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS })
    .registerVariable('server', 'string')
    .registerVariable('tool', 'string')
    .registerVariable('args', 'map')
    .registerVariable('annotations', 'map')
    .registerVariable('seen', 'list<string>')
    .registerFunction('from(dyn): list<string>', (value: unknown) => {
      if (callNow?.flow === undefined) throw new Error('flows are not followed')
      const { args, flow } = callNow
      return [...flow.originOf(value === args ? passedOn(args, flow) : value).servers]
    })
  try {
    const evaluate = environment.parse(text)
    const { found, problem } = inspect(evaluate.ast)
    if (problem !== undefined) return problem
    const checked = evaluate.check()
    if (!checked.valid) return problemOf(checked.error)
    if (checked.type !== 'bool' && checked.type !== 'dyn')
      return { reason: `is of type ${checked.type}: it must be true or false`, offset: 0 }
    return { text, usesFlow: found.usesFlow, holds: (facts) => judge(evaluate, facts, found.hasLoop) }
  } catch (error) {
    return problemOf(error)
  }
}

function judge(
  evaluate: (variables: Record<string, unknown>) => unknown,
  facts: Facts,
  hasLoop: boolean,
): boolean | undefined {
  if (hasLoop && !isSmall(facts.args)) return undefined
  // Errors are ordinary here, and their stack traces would take most of the time.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  callNow = facts
  try {
    const { server, tool, args, annotations, flow } = facts
    const value = evaluate({ server, tool, args, annotations, ...(flow && { seen: flow.seen }) })
    return typeof value === 'boolean' ? value : undefined
  } catch {
    return undefined
  } finally {
    callNow = undefined
    Error.stackTraceLimit = stackTraceLimit
  }
}

function inspect(ast: ASTNode): { found: { hasLoop: boolean; usesFlow: boolean }; problem?: ConditionProblem } {
  const found = { hasLoop: false, usesFlow: false }
  const walk = (node: unknown, isInLoop: boolean): ConditionProblem | undefined => {
    if (Array.isArray(node)) return first(node, (one) => walk(one, isInLoop))
    if (!isNode(node)) return undefined
    const name = node.op === 'rcall' || node.op === 'call' ? String((node.args as readonly unknown[])[0]) : ''
    found.usesFlow ||= name === 'from' || (node.op === 'id' && node.args === 'seen')
    const refused = REFUSED.get(name)
    if (refused !== undefined) return { reason: refused, offset: node.start }
    const isLoop = LOOPS.has(name)
    if (isLoop && isInLoop) return { reason: `has ${name} inside of another loop`, offset: node.start }
    found.hasLoop ||= isLoop
    return walk(node.args, isInLoop || isLoop)
  }
  const problem = walk(ast, false)
  return problem === undefined ? { found } : { found, problem }
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}

function first<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

function isSmall(value: unknown): boolean {
  let values = 0
  let chars = 0
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    values += 1
    if (typeof next === 'string') chars += next.length
    if (values + pending.length > MAX_LOOPED_VALUES || chars > MAX_LOOPED_CHARS) return false
    if (typeof next !== 'object' || next === null) continue
    const inner = Object.values(next)
    if (inner.length > MAX_LOOPED_VALUES) return false
    for (const one of inner) pending.push(one)
  }
  return true
}

/** The library's message repeats the source text below its first line. */
function problemOf(error: unknown): ConditionProblem {
  const { summary, message, range } = error as { summary?: string; message?: string; range?: { start: number } }
  const said = (summary ?? message ?? 'unknown problem').split('\n')[0]!.slice(0, 200)
  return { reason: `is not valid CEL: ${said}`, offset: range?.start ?? 0 }
}
