import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BridgeError } from '../../../errors.ts'
import { bindArguments } from './bind.ts'
import { exactJson, parseExact } from '../../../util/json/parse-exact.ts'
import { CatalogTool } from '../model/catalog-tool.ts'
import { violation } from '../signature/violation.ts'

function tool(inputSchema: unknown): CatalogTool {
  return new CatalogTool('github', 'github', 'create_issue', {
    name: 'create-issue',
    description: 'Create an issue.',
    inputSchema,
  })
}

function problemsOf(inputSchema: unknown, args: unknown[], kwargs: Record<string, unknown>): string[] {
  try {
    bindArguments(tool(inputSchema), args, kwargs)
  } catch (error) {
    expect(BridgeError.isInstance(error) && error.code).toBe('PROXY_ARGUMENTS_INVALID')
    return (error as BridgeError & { data: { problems: string[] } }).data.problems
  }
  return []
}

const issue = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    from: { type: 'string' },
    dryRun: { type: 'boolean' },
    state: { enum: ['open', 'closed'] },
    labels: { type: 'array', items: { type: 'string' } },
    limit: { type: 'integer', default: 10 },
  },
  required: ['title'],
}

it.each([
  [['t'], {}, { title: 't' }],
  [['t', 'f', true], {}, { title: 't', from: 'f', dryRun: true }],
  [[], { title: 't', from_: 'f' }, { title: 't', from: 'f' }],
  [[], { title: 't', from: 'f' }, { title: 't', from: 'f' }],
  [[], { title: 't', dry_run: false }, { title: 't', dryRun: false }],
  [[], { title: 't', limit: null }, { title: 't' }],
])('the arguments %j %j are bound to the parameters of the schema', (args, kwargs, expected) => {
  expect(bindArguments(tool(issue), args, kwargs)).toEqual(expected)
})

it('a float that is whole stays one, but not where the schema says integer', () => {
  const type = (name: string): object => ({ type: name })
  const properties = {
    ratio: type('number'),
    page: type('integer'),
    sizes: { type: 'array', items: type('integer') },
    box: { properties: { at: { type: 'array', items: type('number') } } },
    any: {},
  }
  const call = '[[1.0],{"page":2.0,"sizes":[3.0],"box":{"at":[-0.0,1e+16]},"any":{"deep":[5.0]},"other":6.0}]'
  const [args, kwargs] = parseExact(call) as [unknown[], Record<string, unknown>]
  expect(exactJson(bindArguments(tool({ properties, additionalProperties: true }), args, kwargs))).toBe(
    '{"ratio":1.0,"page":2,"sizes":[3],"box":{"at":[-0.0,1e+16]},"any":{"deep":[5.0]},"other":6.0}',
  )
})

it('a required parameter with a default gets the default when it is missing', () => {
  const schema = { type: 'object', properties: { page: { type: 'integer', default: 3 } }, required: ['page'] }
  expect(bindArguments(tool(schema), [], {})).toEqual({ page: 3 })
  expect(bindArguments(tool(schema), [], { page: null })).toEqual({ page: 3 })
})

it('None is sent where the schema allows null', () => {
  const schema = { type: 'object', properties: { a: { type: ['string', 'null'] } } }
  expect(bindArguments(tool(schema), [], { a: null })).toEqual({ a: null })
})

it('arguments are sent in the order of the call, also those whose names look like numbers', () => {
  const kwargs = parseExact('{"z":1,"10":2,"2":3}') as Record<string, unknown>
  expect(exactJson(bindArguments(tool({}), [], kwargs))).toBe('{"z":1,"10":2,"2":3}')
})

