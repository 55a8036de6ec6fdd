import { expect, it } from 'vitest'
import { catalogTools } from '../model/catalog-tool.ts'
import { exampleCall } from './example-call.ts'

const example = (inputSchema: unknown) => exampleCall(catalogTools('x', 'x', [{ name: 'do', inputSchema }])[0]!)
const text = { type: 'string' }

it.each([
  [{ type: 'object', properties: {} }, 'await mcp_x.do()'],
  [{ properties: { owner: text, body: text }, required: ['owner'] }, "await mcp_x.do(owner='owner')"],
  [
    { properties: { from: { ...text, examples: ['2026-01-01'] } }, required: ['from'] },
    "await mcp_x.do(from_='2026-01-01')",
  ],
  [
    { properties: { a: { enum: ['list', 'undo'] }, b: { const: 3 } }, required: ['a', 'b'] },
    "await mcp_x.do(a='list', b=3)",
  ],
  [
    { properties: { n: { type: 'integer', minimum: 5 }, on: { type: 'boolean' } }, required: ['n', 'on'] },
    'await mcp_x.do(n=5, on=True)',
  ],
  [{ properties: { url: { ...text, format: 'uri' } }, required: ['url'] }, "await mcp_x.do(url='https://example.com')"],
  [
    {
      properties: {
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: text, tags: { type: 'array', items: text }, note: text },
            required: ['name', 'tags'],
          },
        },
      },
      required: ['items'],
    },
    "await mcp_x.do(items=[{'name': 'name', 'tags': ['tags']}])",
  ],
  [
    {
      properties: { ip: { ...text, format: 'ipv4' }, day: { ...text, format: 'date', pattern: '^19' } },
      required: ['ip', 'day'],
    },
    'await mcp_x.do(ip=..., day=...)',
  ],
  [
    {
      properties: {
        above: { type: 'number', minimum: 5, exclusiveMinimum: true },
        map: { minProperties: 1, type: 'object' },
      },
      required: ['above', 'map'],
    },
    'await mcp_x.do(above=6, map=...)',
  ],
  [{ properties: { one: { anyOf: [{ type: 'integer' }, text] } }, required: ['one'] }, 'await mcp_x.do(one=1)'],
])('a tool with the schema %j has the example %s', (schema, expected) => {
  expect(example(schema)).toBe(expected)
})

it('an example call is left out when it would be wrong, long or endless', () => {
  expect(example({ properties: { a: false }, required: ['a'] }) ?? '').not.toContain('a=')
  expect(
    example({
      properties: { a: { type: 'string', maxLength: 0, enum: [], const: { x: 'y'.repeat(5000) } } },
      required: ['a'],
    }),
  ).toBeUndefined()
  const tree = {
    $defs: { t: { type: 'object', properties: { t: { $ref: '#/$defs/t' } }, required: ['t'] } },
    properties: { t: { $ref: '#/$defs/t' } },
    required: ['t'],
  }
  expect(example(tree)).toBeUndefined()
  const nested = (levels: number): unknown =>
    levels === 0 ? text : { properties: { t: nested(levels - 1) }, required: ['t'] }
  expect(example(nested(6))).toBe(`await mcp_x.do(t=${"{'t': ".repeat(5)}'t'${'}'.repeat(5)})`)
  expect(example(nested(8))).toBe('await mcp_x.do(t=...)')
})
