// This file verifies that a schema of a server cannot keep the bridge busy. bind.test.ts verifies what a violation is.
import { expect, it } from 'vitest'
import { violation } from './violation.ts'

const names = Array.from({ length: 10_000 }, (_, at) => `k${at}`)
const wide = { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) }
const list = (length: number, value: unknown) => Array.from({ length }, () => value)

it.each([
  ['of many properties, for many rows', { items: wide }, {}],
  ['of many required names, for many rows', { items: { required: list(10_000, 'k0') } }, { k0: 1 }],
  ['of one long value, for many rows', { items: { const: list(20_000, 'x') } }, list(20_000, 'x')],
  ['with a long reference, for many rows', { items: { $ref: `#/${'a/'.repeat(50_000)}` } }, 1],
])('a schema %s does not keep the bridge busy', (_, schema, row) => {
  // Each row takes some ten thousand steps, so that few are read.
  let read = 0
  const rows = new Proxy(list(1_000, row), {
    get: (all, key) => ((read += Number(/^\d+$/.test(String(key)))), Reflect.get(all, key) as unknown),
  })
  expect(violation(rows, schema, schema, 'result')).toBeUndefined()
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(100)
  // Control: a schema is judged.
  expect(violation([1], { items: { type: 'string' } }, {}, 'result')).toBe('result[0] must be str, not 1')
})

it.each([
  ['null beside the type of a converter', { type: 'string', anyOf: [{ type: 'string' }, { type: 'null' }] }, null],
  ['a number beside the type null', { type: 'null', anyOf: [{ type: 'integer' }, { type: 'string' }] }, 5],
])('a branch that is shown may be sent: %s', (_, schema, value) => {
  expect(violation(value, schema, schema, 'x')).toBeUndefined()
  expect(violation([], schema, schema, 'x')).toMatch(/^x must be/)
})
