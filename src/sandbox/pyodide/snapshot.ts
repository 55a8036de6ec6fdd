// Reads what a sandbox process in build mode writes to its stdout: two lengths as doubles, the snapshot of Python's heap, V8's code cache.
// Two fifths of the heap are zeros, most of them Python's stack and the end of its memory. They are taken out, so that a start neither reads nor
// writes them, and no sandbox keeps them.
import { BridgeError } from '../../errors.ts'
import type { Sandbox } from '../provider.ts'

const HEADER_BYTES = 16
/** In words: where Pyodide's own part of a snapshot says how long it is. The heap follows. */
const OWN_BYTES_AT = 1
/** A shorter run of zeros stays: each piece costs a copy of its own. */
const MIN_ZERO_BYTES = 64 * 1024

/**
 * The snapshot and the code cache.
 * @throws BridgeError SANDBOX_START_FAILED, with the end of the process's stderr, when it ends before all of it came.
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
 * A snapshot of Pyodide without long runs of zeros: its own part as it is; then, in words of 32 bits, the length of the heap, the number of its pieces,
 * and of each where it begins and how many bytes it has; then the pieces. boot.js puts them in their places.
 */
export function withoutZeros(snapshot: Uint8Array): Uint8Array {
  const ownBytes = new DataView(snapshot.buffer, snapshot.byteOffset).getUint32(OWN_BYTES_AT * 4, true)
  const heap = snapshot.subarray(ownBytes)
  const pieces = piecesOf(heap)
  const words = [heap.length, pieces.length, ...pieces.flatMap(({ at, bytes }) => [at, bytes.length])]
  const index = new Uint8Array(Uint32Array.from(words).buffer)
  return Buffer.concat([snapshot.subarray(0, ownBytes), index, ...pieces.map(({ bytes }) => bytes)])
}

/** Each begins and ends at a multiple of MIN_ZERO_BYTES, or where the heap ends. */
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
