import { expect, it } from 'vitest'
import { typeText } from './schema-type.ts'
import { FULL, parametersText, SHORT, signatureOf } from './signature.ts'

const type = (schema: unknown, limit = 200): string => typeText(schema, schema, limit)
const short = (schema: unknown): string => parametersText(signatureOf(schema), SHORT)

it.each([
  [{ type: 'string' }, 'str'],
  [{ type: 'integer' }, 'int'],
  [{ type: ['string', 'null'] }, 'str | None'],
  [{ type: 'string', nullable: true }, 'str | None'],
  [{ enum: ['open', 'closed', null] }, "Literal['open', 'closed'] | None"],
  [{ const: 'a"b\'c\n' }, `Literal['a"b\\'c\\n']`],
  [{ enum: ['right\u202eleft'] }, "Literal['right\\u202eleft']"],
  [{ type: 'array', items: { type: 'string' } }, 'list[str]'],
  [{ type: 'array' }, 'list'],
  [{ type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] }, '[float, str]'],
  [{ anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'null' }] }, "Literal['a', 'b'] | None"],
  [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 'float'],
  [{ anyOf: [{ type: 'string' }, {}] }, 'Any'],
  [{ type: 'object', additionalProperties: { type: 'integer' } }, 'dict[str, int]'],
  [{ type: 'object', patternProperties: { '^x': { type: 'string' } } }, 'dict[str, str]'],
  [{ type: 'object' }, 'dict'],
  [{ properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['b'] }, "{b: int, 'a?': str}"],
  [{ properties: { class: { type: 'string' } }, required: ['class'] }, "{'class': str}"],
  [{ allOf: [{ properties: { a: { type: 'string' } } }, { required: ['a'] }] }, '{a: str}'],
  [true, 'Any'],
  [false, 'Never'],
  [null, 'Any'],
  ['nonsense', 'Any'],
  [{ type: 'strin' }, 'Any'],
  [{ not: { type: 'string' } }, 'Any'],
  [{ $ref: '#/nowhere' }, 'Any'],
  [{ $ref: 'https://example.com/schema' }, 'Any'],
  [{ $ref: '#' }, 'Any'],
  [{ $ref: '#/__proto__' }, 'Any'],
  [{ $ref: '#/x/1', x: [{}, { type: 'string' }] }, 'str'],
  [{ $ref: '#/x/01', x: [{}, { type: 'string' }] }, 'Any'],
])('the Python type of %j is as expected', (schema, expected) => {
  expect(type(schema)).toBe(expected)
})

it('references in a schema are followed, also when they are escaped', () => {
  const root = {
    $defs: { 'a/b': { type: 'string' }, c: { $ref: '#/$defs/a~1b' } },
    items: { $ref: '#/$defs/c' },
    type: 'array',
  }
  expect(type(root)).toBe('list[str]')
})

it('a schema that contains itself has a finite type', () => {
  const root = {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
  }
  expect(type(root, 100_000)).toMatch(/list\[dict\]/)
  const twins = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }
  expect(type(twins)).toBe('Any')
})

it('a schema that doubles at every step takes little time and gives a short type', () => {
  const $defs: Record<string, unknown> = { d0: { type: 'string' } }
  for (let level = 1; level <= 40; level += 1) {
    const next = { $ref: `#/$defs/d${level - 1}` }
    $defs[`d${level}`] = {
      anyOf: [
        { type: 'array', items: next },
        { type: 'object', properties: { a: next, b: next } },
      ],
    }
  }
  expect(type({ $defs, $ref: '#/$defs/d40' }).length).toBeLessThanOrEqual(200)
})

it('a long type becomes a shallower one before it becomes too long', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 5 }, (_, index) => [`property_${index}`, { type: 'string' }]),
  )
  const schema = { type: 'array', items: { type: 'object', properties } }
  expect(type(schema, 200)).toContain("'property_4?': str")
  expect(type(schema, 90)).toBe("list[{'property_0?', 'property_1?', 'property_2?', 'property_3?', 'property_4?'}]")
  expect(type(schema, 60)).toBe("list[{'property_0?', 'property_1?', 'property_2?', ...}]")
  expect(type(schema, 20)).toBe('list[dict]')
})

it('required parameters come first, then those with few values; defaults are shown', () => {
  const schema = {
    type: 'object',
    properties: {
      page: { type: 'integer', default: 1 },
      body: { type: 'string' },
      title: { type: 'string' },
      state: { enum: ['open', 'closed'], default: 'open' },
    },
    required: ['title'],
  }
  expect(short(schema)).toBe(
    "*, title: str, state: Literal['open', 'closed'] = 'open', page: int = 1, body: str = None",
  )
})

it('a parameter that is required and has a default may be left out', () => {
  const schema = { type: 'object', properties: { page: { type: 'integer', default: 1 } }, required: ['page'] }
  expect(short(schema)).toBe('*, page: int = 1')
})

