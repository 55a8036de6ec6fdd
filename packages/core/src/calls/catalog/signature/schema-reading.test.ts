// This file verifies that no schema of a server keeps the bridge busy: each is read in a bounded number of steps.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { catalogTools } from '../model/catalog-tool.ts'
import { toolDoc } from '../arguments/tool-doc.ts'
import { isTooComplex, readingOf } from './json-schema.ts'

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const to = (name: string) => ({ $ref: `#/$defs/${name}` })
const fields = (count: number, make: (at: number) => unknown, name = 'p') =>
  Object.fromEntries(times(count, (at) => [`${name}${at}`, make(at)]))
const layers = (deep: number, make: (next: object) => object) => ({
  ...Object.fromEntries(times(deep, (at) => [`L${at}`, make(to(`L${at + 1}`))])),
  [`L${deep}`]: { type: 'object', properties: { x: { type: 'integer' } } },
})

function docsOf(inputSchema: unknown) {
  const [tool] = catalogTools('s', 's', [{ name: 'f', inputSchema, outputSchema: inputSchema }])
  const docs = [toolDoc(tool!, 'summary'), toolDoc(tool!, 'full')] as const
  return { docs, left: readingOf(inputSchema).left }
}

it.each<[string, Record<string, unknown>]>([
  [
    'references within allOf in a circle',
    { properties: { a: to('A') }, $defs: { A: { allOf: times(64, () => to('A')) } } },
  ],
  ['itself within its allOf', { allOf: times(64, () => ({ $ref: '#' })) }],
  ['allOf in layers', { properties: { a: to('L0') }, $defs: layers(12, (next) => ({ allOf: times(16, () => next) })) }],
  ['anyOf in layers', { properties: { a: to('L0') }, $defs: layers(12, (next) => ({ anyOf: times(32, () => next) })) }],
  [
    'allOf of large objects in layers',
    {
      properties: fields(50, () => to('L0')),
      $defs: layers(8, (next) => ({
        allOf: times(8, (at) => ({ allOf: [next, { properties: fields(100, () => ({}), `z${at}`) }] })),
      })),
    },
  ],
  [
    'thousands of large unions',
    {
      properties: fields(2000, () => to('E')),
      $defs: {
        E: { anyOf: times(32, () => ({ properties: fields(32, (at) => ({ enum: times(30, (one) => at * one) })) })) },
      },
    },
  ],
  [
    'chains of references with much beside them',
    {
      properties: fields(500, () => ({ ...to('C0'), title: 't' })),
      $defs: Object.fromEntries(times(30, (at) => [`C${at}`, { ...to(`C${at + 1}`), ...fields(300, () => 1, 'x') }])),
    },
  ],
  [
    'branches of thousands of names',
    { allOf: times(64, (at) => ({ properties: fields(500, () => ({}), `q${at}_`) })) },
  ],
])('a schema is read in bounded steps and its tool can be called: %s', (_what, schema) => {
  const { docs, left } = docsOf({ type: 'object', ...schema })
  expect(left).toBeGreaterThan(-40_000)
  for (const { line } of docs) expect(line).toMatch(/^await mcp_s\.f\(/)
})

it('full documentation of thousands of arguments with many options each does not keep the bridge busy', () => {
  const $defs = {
    A: { type: 'object', properties: fields(300, () => to('B')) },
    B: { anyOf: times(30, () => ({ type: 'string' })) },
  }
  const start = process.cpuUsage()
  const { docs } = docsOf({
    type: 'object',
    properties: fields(3_000, (at) => ({ ...to('A'), title: `t${at}` })),
    $defs,
  })
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(3_000)
  expect(docs[1].params).toHaveLength(3_000)
})

it('any schema is read in bounded steps', () => {
  const name = fc.integer({ min: 0, max: 5 }).map((at) => `D${at}`)
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      name.map(to),
      fc.constantFrom({ type: 'string' }, true, false, {}),
      fc.record(
        {
          allOf: fc.array(tie('schema'), { maxLength: 6 }),
          anyOf: fc.array(tie('schema'), { maxLength: 6 }),
          properties: fc.dictionary(name, tie('schema')),
          items: tie('schema'),
          additionalProperties: tie('schema'),
        },
        { requiredKeys: [] },
      ),
    ),
  }))
  const defs = fc.array(schema, { minLength: 6, maxLength: 6 })
  fc.assert(
    fc.property(schema, defs, (properties, all) => {
      const $defs = Object.fromEntries(all.map((one, at) => [`D${at}`, one]))
      expect(docsOf({ type: 'object', properties: { a: properties, b: to('D0') }, $defs }).left).toBeGreaterThan(-2_000)
    }),
    { numRuns: 60 },
  )
})

it('the line of a tool says that its types were too complex to read, and of no other', () => {
  const $defs = layers(12, (next) => ({ type: 'object', properties: fields(30, () => next) }))
  const tooComplex = { type: 'object', properties: fields(100, (at) => ({ ...to('L0'), title: `t${at}` })), $defs }
  const { docs } = docsOf(tooComplex)
  expect(isTooComplex(tooComplex)).toBe(true)
  expect(docs[1].line).toContain('# types too complex to show')
  const plain = { type: 'object', properties: { a: to('A') }, $defs: { A: { allOf: [to('A'), { type: 'string' }] } } }
  expect(docsOf(plain).docs[0].line).toBe("await mcp_s.f(*, a: str = None) -> {'a?': str}")
})
