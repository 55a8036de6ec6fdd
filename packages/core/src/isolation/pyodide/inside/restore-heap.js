// Copies the pieces of a snapshot's heap (see snapshot.ts) into the memory of a new instance. Memory between the pieces
// is zero: what the instance has written there is overwritten, and pages that it has not touched stay untouched. Its
// stack is empty, so memory below the stack pointer is never read.
'use strict'
// oxlint-disable-next-line no-unused-expressions -- the function is the value of this script
;(wasm, pieces) => {
  const { HEAP8 } = wasm
  const [length, count] = new Uint32Array(pieces.buffer, pieces.byteOffset, 2)
  // With less memory, Python's allocator would use addresses that do not exist.
  if (HEAP8.length !== length) throw new Error(`the memory has ${HEAP8.length} bytes, the snapshot ${length}`)
  const places = new Uint32Array(pieces.buffer, pieces.byteOffset + 8, 2 * count)
  HEAP8.fill(0, 0, wasm._emscripten_stack_get_end())
  HEAP8.fill(0, wasm._emscripten_stack_get_base(), wasm._sbrk(0))
  let from = 8 + 8 * count
  for (let piece = 0; piece < count; piece += 1) {
    const [at, bytes] = places.subarray(2 * piece, 2 * piece + 2)
    HEAP8.set(pieces.subarray(from, (from += bytes)), at)
  }
}
