// Converts the arguments of a Python call into a tool's arguments: positions and Python names become true names.
// Refuses only what the tool's schema certainly forbids, and then reports all problems at once.
import { BridgeError } from '../../../errors.ts'
import { CatalogOffering } from '../model/catalog-offering.ts'
import type { CatalogTool } from '../model/catalog-tool.ts'
import { didYouMeanText } from '../../../util/text/did-you-mean.ts'
import { foldName } from '../../../util/text/python-name.ts'
import { dropFloats, floatsOf, inOrder, keepFloats } from '../../../util/json/exact-numbers.ts'
import { firstOf } from '../../../util/text/count.ts'
import { typeText } from '../signature/schema-type.ts'
import { ERROR, FULL, parametersText, type Parameter, type Signature } from '../signature/signature.ts'
import { type Budget, isLargeInteger, newBudget, violation } from '../signature/violation.ts'

const MAX_PROBLEMS = 6
/** Of parameters that the signature in an error has no room for. */
const MAX_NAMES = 30
const finders = new WeakMap<Signature, ReturnType<typeof finderOf>>()

/** Placeholder for an argument whose value the source does not show: it may be anything. */
export const UNKNOWN = Symbol('unknown')

export interface BindOptions {
  /** There may be further arguments, so no argument counts as missing. */
  isPartial?: boolean
  /** As in `call_tool`: a name that the schema does not list is sent, too, unless the schema forbids it. */
  exact?: boolean
}

/**
 * Returns the arguments to send, under their true names; `None` for an optional parameter that cannot be null is left
 * out.
 * @throws BridgeError PROXY_ARGUMENTS_INVALID with every problem (`data.problems`) and the tool's signature
 */
export function bindArguments(
  tool: CatalogTool,
  args: readonly unknown[],
  kwargs: Readonly<Record<string, unknown>>,
  { isPartial = false, exact = false }: BindOptions = {},
): Record<string, unknown> {
  const { signature } = tool
  const problems: string[] = []
  let unlisted = 0
  const budget = newBudget()
  const bound = new Map<string, unknown>()
  const used = new Set<Parameter>()
  const [positional, named] = [floatsOf(args), floatsOf(kwargs)]
  const floats = new Map<string, string>()
  const noteFloat = (to: string, word: string | undefined): void => {
    if (word !== undefined) floats.set(to, word)
  }
  if (args.length > signature.parameters.length) {
    problems.push(
      `it takes at most ${signature.parameters.length} arguments, but ${args.length} were passed by position`,
    )
  }
  for (const [index, parameter] of signature.parameters.slice(0, args.length).entries()) {
    used.add(parameter)
    bound.set(parameter.trueName, args[index])
    noteFloat(parameter.trueName, positional?.get(String(index)))
  }
  const isAsGiven = exact && !signature.closed
  let find = finders.get(signature)
  if (find === undefined) finders.set(signature, (find = finderOf(signature)))
  for (const [name, value] of Object.entries(kwargs)) {
    if (problems.length > MAX_PROBLEMS) break
    const found = find(name)
    // As given, another spelling of a listed name may be a name of its own.
    const isOther =
      isAsGiven &&
      found !== undefined &&
      name !== found.trueName &&
      (used.has(found) || Object.hasOwn(kwargs, found.trueName) || isWrong(value, found, signature, budget))
    const parameter = isOther ? undefined : found
    if (parameter === undefined) {
      if (signature.open || isAsGiven) {
        bound.set(name, value)
        noteFloat(name, named?.get(name))
      } else {
        unlisted += 1
        problems.push(unknownArgument(name, signature))
      }
    } else if (used.has(parameter)) {
      problems.push(`${parameter.name} was passed twice`)
    } else {
      used.add(parameter)
      bound.set(parameter.trueName, value)
      noteFloat(parameter.trueName, named?.get(name))
    }
  }
  for (const parameter of signature.parameters) {
    if (!used.has(parameter)) {
      if (isPartial) continue
      if (parameter.required) problems.push(`${parameter.name} is missing`)
      else if ('fill' in parameter) bound.set(parameter.trueName, parameter.fill)
      continue
    }
    const value = bound.get(parameter.trueName)
    if (value === UNKNOWN) continue
    const wrong = violation(value, parameter.schema, signature.root, parameter.name, budget)
    if (wrong === undefined) {
      if ((floats.has(parameter.trueName) || typeof value === 'object') && takesIntegers(parameter, signature)) {
        floats.delete(parameter.trueName)
        dropFloats(value)
      }
      const forbids = (other: unknown): boolean => parameter.isCertain && isWrong(other, parameter, signature, budget)
      bound.set(parameter.trueName, withIntegers(value, forbids))
      continue
    }
    if (exact && !parameter.isCertain) continue
    if (value === null && 'fill' in parameter) bound.set(parameter.trueName, parameter.fill)
    else if (value === null && !parameter.required) bound.delete(parameter.trueName)
    else if (parameter.isCertain) problems.push(wrong)
  }
  // The search takes long for large arguments, and those are sent only if nothing else is wrong.
  for (const [name, value] of problems.length > 0 ? [] : bound) {
    const at = placeOfInfinity(value)
    if (at !== undefined) problems.push(`${name}${at} is a number that JSON cannot carry: pass it as a str`)
  }
  // To send it all the same helps only if nothing else is wrong.
  if (problems.length > 0) throw invalid(tool, problems, !signature.closed && unlisted === problems.length)
  return keepFloats(inOrder(bound), floats)
}

