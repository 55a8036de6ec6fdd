// This file verifies with a reference validator that no argument is refused that its schema allows.
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { violation } from './violation.ts'

const name = fc.constantFrom('a', 'b', 'c')
const scalar = fc.oneof(
  fc.constantFrom('x', 'y', ''),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie('value'), { maxLength: 3 }), fc.dictionary(name, tie('value'))),
}))
const type = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object')
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.record({ type }),
    fc.constantFrom(true, false, {}, { $ref: '#/$defs/one' }, { $ref: '#/$defs/other' }),
    fc.record({ const: scalar }),
    fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }) }),
    fc.record({ type: fc.uniqueArray(type, { minLength: 1, maxLength: 3 }) }),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    fc.record({ prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }), items: tie('schema') }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(name, tie('schema')),
        required: fc.uniqueArray(name),
        additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
  ),
}))

function validatorOf(root: object): ((value: unknown) => { valid: boolean }) | undefined {
  try {
    return new AjvJsonSchemaValidator().getValidator(root)
  } catch {
    return undefined
  }
}

it('no value is refused that a reference validator allows', () => {
  let allowed = 0
  let refused = 0
  fc.assert(
    fc.property(schema, schema, fc.array(value, { minLength: 20, maxLength: 20 }), (given, one, values) => {
      const $defs = { one, other: { type: ['string', 'object'], properties: { a: { $ref: '#/$defs/one' } } } }
      const root = { $defs, type: 'object', properties: { x: given }, required: ['x'] }
      const isValid = validatorOf(root)
      // The reference fails at a reference to itself.
      if (!isValid) return
      for (const x of values) {
        const wrong = violation(x, given, root, 'x')
        if (isValid({ x }).valid) {
          allowed += 1
          expect(wrong, JSON.stringify([root, x])).toBeUndefined()
        } else if (wrong !== undefined) refused += 1
      }
    }),
    { seed: 67, numRuns: 150 },
  )
  expect(allowed).toBeGreaterThan(200)
  expect(refused).toBeGreaterThan(500)
})
