// This file verifies, over generated schemas, that no call is refused here whose arguments a full JSON Schema validator
// accepts.
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BridgeError } from '../../../errors.ts'
import { CatalogTool } from '../model/catalog-tool.ts'
import { bindArguments } from './bind.ts'

type Json = Record<string, unknown>

const names = ['a', 'b', 'from', 'x-y']
const name = fc.constantFrom(...names)
const value = fc.constantFrom<unknown>('x', 'y', 1, 2.5, true, null, ['x'], { a: 'x' })
const valueSchema = fc.constantFrom<unknown>(
  { type: 'string' },
  { type: 'integer' },
  { type: ['string', 'null'] },
  { const: 'x' },
  { enum: ['x', 1] },
  { type: 'array', items: { type: 'string' } },
  { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
  { $ref: '#/$defs/word' },
  { $ref: '#named' },
  { $ref: '#/$defs/nested' },
  { type: 'string', default: 'x' },
  {},
  true,
  false,
)

/** A schema of a few keywords, with schemas of fewer levels inside. */
function objectSchema(levels: number): fc.Arbitrary<Json> {
  const flat: Record<string, fc.Arbitrary<unknown>> = {
    type: fc.constant('object'),
    properties: fc.dictionary(name, valueSchema, { maxKeys: 3 }),
    required: fc.uniqueArray(name, { maxLength: 1 }),
    additionalProperties: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, valueSchema),
    unevaluatedProperties: fc.boolean(),
    patternProperties: fc.constantFrom({ '^x': { type: 'string' } }, { '^[ab]$': true }),
    propertyNames: fc.constant({ maxLength: 3 }),
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 1 }), { maxKeys: 1 }),
    not: fc.constant({ required: ['b'] }),
    $ref: fc.constantFrom('#/$defs/part', '#named', '#/$defs/nested/$defs/part'),
  }
  const inner = levels > 0 ? objectSchema(levels - 1) : fc.constant({})
  const some = fc.array(inner, { minLength: 1, maxLength: 2 })
  const composed: Record<string, fc.Arbitrary<unknown>> = {
    allOf: some,
    anyOf: some,
    oneOf: some,
    if: inner,
    else: inner,
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: inner,
    dependentSchemas: fc.dictionary(name, inner, { maxKeys: 1 }),
  }
  const keywords = Object.entries({ ...flat, ...(levels > 0 ? composed : {}) })
  const pair = fc.oneof(...keywords.map(([keyword, arbitrary]) => fc.tuple(fc.constant(keyword), arbitrary)))
  return fc
    .tuple(flat['properties']!, fc.array(pair, { maxLength: 4 }))
    .map(([properties, pairs]) => Object.fromEntries([['properties', properties], ...pairs]))
}
const inputSchema = fc
  .tuple(objectSchema(2), objectSchema(0), fc.boolean(), fc.nat(5))
  .map(([{ properties, ...schema }, part, isBare, one]) => {
    const $defs = { ...definitions, ...(one === 0 && { nested }), part }
    return { ...(isBare ? {} : { properties }), ...schema, $defs }
  })
const definitions = {
  word: { type: 'string' },
  named: { $anchor: 'named', anyOf: [{ type: 'object' }, { const: 1 }] },
}
const nested = {
  $id: 'nested',
  $ref: '#/$defs/word',
  $defs: { part: { properties: { a: { $ref: '#/$defs/word' } } }, word: { const: 1 } },
}
const given = fc.dictionary(fc.oneof({ weight: 4, arbitrary: name }, fc.constantFrom('From', 'other')), value, {
  maxKeys: 3,
})

const shared = new AjvJsonSchemaValidator()

function accepts(schema: Json, args: Json): boolean {
  try {
    // A validator keeps schemas with an `$id`, and a new one takes long to make.
    const validator = JSON.stringify(schema).includes('"$id"') ? new AjvJsonSchemaValidator() : shared
    return validator.getValidator(schema)(args).valid
  } catch {
    return false // The schema has no meaning, such as a reference in a circle.
  }
}

/**
 * Ajv counts what `unevaluatedProperties` in an `if` has evaluated also where the `if` fails. The specification drops
 * it (2020-12 Core, 7.7.1.1 and 10.2.2.1).
 */
function hasUnevaluatedInIf(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(
    ([keyword, inner]) =>
      (keyword === 'if' && JSON.stringify(inner).includes('"unevaluatedProperties"')) || hasUnevaluatedInIf(inner),
  )
}

/** What is sent, or why nothing is. */
function outcome(tool: CatalogTool, args: Json, exact: boolean): Json | string {
  try {
    return bindArguments(tool, [], args, { exact })
  } catch (error) {
    if (BridgeError.isInstance(error)) return error.message
    throw error
  }
}

it('an argument that a referenced schema evaluates is not refused by what stands beside the reference', () => {
  const schema = {
    $ref: '#/$defs/part',
    unevaluatedProperties: false,
    $defs: { part: { unevaluatedProperties: true } },
  }
  expect(accepts(schema, { a: 'x' })).toBe(true)
  const tool = new CatalogTool('s', 's', 't', { name: 't', inputSchema: schema })
  expect(outcome(tool, { a: 'x' }, true)).toEqual({ a: 'x' })
})

it('arguments that a full validator accepts are never refused before they are sent, nor changed in an exact call', () => {
  let accepted = 0
  let refused = 0
  fc.assert(
    fc.property(inputSchema, given, (schema, args) => {
      fc.pre(!hasUnevaluatedInIf(schema))
      const tool = new CatalogTool('s', 's', 't', { name: 't', inputSchema: schema })
      const sent = outcome(tool, args, true)
      if (!accepts(schema, args)) {
        if (typeof sent === 'string') refused += 1
        return
      }
      accepted += 1
      // A listed name in another spelling may become the listed one. A required parameter gets its default.
      const { From: _, ...others } = args
      expect(sent).toMatchObject('from' in args ? args : others)
      const { parameters, open } = tool.signature
      const known = new Set(parameters.map(({ trueName }) => trueName))
      if (open || Object.keys(args).every((one) => known.has(one)))
        expect(outcome(tool, args, false)).toBeTypeOf('object')
    }),
    { numRuns: 300 },
  )
  // Controls: the generator makes both kinds.
  expect(accepted).toBeGreaterThan(30)
  expect(refused).toBeGreaterThan(30)
})