const integers = new WeakMap<Parameter, boolean>()

/** Whether its numbers are integers: 3.0 is one, but some servers read only 3. */
function takesIntegers(parameter: Parameter, { root }: Signature): boolean {
  const known = integers.get(parameter)
  if (known !== undefined) return known
  const type = typeText(parameter.schema, root, FULL.requiredType)
  const takes = /\bint\b/.test(type) && !/\b(?:float|Any)\b/.test(type)
  integers.set(parameter, takes)
  return takes
}

/** A str of digits that is accepted in place of an integer is sent as that integer. */
function withIntegers(value: unknown, forbids: (other: unknown) => boolean): unknown {
  const isDigits = (one: unknown): one is string => typeof one === 'string' && isLargeInteger(one)
  if (isDigits(value)) return forbids('') ? BigInt(value) : value
  if (!Array.isArray(value) || !value.some(isDigits) || !forbids([''])) return value
  return value.map((one: unknown) => (isDigits(one) ? BigInt(one) : one))
}

/** A number too large for a double would be sent as null, and rules judge another value. @returns the steps to it */
function placeOfInfinity(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : ''
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) {
    // By index: a list may have a million items.
    for (let index = 0; index < value.length; index += 1) {
      const at = placeOfInfinity(value[index])
      if (at !== undefined) return `[${index}]${at}`
    }
    return undefined
  }
  for (const key of Object.keys(value)) {
    const at = placeOfInfinity((value as Record<string, unknown>)[key])
    if (at !== undefined) return `['${key.slice(0, 80)}']${at}`
  }
  return undefined
}

function isWrong(value: unknown, { schema, name }: Parameter, { root }: Signature, budget: Budget): boolean {
  return value !== UNKNOWN && violation(value, schema, root, name, budget) !== undefined
}

/** Finds parameters by the names that a call may use; fast, because a cell may pass any number of names. */
function finderOf({ parameters, open }: Signature): (name: string) => Parameter | undefined {
  const byName = new Map<string, Parameter>()
  const byFolded = new Map<string, Parameter | undefined>()
  for (const parameter of parameters) {
    byName.set(parameter.name, parameter)
    const folded = foldName(parameter.trueName)
    // `dry_run` for `dryRun`, if only one parameter folds to that name.
    byFolded.set(folded, byFolded.has(folded) ? undefined : parameter)
  }
  for (const parameter of parameters) byName.set(parameter.trueName, parameter)
  return (name) => byName.get(name) ?? (open ? undefined : byFolded.get(foldName(name)))
}

function unknownArgument(name: string, { parameters }: Signature): string {
  const near = didYouMeanText(
    name,
    parameters.map((parameter) => parameter.name),
  )
  return `unknown argument ${JSON.stringify(name.slice(0, 80))}${near && ` — ${near}`}`
}

function invalid(tool: CatalogTool, problems: string[], isUnlisted: boolean): BridgeError {
  const { parameters } = tool.signature
  const words = new Set(problems.join(' ').match(/[\p{L}\p{N}_]+/gu))
  const named = parameters.filter(({ name }) => words.has(name)).map(({ name }) => name)
  const signature = parametersText(tool.signature, ERROR, named)
  const hidden = parameters.map(({ name }) => name).filter((name) => !signature.includes(`, ${name}: `))
  const others = hidden.length > 0 ? `. Also: ${firstOf(hidden, MAX_NAMES)}` : ''
  const isPrompt = tool instanceof CatalogOffering
  const line = isPrompt ? tool.line(ERROR) : `await mcp_${tool.serverAlias}.${tool.alias}(${signature})`
  const data: InvalidArguments = { server: tool.server, tool: tool.name, problems, isUnlisted }
  // The call is the same in Python and JavaScript.
  const call = `await runtime.call_tool(${[tool.server, tool.name].map((name) => JSON.stringify(name)).join(', ')}, {…})`
  const hint = isUnlisted ? { hint: `To send it all the same: ${call}` } : {}
  return new BridgeError(
    'PROXY_ARGUMENTS_INVALID',
    `${listed(tool, problems)}. Signature: ${line.replace(/^await /, '')}${isPrompt ? '' : others}`,
    { data, ...hint },
  )
}

/** `data` of the error for a refused call. */
interface InvalidArguments {
  server: string
  tool: string
  problems: string[]
  /** Whether an argument was refused that only the signature does not list: `call_tool` would send it. */
  isUnlisted: boolean
}

function listed(tool: CatalogTool, problems: readonly string[]): string {
  return `${tool.alias}: ${firstOf(problems, MAX_PROBLEMS, '; ')}`
}

/** Per cell. Further errors are always reported in full. */
const MAX_REMEMBERED = 200

/**
 * Returns what `bind` returns.
 * @param seen the errors that the cell has seen
 * @throws what it throws, without the signature when the cell has seen the same error
 */
export async function shortened<T>(seen: Set<string>, tool: CatalogTool, bind: () => Promise<T>): Promise<T> {
  try {
    return await bind()
  } catch (error) {
    if (!BridgeError.isInstance(error) || error.code !== 'PROXY_ARGUMENTS_INVALID') throw error
    const key = `${tool.server}\n${error.message}`
    const { code, data } = error
    if (seen.has(key))
      throw new BridgeError(code, listed(tool, (data as InvalidArguments).problems), { hint: '', data })
    if (seen.size < MAX_REMEMBERED) seen.add(key)
    throw error
  }
}
