import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkFrame } from './codec.ts'
import { Malformed, readerOf } from './field-kinds.ts'
import { BRIDGE_FRAMES } from './frames.ts'

const { valid } = JSON.parse(readFileSync(new URL('../../../test/fixtures/frames.json', import.meta.url), 'utf8')) as {
  valid: Record<string, Record<string, unknown>[]>
}
const { run, reply, ...fromKernel } = valid
const golden = Object.values(fromKernel).flat()

const ERROR = { name: 'E', message: '', traceback: '' }
const done = { type: 'done', cell: 0, status: 'error' }
const keysOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`t/${index}`, 1]))

it.each<[unknown, string]>([
  [[], 'not an object'],
  [{ type: 'nothing' }, 'type: not one that a kernel sends'],
  [{ type: 'run', cell: 1, code: '' }, 'type: not one that a kernel sends'],
  [{ type: ['call'], id: 1 }, 'type: not one that a kernel sends'],
  [{ type: 'call', id: 0, cell: 1, method: 'm', params: {} }, 'id: not an integer from 1'],
  [{ type: 'call', id: 2 ** 53, cell: 1, method: 'm', params: {} }, 'id: not an integer from 1'],
  [{ type: 'call', id: 1, cell: -1, method: 'm', params: {} }, 'cell: not an integer from 0'],
  [{ type: 'call', id: 1, cell: 1, method: 'm' }, 'params: missing'],
  [
    { type: 'call', id: 1, cell: 1, method: 'x'.repeat(101), params: {} },
    'method: not a string of at most 100 characters',
  ],
  [{ type: 'output', cell: 1, stream: 'stdin', text: '' }, 'stream: not `"stdout"` or `"stderr"`'],
  [{ type: 'output', cell: 1, stream: 'stdout', text: null }, 'text: not a string'],
  [{ type: 'display', cell: 1, data: [] }, 'data: not an object'],
  [{ type: 'display', cell: 1, data: keysOf(101) }, 'data: more than 100 MIME types'],
  [{ type: 'progress', cell: 1, done: 1e308 * 10 }, 'done: not a number'],
  [{ type: 'progress', cell: 1, done: 1, total: null }, 'total: not a number'],
  [{ ...done, error: 'E' }, 'error: not an object'],
  [{ ...done, error: { ...ERROR, traceback: 1 } }, 'error.traceback: not a string'],
  [{ ...done, error: { ...ERROR, hint: 1 } }, 'error.hint: not a string'],
  [{ ...done, value: keysOf(101) }, 'value: more than 100 MIME types'],
  [{ ...done, notes: {} }, 'notes: not a list'],
  [{ ...done, notes: ['n', 1] }, 'notes[]: not a string'],
  [{ ...done, notes: Array.from({ length: 101 }, () => 1) }, 'notes: more than 100 items'],
  [{ ...done, uninterrupted: 1 }, 'uninterrupted: not a boolean'],
])('checkFrame refuses %j: %s', (json, reason) => {
  expect(() => checkFrame(json)).toThrow(reason)
})

it('checkFrame returns the known fields of a frame and of its error, without others', () => {
  for (const frame of golden) expect(checkFrame({ ...structuredClone(frame), other: 1 })).toEqual(frame)
  expect(checkFrame({ ...done, error: { ...ERROR, other: 1 } })).toEqual({ ...done, error: ERROR })
})

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1, 1.5, 2 ** 53, 1e308 * 10, '', 'ok', 'stdout', [], {}, [null], ['a']),
  fc.constantFrom<unknown>(keysOf(101), { ...ERROR, hint: 1 }),
  fc.jsonValue(),
)
const keys = [...new Set(golden.flatMap((frame) => Object.keys(frame))), 'other']
/** A golden frame with some fields changed or removed. */
const mutated = fc
  .tuple(
    fc.constantFrom(...golden),
    fc.array(fc.tuple(fc.constantFrom(...keys), fc.option(odd, { nil: undefined })), { maxLength: 3 }),
  )
  .map(([frame, changes]) => ({ ...structuredClone(frame), ...Object.fromEntries(changes) }))

it('checkFrame either refuses what a line can hold with a reason, or returns no more than was sent', () => {
  const count = { taken: 0, refused: 0 }
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: mutated }, { weight: 1, arbitrary: fc.jsonValue() }), (given) => {
      const json: unknown = JSON.parse(JSON.stringify(given))
      try {
        const frame = checkFrame(json)
        count.taken += 1
        expect(json).toMatchObject(frame)
        expect(frame).not.toHaveProperty('other')
      } catch (error) {
        if (!(error instanceof Malformed)) throw error
        count.refused += 1
        expect(error.message).not.toBe('')
      }
    }),
    { numRuns: 5_000 },
  )
  expect(Math.min(count.taken, count.refused)).toBeGreaterThan(500)
})

it('the frames that the golden bridge sends have the fields of their tables', () => {
  for (const [table, frames] of [
    [BRIDGE_FRAMES.run, run!],
    [BRIDGE_FRAMES.reply, reply!],
  ] as const)
    for (const frame of frames) expect(readerOf(table)(frame, { type: frame['type'] })).toEqual(frame)
})
