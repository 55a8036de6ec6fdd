// Writes a JSON Schema as a Python type on one line that `ast.parse` accepts: `str`, `list[int]`. An object has a short
// shape, `{x: int, 'y?': str, **more}`: `?` is optional, `**more` stands for others. If that is too long, only keys are
// shown; deeper and longer parts become `dict`, `list` or `Any`. Pure.
import {
  asSchema,
  flattened,
  isNever,
  members,
  propertiesOf,
  requiredNames,
  typesOf,
  type Schema,
  readingOf,
  type SchemaReading,
} from './json-schema.ts'
import { isRecord } from '../../../util/json/json.ts'
import { isPlainIdentifier } from '../../../util/text/python-name.ts'
import { pythonLiteral, pythonString } from './python-literal.ts'

/** How much of a schema is shown; tried from most to least until the text fits. */
const LEVELS = [
  { shapes: 4, keys: 16, literals: 40, bare: false },
  { shapes: 2, keys: 10, literals: 16, bare: false },
  { shapes: 2, keys: 10, literals: 16, bare: true },
  { shapes: 1, keys: 6, literals: 8, bare: false },
  { shapes: 1, keys: 10, literals: 8, bare: true },
  { shapes: 1, keys: 3, literals: 6, bare: false },
  { shapes: 1, keys: 3, literals: 6, bare: true },
  { shapes: 0, keys: 0, literals: 4, bare: false },
]
const MAX_NODES = 600
const MAX_NESTING = 12
const MAX_MEMBERS = 32

interface Rendering {
  root: unknown
  reading: SchemaReading
  keys: number
  literals: number
  /** Show only the keys of the innermost objects. */
  bare: boolean
  nodes: number
  nesting: number
}

/**
 * The Python type of the values that `schema` allows.
 * @param root the document that `$ref`s point into
 * @param limit longest text in characters, if possible; a bare `dict` is never too long
 */
export function typeText(schema: unknown, root: unknown, limit: number): string {
  const reading = readingOf(root)
  const given = asSchema(schema)
  let texts = reading.texts.get(given)
  if (texts === undefined) reading.texts.set(given, (texts = []))
  let text = 'Any'
  for (const [at, level] of LEVELS.entries()) {
    const { keys, literals: literalCount, bare } = level
    text = texts[at] ??= render(schema, level.shapes, {
      root,
      reading,
      keys,
      literals: literalCount,
      bare,
      nodes: 0,
      nesting: 0,
    })
    if (text.length <= limit) return text
  }
  return shortest(text)
}

/** The fallback when even the shortest text is too long. */
function shortest(text: string): string {
  if (text.startsWith('list')) return 'list'
  if (text.startsWith('Text[')) return 'Text'
  if (text.startsWith("Literal['") && !text.includes(' | ')) return 'str'
  return text.length > 200 ? 'Any' : text
}

function render(value: unknown, shapes: number, rendering: Rendering): string {
  rendering.nodes += 1
  rendering.reading.left -= 1
  if (rendering.nodes > MAX_NODES || rendering.nesting >= MAX_NESTING || rendering.reading.left < 0) return 'Any'
  rendering.nesting += 1
  try {
    return renderSchema(value, shapes, rendering)
  } finally {
    rendering.nesting -= 1
  }
}

function renderSchema(value: unknown, shapes: number, rendering: Rendering): string {
  if (isNever(value)) return 'Never'
  const schema = flattened(value, rendering.root)
  if (isNever(schema)) return 'Never'
  if ('const' in schema) return literals([schema['const']], rendering)
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return literals(schema['enum'], rendering)
  const types = typesOf(schema)
  const alternatives = [...members(schema, 'anyOf'), ...members(schema, 'oneOf')]
  if (alternatives.length > 0 && !(types.includes('object') && propertiesOf(schema).length > 0)) {
    const texts = alternatives.slice(0, MAX_MEMBERS).map((item) => render(inherit(item, types), shapes, rendering))
    if (schema['nullable'] === true) texts.push('None')
    return union(alternatives.length > MAX_MEMBERS ? [...texts, 'Any'] : texts)
  }
  if (types.length === 0) return renderType(guessedType(schema), schema, shapes, rendering)
  return union(types.map((type) => renderType(type, schema, shapes, rendering)))
}

/** A member of `anyOf` without a type gets the type beside the `anyOf`. */
function inherit(member: unknown, types: string[]): unknown {
  const schema = asSchema(member)
  if (types.length === 0 || member === false || 'type' in schema || '$ref' in schema) return member
  return { ...schema, type: types }
}

