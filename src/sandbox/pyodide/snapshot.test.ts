import { expect, it } from 'vitest'
import { withoutZeros } from './snapshot.ts'

const BLOCK = 64 * 1024
const OWN = 48

/** As Pyodide makes one: its own part, whose second word is how long that is, and the heap. */
function snapshotOf(heap: Uint8Array): Uint8Array {
  const own = new Uint8Array(OWN).fill(7)
  new DataView(own.buffer).setUint32(4, OWN, true)
  return Buffer.concat([own, heap])
}

/** What boot.js does with it. */
function heapOf(packed: Uint8Array, bytes: number): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset)
  const count = view.getUint32(OWN, true)
  const heap = new Uint8Array(bytes)
  let from = OWN + 4 + 8 * count
  for (let piece = 0; piece < count; piece += 1) {
    const at = view.getUint32(OWN + 4 + 8 * piece, true)
    const length = view.getUint32(OWN + 8 + 8 * piece, true)
    heap.set(packed.subarray(from, (from += length)), at)
  }
  expect(from).toBe(packed.length)
  return heap
}

it.each([
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
  [
    'an odd length',
    [
      [BLOCK, 8],
      [BLOCK * 3, 4096],
    ],
    BLOCK * 3 + 4096,
  ],
] as [string, [number, number][], number][])(
  'a heap with %s is whole again without its long runs of zeros',
  (_, filled, bytes) => {
    const heap = new Uint8Array(bytes)
    for (const [at, length] of filled) heap.fill(1, at, at + length)
    const packed = withoutZeros(snapshotOf(heap))
    expect(Buffer.from(heapOf(packed, bytes)).equals(heap)).toBe(true)
    expect(packed.subarray(0, OWN)).toEqual(snapshotOf(heap).subarray(0, OWN))
    expect(packed.length).toBeLessThan(bytes * 0.7)
  },
)
