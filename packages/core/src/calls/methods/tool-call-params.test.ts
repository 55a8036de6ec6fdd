// This file verifies that the hand-written check accepts exactly what this schema accepts.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { BridgeError } from '../../errors.ts'
import { boundedList, boundedRecord } from '../../util/json/bounded-schema.ts'
import { checkToolCall, MAX_ARGUMENTS, MAX_NAME_CHARS } from './tool-call-params.ts'

const name = z.string().min(1).max(MAX_NAME_CHARS)
const schema = z.object({
  server: name,
  tool: name,
  args: boundedList(z.unknown(), MAX_ARGUMENTS).default([]),
  kwargs: boundedRecord(z.unknown(), MAX_ARGUMENTS, 'named arguments').default({}),
  raw: z.boolean().default(false),
  exact: z.boolean().default(false),
  again: z.boolean().default(false),
})

const many = Array.from({ length: MAX_ARGUMENTS + 1 }, (_, index) => index)
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, '', 'github', 'x'.repeat(1_000), 'x'.repeat(1_001), 7, true, [], [1], {}, { a: 1 }),
  fc.constantFrom<unknown>(many, many.slice(1), Object.fromEntries(many.entries())),
  fc.jsonValue(),
)
const sound = { server: 'github', tool: 'search', args: [1], kwargs: { q: 'x' }, raw: true, exact: true }
const params = fc
  .array(fc.tuple(fc.constantFrom(...Object.keys(sound), 'other'), fc.option(odd, { nil: undefined })), {
    maxLength: 3,
  })
  .map((changes) => {
    const copy: Record<string, unknown> = { ...sound }
    for (const [key, value] of changes) {
      if (value === undefined) delete copy[key]
      else copy[key] = value
    }
    return copy
  })

function checked(value: unknown): unknown {
  try {
    return checkToolCall(value)
  } catch (error) {
    if (BridgeError.isInstance(error) && error.code === 'PROXY_ARGUMENTS_INVALID') return undefined
    throw error
  }
}

it('checkToolCall agrees with the zod schema', () => {
  let refused = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: params }, { weight: 1, arbitrary: odd }), (value) => {
      const expected = schema.safeParse(value).data
      if (expected === undefined) refused += 1
      expect({ value, params: checked(value) }).toEqual({ value, params: expected })
    }),
    { numRuns: 3_000 },
  )
  expect(refused).toBeGreaterThan(300)
  expect(refused).toBeLessThan(2_700)
})

it('checkToolCall names everything that is wrong', () => {
  expect(() => checkToolCall({ tool: '', args: many, kwargs: [] })).toThrow(
    /^server: .*; tool: .*; args: more than 1000 items; kwargs: not an object$/,
  )
})
