import { expect, it } from 'vitest'
import { headerParameters } from './modern.ts'

const property = (schema: unknown) => ({ type: 'object', properties: { a: schema } })
const header = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name })

it.each<['none' | 'valid' | 'invalid', string, unknown]>([
  ['none', 'no schema', undefined],
  ['none', 'no such key', property({ type: 'string' })],
  ['none', 'a property with the name of the key', property({ properties: { 'x-mcp-header': { type: 'string' } } })],
  ['none', 'the key inside a value', property({ default: { 'x-mcp-header': ' ' } })],
  ['valid', 'a property', property(header('Region'))],
  ['valid', 'a property of a property', property(property(header('Region', 'integer')))],
  ['invalid', 'an empty name', property(header(''))],
  ['invalid', 'a name with a space', property(header('a b'))],
  ['invalid', 'a name that is no text', property(header(7))],
  ['invalid', 'a number', property(header('N', 'number'))],
  ['invalid', 'no type', property({ 'x-mcp-header': 'N' })],
  ['invalid', 'the root', { ...header('N') }],
  ['invalid', 'items', property({ type: 'array', items: header('N') })],
  ['invalid', 'a branch', property({ anyOf: [{ type: 'null' }, header('N')] })],
  ['invalid', 'a definition', { $defs: { x: header('N') } }],
  ['invalid', 'a property below items', property({ items: property(header('N')) })],
  ['invalid', 'the same name twice', { properties: { a: header('Region'), b: header('region') } }],
])('the header parameters of a schema are %s: %s', (expected, _what, schema) => {
  expect(headerParameters(schema)).toBe(expected)
})
