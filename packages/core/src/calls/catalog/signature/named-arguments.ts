// Finds every argument that an input schema names, wherever it does: beside each other, in branches, behind references,
// under conditions. Tells what holds in any case from what holds in some. Untrusted schemas: the work is bounded. Pure.
import { isRecord, itemsOf } from '../../../util/json/json.ts'
import { isNever, lookUp, members, propertiesOf, requiredNames, sameJson, withoutReference } from './json-schema.ts'

/** What an input schema, or a part of one, says about the arguments. */
export interface NamedArguments {
  /** By true name, in schema order. */
  properties: Map<string, NamedArgument>
  /** Names that are required in any case. */
  required: Set<string>
  /** Whether the schema itself says that there may be others. */
  open: boolean
  /** Whether it certainly forbids others. Most schemas say neither. */
  closed: boolean
}

interface NamedArgument {
  schema: unknown
  /** Whether the schema holds in any case, not only with certain other arguments. */
  isCertain: boolean
}

interface Budget {
  left: number
}

/** The schema of an argument that is only named, as in `required`. */
const ANYTHING = {}
/** A step takes less than a microsecond. Each part takes some, each name and each value that is compared one. */
const MAX_STEPS = 50_000
const STEPS_OF_PART = 50
const MAX_DEPTH = 16
const MAX_BRANCHES = 64

export function namedArguments(inputSchema: unknown): NamedArguments {
  return new Reader(inputSchema).read(inputSchema, 0)
}

class Reader {
  readonly #root: unknown
  readonly #budget = { left: MAX_STEPS }

  constructor(root: unknown) {
    this.#root = root
  }