it('an argument called __proto__ is an ordinary argument', () => {
  const kwargs = JSON.parse('{"__proto__": {"polluted": 1}}') as Record<string, unknown>
  const bound = bindArguments(tool({ type: 'object', additionalProperties: true }), [], kwargs)
  expect(Object.keys(bound)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(bound)).toBe(Object.prototype)
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

it.each([[{}], [true], [undefined], [{ type: 'object', properties: { a: {} }, additionalProperties: true }]])(
  'an open schema accepts any argument: %j',
  (schema) => {
    expect(bindArguments(tool(schema), [], { anything: 1 })).toEqual({ anything: 1 })
  },
)

describe('an argument that the schema does not list', () => {
  const note = { type: 'object', properties: {}, required: [] }

  it('is sent where the schema lists none at all', () => {
    expect(bindArguments(tool(note), [], { vault: 'v', content: 'c' })).toEqual({ vault: 'v', content: 'c' })
  })

  it('is refused as a likely slip where it lists some, and the error names the call that sends it', () => {
    let error: unknown
    try {
      bindArguments(tool(issue), [], { title: 't', color: 'red' })
    } catch (caught) {
      error = caught
    }
    expect(error).toMatchObject({
      message: expect.stringContaining('unknown argument "color"'),
      hint: 'To send it all the same: await runtime.call_tool("github", "create-issue", {…})',
    })
    expect(bindArguments(tool(issue), [], { title: 't', color: 'red' }, { exact: true })).toEqual({
      title: 't',
      color: 'red',
    })
  })

  it('is refused also in an exact call where the schema forbids it', () => {
    const closed = tool({ ...issue, additionalProperties: false })
    expect(() => bindArguments(closed, [], { title: 't', color: 'red' }, { exact: true })).toThrow(/"color"/)
    expect(() => bindArguments(closed, [], { title: 't', color: 'red' })).toThrow(
      expect.objectContaining({ hint: expect.not.stringContaining('call_tool') }),
    )
  })

  it('is not mistaken for a listed one in another spelling, which an exact call sends under its own name', () => {
    const exact = { exact: true }
    expect(bindArguments(tool(issue), [], { title: 't', dry_run: true }, exact)).toEqual({ title: 't', dryRun: true })
    expect(bindArguments(tool(issue), [], { title: 't', dry_run: 1 }, exact)).toEqual({ title: 't', dry_run: 1 })
    expect(bindArguments(tool(issue), [], { dry_run: 1, title: 't', dryRun: true }, exact)).toEqual({
      dry_run: 1,
      title: 't',
      dryRun: true,
    })
  })
})

it('the value of a parameter is checked where it must have one type, not where another argument decides', () => {
  const kinds = {
    type: 'object',
    oneOf: [
      { properties: { kind: { const: 'a' }, value: { type: 'string' } }, required: ['kind', 'value'] },
      { properties: { kind: { const: 'b' }, value: { type: 'integer' } }, required: ['kind', 'value'] },
      { properties: { kind: { const: 'c' } }, required: ['kind'] },
    ],
  }
  expect(problemsOf(kinds, [], { kind: 'b', value: 1 })).toEqual([])
  expect(problemsOf(kinds, [], { kind: 'c', value: [] })).toEqual([])
  expect(problemsOf(kinds, [], { kind: 'd' })).toEqual(["kind must be Literal['a', 'b', 'c'], not 'd'"])
})

it.each([
  [[], {}, ['title is missing']],
  [['t'], { title: 'u' }, ['title was passed twice']],
  [[], { titel: 't' }, ['unknown argument "titel" — Did you mean title?', 'title is missing']],
  [[], { title: 3 }, ['title must be str, not 3']],
  [[], { title: null }, ['title must be str, not None']],
  [[], { title: 't', dryRun: 1 }, ['dryRun must be bool, not 1']],
  [[], { title: 't', limit: 1.5 }, ['limit must be int, not 1.5']],
  [[], { title: 't', labels: 'bug' }, ["labels must be list[str], not 'bug'"]],
  [[], { title: 't', labels: ['bug', 2] }, ['labels[1] must be str, not 2']],
  [[], { title: 't', state: 'opened' }, ["state must be Literal['open', 'closed'], not 'opened' — Did you mean open?"]],
  [[1, 2, 3, 4, 5, 6, 7], {}, ['it takes at most 6 arguments, but 7 were passed by position']],
])('the arguments %j %j are refused', (args, kwargs, expected) => {
  expect(problemsOf(issue, args, kwargs)).toEqual(expect.arrayContaining(expected))
})

it.each([
  [Infinity, 'a is a number that JSON cannot carry'],
  [[1, { b: [-Infinity] }], "a[1]['b'][0] is a number that JSON cannot carry"],
])('a number that was too large to parse is refused, at any depth: %j', (value, expected) => {
  const [problem] = problemsOf({ type: 'object', additionalProperties: true }, [], { a: value })
  expect(problem).toContain(expected)
  expect(problemsOf({ type: 'object', properties: { a: {} } }, [value], {})[0]).toContain(expected)
})

it('an argument error holds the signature', () => {
  expect(() => bindArguments(tool(issue), [], {})).toThrow(
    /Signature: mcp_github\.create_issue\(\*, title: str, state: Literal\['open', 'closed'\] = None, from_: str = /,
  )
})

it('an argument error shows required arguments and those of similar names first, and names the others', () => {
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`option_with_a_long_name_${at}`, { type: 'string' }]),
  )
  const properties = { ...many, repository: { type: 'string' }, dashboardUid: { type: 'string' } }
  const wide = tool({ type: 'object', properties, required: ['repository'], additionalProperties: false })
  const errorFor = (kwargs: Record<string, unknown>): string => {
    try {
      bindArguments(wide, [], kwargs)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(errorFor({ repository: 'r', dashboard_id: 'x' })).toMatch(
    /Did you mean dashboard_?[uU]id\?.*\(\*, repository: str, dashboard_?[uU]id: str = None, .*\*\*more\)\. Also: option_with_a_long_name_\d+, /,
  )
})

it('an argument error names a missing key, an unknown key or a wrong type inside an object', () => {
  const point = {
    type: 'object',
    properties: { x: { type: 'number' } },
    required: ['x'],
    additionalProperties: false,
  }
  const schema = { type: 'object', properties: { points: { type: 'array', items: point } }, required: ['points'] }
  expect(problemsOf(schema, [[{}]], {})).toEqual(["points[0] lacks the key 'x'"])
  expect(problemsOf(schema, [[{ x: 1, X: 2 }]], {})).toEqual(["points[0] has the unknown key 'X'. Did you mean x?"])
  expect(problemsOf(schema, [[{ x: '1' }]], {})).toEqual(["points[0]['x'] must be float, not '1'"])
})

it('a hundred thousand unknown argument names make a short error', () => {
  const kwargs = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`name_${index}`, index]))
  const names = Array.from({ length: 2000 }, (_, index) => [`parameter_${index}`, { type: 'string' }] as const)
  const problems = problemsOf({ type: 'object', properties: Object.fromEntries(names) }, [], kwargs)
  expect(problems.length).toBeLessThan(20)
})