function renderType(type: string, schema: Schema, shapes: number, rendering: Rendering): string {
  if (type === 'string') return 'str'
  if (type === 'integer') return 'int'
  if (type === 'number') return 'float'
  if (type === 'boolean') return 'bool'
  if (type === 'null') return 'None'
  // Learned from results: see learned-types.ts.
  if (type === 'Media' || type === 'bytes') return type
  // A text with rows, likewise.
  if (type === 'Text') return `Text[${render(schema['items'], shapes, rendering)}]`
  if (type === 'array') return renderArray(schema, shapes, rendering)
  if (type === 'object') return renderObject(schema, shapes, rendering)
  return 'Any'
}

function guessedType(schema: Schema): string {
  if (isRecord(schema['properties']) || 'additionalProperties' in schema || 'patternProperties' in schema)
    return 'object'
  if ('items' in schema || 'prefixItems' in schema) return 'array'
  return 'any'
}

function renderArray(schema: Schema, shapes: number, rendering: Rendering): string {
  const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : schema['items']
  if (Array.isArray(first)) {
    if (first.length === 0 || first.length > 8) return 'list'
    return `[${first.map((item) => render(item, shapes, rendering)).join(', ')}]`
  }
  const item = first === undefined ? 'Any' : render(first, shapes, rendering)
  return item === 'Any' ? 'list' : `list[${item}]`
}

function renderObject(schema: Schema, shapes: number, rendering: Rendering): string {
  const properties = propertiesOf(schema).filter(([, property]) => !isNever(property))
  rendering.reading.left -= properties.length >> 2
  if (properties.length === 0) {
    const values = mapValues(schema)
    const item = values === undefined ? 'Any' : render(values, shapes, rendering)
    return item === 'Any' || item === 'Never' ? 'dict' : `dict[str, ${item}]`
  }
  if (shapes <= 0) return 'dict'
  const required = requiredNames(schema)
  const order = [
    ...properties.filter(([key]) => required.has(key)),
    ...properties.filter(([key]) => !required.has(key)),
  ]
  const isBare = rendering.bare && shapes === 1
  const parts = order.slice(0, rendering.keys).map(([key, property]) => {
    const name = required.has(key) ? (isPlainIdentifier(key) ? key : pythonString(key)) : pythonString(`${key}?`)
    return isBare ? name : `${name}: ${render(property, shapes - 1, rendering)}`
  })
  if (order.length > rendering.keys) parts.push(isBare ? '...' : '**more')
  return `{${parts.join(', ')}}`
}

function mapValues(schema: Schema): unknown {
  if (isRecord(schema['additionalProperties'])) return schema['additionalProperties']
  const patterns = isRecord(schema['patternProperties']) ? Object.values(schema['patternProperties']) : []
  return patterns.length === 1 ? patterns[0] : undefined
}

function literals(values: unknown[], rendering: Rendering): string {
  const scalars: string[] = []
  const others: string[] = []
  rendering.reading.left -= Math.min(values.length, 1000) >> 2
  for (const value of values.slice(0, 1000)) {
    const text = value === null || typeof value === 'object' ? undefined : pythonLiteral(value, 60)
    if (text !== undefined) scalars.push(text)
    else if (value === null) others.push('None')
    else others.push(typeof value === 'string' ? 'str' : Array.isArray(value) ? 'list' : 'dict')
  }
  const shown = [...new Set(scalars)]
  // A shortened list ends with a literal `...`.
  if (shown.length > rendering.literals) shown.splice(rendering.literals - 1, shown.length, '...')
  return union(shown.length > 0 ? [`Literal[${shown.join(', ')}]`, ...others] : others)
}

function union(texts: string[]): string {
  const parts = [...new Set(texts)].filter((text) => text !== 'Never')
  if (parts.length === 0) return texts.length > 0 ? 'Never' : 'Any'
  if (parts.includes('Any')) return 'Any'
  // To Python's type checkers and to JSON, every int is a float; `str` includes every Literal of strings.
  const wider = parts.filter((part) => !(part === 'int' && parts.includes('float')))
  const literal = wider.filter((part) => /^Literal\[[^[\]]*\]$/.test(part))
  if (literal.length < 2) return wider.join(' | ')
  const merged = `Literal[${literal.map((part) => part.slice(8, -1)).join(', ')}]`
  return [merged, ...wider.filter((part) => !literal.includes(part))].join(' | ')
}
