import { expect, it } from 'vitest'
import { UNKNOWN } from './bind.ts'
import { catalogOfferings } from '../model/catalog-offering.ts'
import { CatalogTool } from '../model/catalog-tool.ts'
import { checkArguments, type SeenCall } from './seen-call.ts'
import { serverMethod } from '../model/server-methods.ts'

const TOOL = new CatalogTool('s', 's', 'send', {
  name: 'send',
  inputSchema: {
    type: 'object',
    properties: { to: { type: 'string' }, count: { type: 'integer' }, mode: { enum: ['a', 'b'] } },
    required: ['to', 'count'],
  },
})
const prompts = catalogOfferings('s', 's', {
  prompts: [{ name: 'greet', arguments: [{ name: 'name', required: true }, { name: 'tone' }] }],
})
const book = { prompt: (name: string) => prompts.find(({ target }) => target === name) }

const check = (tool: CatalogTool, call: Partial<SeenCall>): string | undefined =>
  checkArguments(tool, { tool: tool.name, args: [], kwargs: {}, isPartial: false, exact: false, ...call }, book)
    ?.message

it.each<[string, Partial<SeenCall>]>([
  ['literals that fit', { args: ['x', 1], kwargs: { mode: 'a' } }],
  ['values that are not known', { args: [UNKNOWN], kwargs: { count: UNKNOWN, mode: UNKNOWN } }],
  ['arguments that may be among more', { args: ['x'], isPartial: true }],
  ['nothing but more', { isPartial: true }],
  ['None for what may be left out', { args: ['x', 1], kwargs: { mode: null } }],
  ['raw, which is ours', { args: ['x', 1], kwargs: { raw: true } }],
])('the arguments of %s are accepted', (_, call) => {
  expect(check(TOOL, call)).toBeUndefined()
})

it.each<[string, Partial<SeenCall>, RegExp]>([
  ['a missing argument', { args: [UNKNOWN] }, /count is missing/],
  ['an unknown one', { args: [UNKNOWN, 1], kwargs: { mod: UNKNOWN } }, /"mod" — Did you mean mode\?/],
  ['an unknown one among more', { kwargs: { mod: 1 }, isPartial: true }, /"mod"/],
  ['a wrong literal among more', { args: [3], isPartial: true }, /to must be str, not 3/],
  ['one too many', { args: ['x', 1, 'a', UNKNOWN] }, /at most 3 arguments/],
  ['one that is given twice', { args: ['x'], kwargs: { to: UNKNOWN, count: 1 } }, /to was passed twice/],
  ['a literal beside an unknown value', { args: [UNKNOWN, 'x'] }, /count must be int, not 'x'/],
])('the arguments of %s are refused', (_, call, expected) => {
  expect(check(TOOL, call)).toMatch(expected)
})

it('raw is an argument where the tool has a parameter of that name', () => {
  const tool = new CatalogTool('s', 's', 't', {
    name: 't',
    inputSchema: { type: 'object', properties: { raw: { type: 'string' } } },
  })
  expect(check(tool, { kwargs: { raw: true } })).toMatch(/raw must be str/)
})

it('a call by name is judged as it will be sent: with names that the tool does not list', () => {
  const call = { kwargs: { to: 'x', count: 1, raw: true, mod: 1 } }
  expect(check(TOOL, call)).toMatch(/unknown argument "mod"/)
  expect(check(TOOL, { ...call, exact: true })).toBeUndefined()
  expect(check(TOOL, { kwargs: { mod: 1 }, exact: true })).toMatch(/to is missing/)
})

it('the arguments of a prompt are judged by those it is known to have', () => {
  const method = serverMethod('s', 's', 'get_prompt')!
  expect(check(method, { args: ['greet'], kwargs: { name: 'Ann' } })).toBeUndefined()
  expect(check(method, { args: ['greet'], kwargs: { name: 1, tone: true } })).toBeUndefined()
  expect(check(method, { args: ['greet'] })).toMatch(/name is missing/)
  expect(check(method, { args: ['greet'], kwargs: { name: UNKNOWN, tome: UNKNOWN } })).toMatch(/Did you mean tone\?/)
  expect(check(method, { kwargs: { name: 'greet' } })).toMatch(/name is missing.*get_prompt\('greet', name: str/)
  expect(check(method, { args: ['other'], kwargs: { any: 1 } })).toBeUndefined()
  expect(check(method, { args: [UNKNOWN], kwargs: { any: 1 } })).toBeUndefined()
  expect(check(method, {})).toMatch(/name is missing/)
  expect(check(method, { args: [3] })).toMatch(/name must be str/)
})
