// This file verifies that a value's shape shows its types and none of its content, and that its hash does not depend on
// the order of keys.
import { expect, it } from 'vitest'
import { namesOf } from '../../../core/src/calls/catalog/signature/json-schema.ts'
import { shapeOf, sizeOf } from './describe-value.ts'
import { redactArguments } from './record-fields.ts'

it('the record describes a value by its shape', () => {
  const value = { owner: 'acme', labels: ['a', 'b'], draft: false, size: 3, none: null, deep: { a: { b: [] } } }
  expect(shapeOf(value, () => true)).toBe(
    '{owner: string, labels: [string × 2], draft: boolean, size: number, none: null, deep: {a: {b: []}}}',
  )
})

it('the record has no name that the definition of the tool does not have, at any depth', () => {
  const isNamed = namesOf({
    properties: { owner: {}, to: { $ref: '#/$defs/person' } },
    $defs: { person: { type: 'object', properties: { name: { type: 'string' } } } },
    additionalProperties: true,
  })
  const value = { owner: 'x', 's3cret-one': 1, to: { name: 'x', 's3cret-two': [{ 's3cret-three': null }] } }
  expect(shapeOf(value, isNamed)).toBe('{owner: string, …: number, to: {name: string, …: [{…: null} × 1]}}')
  expect(shapeOf({ 's3cret-one': 1 }, namesOf(undefined))).toBe('{…: number}')
})

it('the record describes any value within bounds', () => {
  const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, index]))
  let deep: unknown = 1
  for (let index = 0; index < 10_000; index += 1) deep = [deep]
  expect(shapeOf(wide, () => true).length).toBeLessThan(510)
  expect(shapeOf(deep, () => true)).toBe('[[[[… × 1] × 1] × 1] × 1]')
  expect(sizeOf(deep)).toBeGreaterThan(10_000)
})

it('the recorded size of a value is close to that of its JSON', () => {
  const value = { name: 'x'.repeat(1_000), list: [1, 2, 3], nested: { ok: true, text: 'ü'.repeat(100) } }
  const exact = Buffer.byteLength(JSON.stringify(value))
  expect(Math.abs(sizeOf(value) - exact)).toBeLessThan(20)
})

const redact = (text: string) => text.replaceAll('hunter2', '[redacted]')

it('redactArguments removes secrets of the server, and values whose key says that they are secret', () => {
  const args = { password: 'abc', apiKey: 'def', body: 'log in with hunter2', nested: { 'x-auth-token': 'ghi' } }
  const text = redactArguments(args, redact)
  for (const secret of ['abc', 'def', 'ghi', 'hunter2']) expect(text).not.toContain(secret)
  expect(text).toContain('"body":"log in with [redacted]"')
})

it('redactArguments cuts long values', () => {
  expect(redactArguments({ text: 'y'.repeat(1e6) }, redact).length).toBeLessThan(2_200)
  expect(
    redactArguments(
      Array.from({ length: 1e4 }, () => 'zzzz'),
      redact,
    ).length,
  ).toBeLessThan(16_500)
})