it('optional parameters that do not fit are `**more`, required ones are all there', () => {
  const names = Array.from({ length: 2000 }, (_, index) => `parameter_${index}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const text = short({ type: 'object', properties, required: names.slice(0, 3) })
  expect(text).toMatch(
    /^\*, parameter_0: str, parameter_1: str, parameter_2: str, parameter_3: str = None, .*, \*\*more$/,
  )
  expect(text.length).toBeLessThan(SHORT.total + 20)
  expect(parametersText(signatureOf({ type: 'object', properties }), FULL).length).toBeLessThan(FULL.total + 50)
})

it('a parameter with few values is shown, however many come before it', () => {
  const names = ['name', 'resourceType', 'namespace', 'revision', 'toRevision', 'timeout', 'context', 'selector']
  const properties = {
    ...Object.fromEntries(names.map((name) => [name, { type: 'string', default: 'some default' }])),
    subCommand: { enum: ['history', 'pause', 'restart', 'resume', 'status', 'undo'], default: 'status' },
  }
  const text = short({ type: 'object', properties, required: ['name'] })
  expect(text).toMatch(
    /^\*, subCommand: Literal\['history', 'pause', 'restart', 'resume', 'status', 'undo'\] = 'status', .*\*\*more$/,
  )
})

it('parameters with few values do not make a signature endless, and a long list of values is left out', () => {
  const values = { enum: ['first', 'second', 'third'] }
  const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`choice_${index}`, values]))
  expect(short({ type: 'object', properties }).length).toBeLessThan(SHORT.totalWithLiterals + 20)
  const many = { enum: Array.from({ length: 100 }, (_, index) => `value_${index}`) }
  expect(short({ properties: { a: { type: 'string' }, many, few: values } })).toBe(
    "*, few: Literal['first', 'second', 'third'] = None, a: str = None, many: str = None",
  )
})

it('the type of a long list of objects shows their keys', () => {
  const text = { type: 'string', description: 'x' }
  const fields = ['target', 'name', 'type', 'value', 'description', 'placeholder', 'format']
  const items = { type: 'object', properties: Object.fromEntries(fields.map((key) => [key, text])), required: fields }
  expect(short({ properties: { fields: { type: 'array', items } }, required: ['fields'] })).toBe(
    '*, fields: list[{target, name, type, value, description, placeholder, format}]',
  )
})

it('when no parameter fits there is only `**more`, and one that does not fit hides no other', () => {
  const limits = { ...SHORT, total: 60 }
  const long = signatureOf({ type: 'object', properties: { ['y'.repeat(128)]: {} } })
  expect(parametersText(long, limits)).toBe('**more')
  const both = signatureOf({ type: 'object', properties: { ['y'.repeat(128)]: {}, z: { type: 'string' } } })
  expect(parametersText(both, limits)).toBe('*, z: str = None, **more')
})

it('a schema that accepts additional properties has `**more`', () => {
  expect(short({ properties: { a: {} }, additionalProperties: true })).toBe('*, a: Any = None, **more')
})

it('parameter names that are not valid in Python are replaced', () => {
  const schema = { type: 'object', properties: { from: {}, 'a-b': {}, a_b: {}, '': {} }, required: ['from'] }
  expect(short(schema)).toBe('*, from_: Any, a_b_2: Any = None, a_b: Any = None, arg: Any = None')
})

it.each([
  [{ type: 'object', properties: {} }, '**arguments'],
  [{ type: 'object', properties: {}, required: [] }, '**arguments'],
  [{ type: 'object', properties: {}, additionalProperties: false }, ''],
  [{ type: 'object' }, '**arguments'],
  [{ type: 'object', additionalProperties: false }, ''],
  [{ type: 'object', additionalProperties: true }, '**arguments'],
  [{}, '**arguments'],
  [undefined, '**arguments'],
  [true, '**arguments'],
  ['nonsense', '**arguments'],
  [{ type: 'object', properties: 'nonsense', required: 'nonsense' }, '**arguments'],
  [{ type: 'object', required: ['ghost'] }, '*, ghost: Any'],
  [{ properties: { never: false, a: true } }, '*, a: Any = None'],
])('the parameters of %j are as expected', (schema, expected) => {
  expect(short(schema)).toBe(expected)
})

it('the branches of a top-level anyOf are put together', () => {
  const a = { properties: { a: { type: 'string' }, both: { type: 'string' } }, required: ['a', 'both'] }
  const b = { properties: { b: { type: 'string' }, both: { type: 'string' } }, required: ['b', 'both'] }
  expect(short({ type: 'object', anyOf: [a, b] })).toBe('*, both: str, a: str = None, b: str = None')
})

const text = { type: 'string' }

it.each<[string, object, string]>([
  [
    'of one kind each',
    {
      anyOf: [
        { properties: { kind: { const: 'a' }, value: text }, required: ['kind'] },
        { properties: { kind: { const: 'b' }, value: { type: 'integer' } }, required: ['kind'] },
      ],
    },
    "*, kind: Literal['a', 'b'], value: str | int = None",
  ],
  [
    'in several parts of an allOf',
    { anyOf: [{ properties: { a: text } }], allOf: [{ oneOf: [{ properties: { b: text } }] }, { required: ['a'] }] },
    '*, a: str, b: str = None',
  ],
  [
    'that are required outside of the union',
    { required: ['kind'], anyOf: [{ properties: { kind: { const: 'a' } } }, { properties: { kind: { const: 'b' } } }] },
    "*, kind: Literal['a', 'b']",
  ],
  [
    'behind a reference, and beside it',
    { $ref: '#/$defs/base', properties: { b: text }, $defs: { base: { properties: { a: text }, required: ['a'] } } },
    '*, a: str, b: str = None',
  ],
  [
    'under conditions',
    {
      properties: { a: text },
      if: { properties: { mode: { const: 'x' } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: { b: text }, required: ['b'] },
      else: { properties: { c: text } },
      dependentSchemas: { a: { properties: { d: text } } },
      dependentRequired: { a: ['e'] },
    },
    '*, a: str = None, mode: Any = None, e: Any = None, b: str = None, c: str = None, d: str = None',
  ],
  [
    'that the rest of a union leaves open',
    { properties: { a: text }, oneOf: [{ patternProperties: { '^x': text } }, {}] },
    '*, a: str = None, **more',
  ],
  [
    'behind a reference that leads nowhere here',
    { $ref: 'https://example.com/x', properties: { a: text } },
    '*, a: str = None, **more',
  ],
])('a signature shows arguments %s', (_, schema, expected) => {
  expect(short({ type: 'object', ...schema })).toBe(expected)
})