it('a long list is checked only up to a limit', () => {
  const item = {
    anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { enum: ['x'] }, { type: 'integer' }],
  }
  const list = Array.from({ length: 1_000_000 }, (_, index) => index)
  expect(violation(list, { type: 'array', items: item }, {}, 'list')).toBeUndefined()
  expect(violation([...list.slice(0, 100), 'y'], { type: 'array', items: item }, {}, 'list')).toMatch(
    /^list\[100\] must be /,
  )
})

it('an error about a union says what is wrong in the branch of the right type', () => {
  const union = { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'integer' }] }
  expect(violation({ a: 1 }, union, {}, 'v')).toBe("v['a'] must be str, not 1")
})

it('a default that the schema itself forbids is not sent for whoever leaves it out', () => {
  const filled = (fallback: unknown) =>
    bindArguments(
      tool({ type: 'object', required: ['a'], properties: { a: { type: 'string', default: fallback } } }),
      [],
      {},
    )
  expect(filled('x')).toEqual({ a: 'x' })
  expect([filled(null), filled(3), filled(['x'])]).toEqual([{}, {}, {}])
})

it('digits beyond 2^53 are sent as the integer that the schema asks for, and as a str where it may be one', () => {
  const id = '7960607143101464577'
  const sent = (schema: unknown, value: unknown) =>
    bindArguments(tool({ type: 'object', properties: { id: schema } }), [], { id: value })['id']
  const integer = { type: 'integer' }
  expect(sent(integer, id)).toBe(BigInt(id))
  expect(sent({ anyOf: [integer, { type: 'null' }] }, id)).toBe(BigInt(id))
  expect(sent({ type: 'array', items: integer }, [1, id])).toEqual([1, BigInt(id)])
  for (const schema of [{}, { type: ['integer', 'string'] }, { type: 'string' }]) expect(sent(schema, id)).toBe(id)
  expect(sent(integer, BigInt(id))).toBe(BigInt(id))
})

