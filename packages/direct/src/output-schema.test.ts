import { expect, it } from 'vitest'
import { toldSchema } from './output-schema.ts'

const of = (a: unknown, more: object = {}) => ({ type: 'object', properties: { a }, ...more })

it.each([
  ['a type that there is not', of({ type: 'any' })],
  ['a reference to nothing', of({ $ref: '#/definitions/none' })],
  ['a reference to what every object has', of({ $ref: '#/__proto__' })],
  ['a reference through a list to none of its items', of({ $ref: '#/anyOf/01' }, { anyOf: [{}, {}] })],
  ['a reference that cannot be decoded', of({ $ref: '#/$defs/100%' }, { $defs: { '100%': {} } })],
  ['a reference to another place', of({ $ref: 'https://x.example/y.json' })],
  ['an expression that is none', of({ type: 'string', pattern: '^[\\w-.]+$' })],
  ['a field that says itself that it is required', of({ type: 'string', required: true })],
  ['a limit of an older draft', of({ type: 'number', minimum: 1, exclusiveMinimum: true })],
  ['a number as text', of({ type: 'string', minLength: '3' })],
  ['null without a type', of({ nullable: true })],
  ['nothing to choose from', of({ enum: [] })],
  ['no properties', { type: 'object', properties: null }],
  ['a name that another server may have, too', of({ type: 'string' }, { $id: 'result' })],
  ['an end that never comes', of(Array.from({ length: 20_000 }).reduce((deep) => ({ items: deep }), {}))],
  ['an array', { type: 'array' }],
  ['a text', 'object'],
])('a schema with %s is not told', (_, schema) => {
  expect(toldSchema(schema)).toBe(undefined)
})

it.each([
  of({ type: ['string', 'null'], format: 'uint128', 'x-own': { type: 'any' } }),
  of({ $ref: '#/$defs/X~1Y' }, { $defs: { 'X/Y': { anyOf: [{ type: 'string' }, { $ref: '#' }] } } }),
  of({ $ref: '#/anyOf/1' }, { anyOf: [{}, { type: 'object' }] }),
  of({ $ref: '#/$defs/__proto__' }, { $defs: JSON.parse('{"__proto__": {"type": "string"}}') as object }),
  of({ type: 'array', items: [{ type: 'string' }] }, { $schema: 'https://json-schema.org/draft/2020-12/schema' }),
  of({ type: 'string', enum: ['a'], pattern: '^a$', nullable: true }, { additionalProperties: false, required: ['a'] }),
])('a schema that clients compile is told as it is: %j', (schema) => {
  expect(toldSchema(schema)).toBe(schema)
})