  read(schema: unknown, depth: number): NamedArguments {
    const budget = this.#budget
    budget.left -= STEPS_OF_PART
    if (isNever(schema)) return { ...nothing(), closed: true }
    if (!isRecord(schema)) return nothing()
    if (budget.left < 0 || depth > MAX_DEPTH) return { ...nothing(), open: true }
    if (typeof schema['$ref'] === 'string') {
      budget.left -= schema['$ref'].length
      const target = lookUp(schema['$ref'], this.#root)
      const there = target === undefined ? { ...nothing(), open: true } : this.read(target, depth + 1)
      const { unevaluatedProperties: rest, ...beside } = withoutReference(schema)
      const found = both(this.read(beside, depth + 1), there, budget)
      // `unevaluatedProperties: false` allows the properties of the reference as well.
      if (rest === false && !found.open) return { ...found, closed: true }
      return { ...found, open: found.open || (rest !== undefined && rest !== false) }
    }
    const inside = (parts: unknown[]): NamedArguments[] =>
      parts.slice(0, MAX_BRANCHES).map((part) => this.read(part, depth + 1))
    const alternatives = (['anyOf', 'oneOf'] as const).map((keyword) => members(schema, keyword))
    const found = [
      own(schema, budget),
      ...inside(members(schema, 'allOf')),
      ...alternatives.filter((branches) => branches.length > 0).map((branches) => either(inside(branches), budget)),
      ...inside(conditional(schema)).map(maybe),
    ].reduce((one, other) => both(one, other, budget))
    const isCut = [members(schema, 'allOf'), ...alternatives].some((parts) => parts.length > MAX_BRANCHES)
    if (isCut) return maybe({ ...found, open: true })
    // What is evaluated depends on all parts, so only a schema without an open one is certain to refuse the rest.
    if (schema['unevaluatedProperties'] === false && !found.open) return { ...found, closed: true }
    // References in a document of its own point elsewhere than `lookUp` goes.
    return typeof schema['$id'] === 'string' && schema !== this.#root ? maybe(found) : found
  }
}

function nothing(): NamedArguments {
  return { properties: new Map(), required: new Set(), open: false, closed: false }
}

/** What the schema says without its parts. */
function own(schema: Record<string, unknown>, budget: Budget): NamedArguments {
  const properties = new Map<string, NamedArgument>()
  for (const [name, property] of propertiesOf(schema)) properties.set(name, { schema: property, isCertain: true })
  const required = requiredNames(schema)
  for (const name of [...required, ...namesOfConditions(schema)])
    if (typeof name === 'string' && !properties.has(name)) properties.set(name, { schema: ANYTHING, isCertain: true })
  budget.left -= properties.size
  const rest = schema['additionalProperties'] ?? schema['unevaluatedProperties']
  const saysMore = isRecord(schema['patternProperties']) || '$dynamicRef' in schema || '$recursiveRef' in schema
  const open = saysMore || (rest !== undefined && rest !== false)
  return { properties, required, open, closed: schema['additionalProperties'] === false && !saysMore }
}

/** Names that only a condition mentions: it says nothing about their values. */
function namesOfConditions(schema: Record<string, unknown>): unknown[] {
  const tested = isRecord(schema['if']) ? propertiesOf(schema['if']).map(([name]) => name) : []
  const pairs = isRecord(schema['dependentRequired']) ? Object.entries(schema['dependentRequired']) : []
  return [...tested, ...pairs.flatMap(([name, others]) => [name, ...itemsOf(others)])]
}

/** Parts that hold under a condition. */
function conditional(schema: Record<string, unknown>): unknown[] {
  const dependent = ['dependentSchemas', 'dependencies'].flatMap((keyword) =>
    isRecord(schema[keyword]) ? Object.values(schema[keyword]) : [],
  )
  return [schema['then'], schema['else'], ...dependent].filter(isRecord)
}

/** The same names, none of them certain. */
function maybe(part: NamedArguments): NamedArguments {
  const properties = new Map([...part.properties].map(([name, { schema }]) => [name, { schema, isCertain: false }]))
  return { properties, required: new Set(), open: part.open, closed: false }
}

/** Both parts hold. Adds the properties of the other to those of the one. */
function both(one: NamedArguments, other: NamedArguments, budget: Budget): NamedArguments {
  const { properties } = one
  budget.left -= other.properties.size
  for (const [name, found] of other.properties) {
    const known = properties.get(name)
    const isSame = known?.isCertain === found.isCertain
    if (known === undefined || known.schema === ANYTHING) properties.set(name, found)
    else if (found.schema === ANYTHING) continue
    else if (isSame)
      properties.set(name, joined([known, found], found.isCertain ? 'allOf' : 'anyOf', found.isCertain, budget))
    else if (found.isCertain) properties.set(name, found)
  }
  return {
    properties,
    required: new Set([...one.required, ...other.required]),
    open: one.open || other.open,
    closed: one.closed || other.closed,
  }
}

/** One of the branches holds. One without a property says nothing about it, unless it forbids unnamed ones. */
function either(branches: NamedArguments[], budget: Budget): NamedArguments {
  const properties = new Map<string, NamedArgument>()
  for (const name of new Set(branches.flatMap((branch) => [...branch.properties.keys()]))) {
    budget.left -= branches.length
    const found = branches.map((branch) => branch.properties.get(name))
    const isCertain = found.every((one, at) =>
      one === undefined ? branches[at]!.closed : one.isCertain && one.schema !== ANYTHING,
    )
    const known = found.filter((one): one is NamedArgument => one !== undefined && one.schema !== ANYTHING)
    properties.set(
      name,
      known.length === 0 ? { schema: ANYTHING, isCertain } : joined(known, 'anyOf', isCertain, budget),
    )
  }
  const [first, ...rest] = branches.map(({ required }) => required)
  return {
    properties,
    required: new Set([...(first ?? [])].filter((name) => rest.every((names) => names.has(name)))),
    open: branches.some(({ open }) => open),
    closed: branches.every(({ closed }) => closed),
  }
}

/** One schema of several, with the first description among them. */
function joined(found: NamedArgument[], keyword: 'allOf' | 'anyOf', isCertain: boolean, budget: Budget): NamedArgument {
  const schemas: unknown[] = []
  for (const { schema } of found) if (!schemas.some((one) => sameJson(one, schema, budget))) schemas.push(schema)
  if (schemas.length === 1) return { schema: schemas[0], isCertain }
  const description = schemas.map((one) => isRecord(one) && one['description']).find(Boolean)
  return { schema: { ...(description ? { description } : {}), [keyword]: schemas }, isCertain }
}