it.each([
  [{ not: { type: 'string' } }, 'x'],
  [{ $ref: '#/nowhere' }, 1],
  [{ $ref: 'https://example.com/x.json' }, 1],
  [{ type: 'unknown' }, 1],
  [{ type: 'string', format: 'date', pattern: '^x', minLength: 9 }, 'y'],
  [{ type: 'number', minimum: 5 }, 1],
  [{ anyOf: [{ type: 'string' }, { type: 'object' }] }, { a: 1 }],
  [{ type: 'integer' }, 2 ** 60],
  [{ type: 'integer' }, '1234567890123456789'],
  [{ type: 'number' }, '-9007199254740993'],
  [{ enum: [{ a: 1, b: [2] }] }, { b: [2], a: 1 }],
  [{ $ref: '#/$defs/closed', properties: { extra: {} } }, { a: 1 }],
  [{ type: 'object', properties: {}, patternProperties: { '^x-': {} }, additionalProperties: false }, { 'x-a': 1 }],
])('the schema %j allows %j, since it cannot be judged', (schema, value) => {
  const root = { $defs: { closed: { type: 'object', properties: { a: {} }, additionalProperties: false } } }
  expect(violation(value, schema, root, 'value')).toBeUndefined()
})

it('a circular schema, and one that doubles at every step, allow what cannot be judged', () => {
  const root = { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } } }
  expect(violation(1, { $ref: '#/$defs/a' }, root, 'value')).toBeUndefined()
})

it('a value made for a schema always passes its check', () => {
  fc.assert(
    fc.property(schemaWithValue, ({ schema, value }) => {
      expect(violation(value, schema, schema, 'v')).toBeUndefined()
    }),
  )
})

it.each([
  '9007199254740991',
  '12',
  '12345678901234567.5',
  ' 1234567890123456789',
  '01234567890123456789',
  '1'.repeat(40),
])('the str %j is no integer: a number would carry it, or it is none', (value) => {
  expect(violation(value, { type: 'integer' }, {}, 'v')).toBeDefined()
})

it('control: a value of another type never passes the check', () => {
  const other: Record<string, unknown> = {
    string: 1,
    integer: 'x',
    number: 'x',
    boolean: 'x',
    array: {},
    object: [],
    null: 0,
  }
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(other)), (type) => {
      expect(violation(other[type], { type }, {}, 'v')).toBeDefined()
    }),
  )
})

const { schemaWithValue } = fc.letrec<{ schemaWithValue: { schema: unknown; value: unknown } }>((tie) => ({
  schemaWithValue: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.string().map((value) => ({ schema: { type: 'string' }, value })),
    fc.integer().map((value) => ({ schema: { type: 'integer' }, value })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ({ schema: { type: 'number' }, value })),
    fc.jsonValue().map((value) => ({ schema: { const: value }, value })),
    fc.jsonValue().map((value) => ({ schema: { enum: ['no', value] }, value })),
    fc.jsonValue().map((value) => ({ schema: true, value })),
    tie('schemaWithValue').map(({ schema, value }) => ({ schema: { anyOf: [{ type: 'null' }, schema] }, value })),
    tie('schemaWithValue').map(({ schema, value }) => ({ schema: { allOf: [schema, {}] }, value })),
    fc.array(tie('schemaWithValue'), { maxLength: 3 }).map((parts) => ({
      schema: { type: 'array', prefixItems: parts.map(({ schema }) => schema) },
      value: parts.map(({ value }) => value),
    })),
    fc.dictionary(fc.string(), tie('schemaWithValue'), { maxKeys: 3 }).map((parts) => ({
      schema: {
        type: 'object',
        properties: Object.fromEntries(Object.entries(parts).map(([key, { schema }]) => [key, schema])),
        required: Object.keys(parts),
        additionalProperties: false,
      },
      value: Object.fromEntries(Object.entries(parts).map(([key, { value }]) => [key, value])),
    })),
  ),
}))

it('an object of very many keys is not checked against every branch of a schema', () => {
  const large = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]))
  const reads = (schema: unknown): number => {
    let count = 0
    const watched = new Proxy(large, {
      getOwnPropertyDescriptor: (target, key) => {
        count += 1
        return Reflect.getOwnPropertyDescriptor(target, key)
      },
      get: (target, key) => {
        count += 1
        return Reflect.get(target, key) as unknown
      },
    })
    expect(violation(watched, schema, schema, 'row')).toBeUndefined()
    return count
  }
  const branch = { type: 'object', properties: { k1: { type: 'integer' } }, required: ['k1'] }
  expect(reads({ allOf: Array.from({ length: 500 }, () => branch) })).toBeLessThan(10_000)
  // Here each value must be checked, so the step limit ends the check.
  const judged = { ...branch, additionalProperties: { type: 'integer' } }
  expect(reads({ allOf: Array.from({ length: 500 }, () => judged) })).toBeLessThan(1_000_000)
  expect(violation({ ...large, k7: 'x' }, judged, judged, 'row')).toMatch(/row\['k7'\] must be int/)
})
