import { readFileSync } from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { expect, it } from 'vitest'
import { INSIDE_FOLDER } from './bundle.ts'
import { withoutZeros } from './snapshot.ts'

const BLOCK = 64 * 1024
const OWN = 48
const STACK = { end: BLOCK * 4, base: BLOCK * 6 }
const BREAK = BLOCK * 8

/** A snapshot as Pyodide makes it: its own part, whose second word is its length, and the heap. */
function snapshotOf(heap: Uint8Array): Uint8Array {
  const own = new Uint8Array(OWN).fill(7)
  new DataView(own.buffer).setUint32(4, OWN, true)
  return Buffer.concat([own, heap])
}

type Restore = (wasm: object, pieces: Uint8Array) => void
const restoreHeap = vm.runInThisContext(readFileSync(path.join(INSIDE_FOLDER, 'restore-heap.js'), 'utf8')) as Restore

/** The memory of an instance that has written everywhere below its break. */
function restoredIn(bytes: number, packed: Uint8Array): Buffer {
  const HEAP8 = new Int8Array(bytes).fill(-1, 0, BREAK)
  restoreHeap(
    {
      HEAP8,
      _emscripten_stack_get_end: () => STACK.end,
      _emscripten_stack_get_base: () => STACK.base,
      _sbrk: () => BREAK,
    },
    Uint8Array.from(packed.subarray(OWN)),
  )
  return Buffer.from(HEAP8.buffer)
}

const HEAPS: [string, [at: number, length: number][], number][] = [
  ['zeros at its end', [[0, 100]], BLOCK * 9],
  ['zeros at its beginning and its last byte set', [[BLOCK * 9 - 1, 1]], BLOCK * 9],
  [
    'zeros in the middle',
    [
      [0, BLOCK * 2 + 5],
      [BLOCK * 7, BLOCK * 2],
    ],
    BLOCK * 9,
  ],
  ['nothing but zeros', [], BLOCK * 9],
  ['an odd length', [[BLOCK, 8]], BLOCK * 8 + 4096],
]

it.each(HEAPS)('a heap with %s is whole again in memory that was written to, but for the stack', (_, filled, bytes) => {
  const heap = Buffer.alloc(bytes)
  for (const [at, length] of filled) heap.fill(1, at, at + length)
  const packed = withoutZeros(snapshotOf(heap))
  const restored = restoredIn(bytes, packed)
  expect(restored.subarray(0, STACK.end).equals(heap.subarray(0, STACK.end))).toBe(true)
  expect(restored.subarray(STACK.base).equals(heap.subarray(STACK.base))).toBe(true)
  expect(packed.subarray(0, OWN)).toEqual(snapshotOf(heap).subarray(0, OWN))
  expect(packed.length).toBeLessThan(bytes * 0.7)
})

it('a heap is refused by memory of another size', () => {
  const packed = withoutZeros(snapshotOf(Buffer.alloc(BLOCK * 9)))
  expect(() => restoredIn(BLOCK * 10, packed)).toThrow('the memory has')
})
