// This file verifies that the hand-written check and the zod schemas agree on every value, including slightly invalid
// frames.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkFrame } from './check-frame.ts'
import { kernelFrame } from './frame-schemas.ts'

const { valid } = JSON.parse(readFileSync(new URL('../../../test/fixtures/frames.json', import.meta.url), 'utf8')) as {
  valid: Record<string, Record<string, unknown>[]>
}
const golden = Object.values(valid).flat()

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1, 1.5, 2 ** 53, 1e308 * 10, '', 'ok', 'stdout', [], {}, [null], ['a']),
  fc.constantFrom('x'.repeat(100), 'x'.repeat(101)),
  fc.constant(Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`t/${index}`, 1]))),
  fc.constant(Array.from({ length: 101 }, () => 'n')),
  fc.constant({ name: 'E', message: '', traceback: '', hint: 1 }),
  fc.jsonValue(),
)
const keys = [...new Set(golden.flatMap((frame) => Object.keys(frame))), 'other']
/** A golden frame with some fields changed or removed. */
const mutated = fc
  .tuple(
    fc.constantFrom(...golden),
    fc.array(fc.tuple(fc.constantFrom(...keys), fc.option(odd, { nil: undefined })), { maxLength: 3 }),
  )
  .map(([frame, changes]) => {
    const copy: Record<string, unknown> = structuredClone(frame)
    for (const [key, value] of changes) {
      if (value === undefined) delete copy[key]
      else copy[key] = value
    }
    return copy
  })

it('checkFrame agrees with the zod schemas on whatever a line can hold', () => {
  let taken = 0
  let refused = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: mutated }, { weight: 1, arbitrary: fc.jsonValue() }), (json) => {
      const schema = kernelFrame.safeParse(structuredClone(json))
      const checked = checkFrame(json)
      if (typeof checked === 'string') refused += 1
      else taken += 1
      expect({ json, frame: typeof checked === 'string' ? undefined : checked }).toEqual({ json, frame: schema.data })
    }),
    { numRuns: 5_000 },
  )
  expect(Math.min(taken, refused)).toBeGreaterThan(500)
})

it('checkFrame names what is wrong with a frame', () => {
  expect(checkFrame([])).toBe('not an object')
  expect(checkFrame({ type: 'nothing' })).toBe('type: not one that a kernel sends')
  expect(checkFrame({ type: 'call', id: 0, cell: 1, method: 'm' })).toBe('id: not a positive integer')
})
