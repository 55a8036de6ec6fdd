// Reads the output of a sandbox process in build mode: two lengths as doubles, the snapshot of Python's heap, and V8's
// code cache. Two fifths of the heap are zeros, mostly Python's stack and the end of its memory. Removes them, so that
// a start neither reads nor writes them, and no sandbox holds them.
import { BridgeError } from '../../errors.ts'
import type { Sandbox } from '../provider.ts'

const HEADER_BYTES = 16
/** Offset, in 32-bit words, of the length of Pyodide's own part in a snapshot. The heap follows. */
const OWN_BYTES_AT = 1
/** Shorter runs of zeros stay, since each piece needs a copy of its own. */
const MIN_ZERO_BYTES = 64 * 1024

/**
 * Returns the snapshot and the code cache.
 * @throws BridgeError SANDBOX_START_FAILED, with the end of the process's stderr, if the output is incomplete
 */
export async function readSnapshot(process: Sandbox): Promise<{ snapshot: Uint8Array; codeCache: Uint8Array }> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdout) chunks.push(chunk as Buffer)
  const exit = await process.exited
  const all = Buffer.concat(chunks)
  const snapshotBytes = all.length >= HEADER_BYTES ? all.readDoubleLE(0) : 0
  const cacheBytes = all.length >= HEADER_BYTES ? all.readDoubleLE(8) : 0
  const end = HEADER_BYTES + snapshotBytes + cacheBytes
  if (exit.code !== 0 || snapshotBytes === 0 || all.length !== end) {
    throw new BridgeError(
      'SANDBOX_START_FAILED',
      `The embedded Python could not be prepared: ${exit.detail.trim() || exit.reason}`,
    )
  }
  const snapshot = withoutZeros(all.subarray(HEADER_BYTES, HEADER_BYTES + snapshotBytes))
  return { snapshot, codeCache: all.subarray(HEADER_BYTES + snapshotBytes) }
}

/**
 * Removes long runs of zeros from a Pyodide snapshot. Format: its own part; then, in 32-bit words, the length of the
 * heap, the number of pieces, and the offset and length of each; then the pieces. boot.js puts them in place.
 */
export function withoutZeros(snapshot: Uint8Array): Uint8Array {
  const ownBytes = new DataView(snapshot.buffer, snapshot.byteOffset).getUint32(OWN_BYTES_AT * 4, true)
  const heap = snapshot.subarray(ownBytes)
  const pieces = piecesOf(heap)
  const words = [heap.length, pieces.length, ...pieces.flatMap(({ at, bytes }) => [at, bytes.length])]
  const index = new Uint8Array(Uint32Array.from(words).buffer)
  return Buffer.concat([snapshot.subarray(0, ownBytes), index, ...pieces.map(({ bytes }) => bytes)])
}

/** Pieces start and end at multiples of MIN_ZERO_BYTES, or at the end of the heap. */
function piecesOf(heap: Uint8Array): { at: number; bytes: Uint8Array }[] {
  const zeros = Buffer.alloc(MIN_ZERO_BYTES)
  const pieces: { at: number; bytes: Uint8Array }[] = []
  for (let at = 0; at < heap.length; at += MIN_ZERO_BYTES) {
    const block = heap.subarray(at, at + MIN_ZERO_BYTES)
    if (zeros.subarray(0, block.length).equals(block)) continue
    const last = pieces.at(-1)
    if (last && last.at + last.bytes.length === at) last.bytes = heap.subarray(last.at, at + block.length)
    else pieces.push({ at, bytes: block })
  }
  return pieces
}
