import { describe, expect, it } from 'vitest'
import { readArguments } from './client-arguments.ts'
import { parseRunPythonArguments } from './mcp/tool/run-python-tool.ts'

const TOOL = {
  name: 'rep',
  properties: {
    week: { type: 'integer' },
    ratio: { type: 'number' },
    flag: { type: 'boolean' },
    tags: { type: 'array' },
    names: { type: 'array', items: { type: 'string' } },
    counts: { type: 'array', items: { type: 'integer' } },
    opts: { type: 'object' },
    title: { type: 'string' },
    either: { type: ['integer', 'string'] },
    maybe: { type: ['integer', 'null'] },
    both: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    unclear: { anyOf: [{ type: 'integer' }, {}] },
    any: {},
    deep: {
      type: 'object',
      properties: { n: { type: 'integer' }, list: { items: { type: 'object' }, type: 'array' } },
    },
  },
  required: ['title'],
}
const read = (given: unknown) => readArguments(given, TOOL)

describe('a text where the schema has another type', () => {
  it.each([
    [{ week: '3' }, { week: 3 }],
    [{ week: ' -3 ' }, { week: -3 }],
    [{ week: '+3.0' }, { week: 3 }],
    [{ ratio: '2.5' }, { ratio: 2.5 }],
    [{ ratio: '1e3' }, { ratio: 1000 }],
    [{ flag: 'true' }, { flag: true }],
    [{ flag: 'False' }, { flag: false }],
    [{ tags: '["a", 1]' }, { tags: ['a', 1] }],
    [{ names: '["a"]' }, { names: ['a'] }],
    [{ names: 'a b' }, { names: ['a b'] }],
    [{ counts: ['1', 2] }, { counts: [1, 2] }],
    [{ counts: '["1"]' }, { counts: [1] }],
    [{ opts: '{"k": 1}' }, { opts: { k: 1 } }],
    [{ deep: { n: '4', list: '[{"k": 1}]', x: '5' } }, { deep: { n: 4, list: [{ k: 1 }], x: '5' } }],
    [{ deep: '{"n": "4", "list": ["{}", "x"]}' }, { deep: { n: 4, list: [{}, 'x'] } }],
    [{ maybe: 'null' }, { maybe: null }],
    [{ maybe: '4' }, { maybe: 4 }],
    [{ both: '4' }, { both: 4 }],
    [{ week: '', tags: '', opts: 'null' }, {}],
  ])('is read as that where it has one reading: %j', (given, expected) => {
    expect(read(given)).toEqual({ args: expected })
  })

  it.each([
    { week: '3.5' },
    { week: '3 weeks' },
    { week: '0x10' },
    { ratio: 'NaN' },
    { flag: 'perhaps' },
    { tags: 'a' },
    { tags: '{"a": 1}' },
    { names: '[a]' },
    { opts: '["k"]' },
    { title: '3' },
    { title: 'null' },
    { title: '' },
    { either: '3' },
    { any: '[1]' },
    { unclear: '4' },
    { week: [3] },
    { deep: { n: null, list: '' } },
  ])('stays as it is where it has none, or more than one: %j', (given) => {
    expect(read(given)).toEqual({ args: given })
  })
})

it('null is missing for an optional argument, and stays for the check of a required one', () => {
  expect(read({ week: null, maybe: null, any: null, title: null })).toEqual({
    args: { maybe: null, any: null, title: null },
  })
  expect(read(null)).toEqual({ args: {} })
  expect(read(undefined)).toEqual({ args: {} })
})

it('arguments that a client adds are left out and named, and a misspelt name is an error', () => {
  const takes = 'week, ratio, flag, tags, names, counts, opts, title, either, maybe, both, unclear, any and deep'
  expect(read({ week: 3, toolCallId: 'c' })).toEqual({
    args: { week: 3 },
    note: `The argument 'toolCallId' was ignored: rep takes ${takes}.`,
  })
  expect(read({ sessionId: 's', chatInput: 'x', random_string: '', zz: 1 }).note).toMatch(
    /^The arguments 'sessionId', 'chatInput', 'random_string' and 1 more were ignored/,
  )
  expect(() => read({ weak: 3 })).toThrow(
    expect.objectContaining({ message: "rep has no parameter 'weak'", hint: 'Did you mean week?' }),
  )
  // Added by a client, however near it is to a name.
  const near = { name: 'x', properties: { actions: { type: 'array' }, session: { type: 'string' } } }
  expect(readArguments({ action: 'sendMessage', sessionId: 's' }, near).args).toEqual({})
})

it('a tool that takes any name gets all but what clients add', () => {
  const open = { name: 'x', properties: { a: { type: 'integer' } }, isOpen: true }
  expect(readArguments({ a: '1', aa: 2, toolCallId: 'c' }, open)).toEqual({
    args: { a: 1, aa: 2 },
    note: "The argument 'toolCallId' was ignored: x takes a.",
  })
})

describe('run_python', () => {
  const parse = (args: object) =>
    parseRunPythonArguments({ code: '1', ...args }, { timeoutMs: 5_000, maxTimeoutMs: 60_000 })

  it.each([
    [{ servers: '["a","b"]' }, { servers: ['a', 'b'] }],
    [{ servers: 'a' }, { servers: ['a'] }],
    [{ servers: 'a, b' }, { servers: ['a', 'b'] }],
    [{ servers: 'null' }, {}],
    [{ servers: '' }, {}],
    [{ timeout: '30' }, { timeoutMs: 30_000 }],
    [{ timeout: '30s' }, { timeoutMs: 30_000 }],
    [{ timeout: '1 min' }, { timeoutMs: 60_000 }],
    [{ timeout: '' }, {}],
    [{ servers: null, timeout: null }, {}],
  ])('takes what a client encoded twice: %j', (given, expected) => {
    expect(parse(given)).toEqual({ code: '1', timeoutMs: 5_000, ...expected })
  })

  it('refuses a misspelt name, and a value without a reading', () => {
    expect(() => parse({ timeuot: 3 })).toThrow("run_python has no parameter 'timeuot'")
    expect(() => parse({ servers: [1] })).toThrow("'servers' must be a list of server names; the number 1")
    expect(() => parse({ timeout: '3 moons' })).toThrow("'timeout' must be a number of seconds")
    expect(() => parse({ timeout: '2h' })).toThrow("'timeout' is 7200, but must be")
  })
})
