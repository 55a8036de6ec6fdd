// Reads the output of build mode: four lengths as doubles, then the heap's snapshot, V8's code cache, and the compiled
// files of packages as an index and their bytes. Two fifths of the heap are zeros, which are removed.
import { BridgeError } from '../../errors.ts'
import type { Sandbox } from '../provider.ts'

const PART_COUNT = 4
const HEADER_BYTES = PART_COUNT * 8
/** Offset, in 32-bit words, of the length of Pyodide's own part in a snapshot. The heap follows. */
const OWN_BYTES_AT = 1
/** Shorter runs of zeros stay, since each piece needs a copy of its own. */
const MIN_ZERO_BYTES = 64 * 1024

/** What a sandbox process makes in build mode. */
export interface Built {
  snapshot: Uint8Array
  codeCache: Uint8Array
  compiled: PackedFiles
}

/** @throws BridgeError SANDBOX_START_FAILED, with the end of the process's stderr, if the output is incomplete */
export async function readBuilt(process: Sandbox): Promise<Built> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdout) chunks.push(chunk as Buffer)
  const exit = await process.exited
  const all = Buffer.concat(chunks)
  const lengths = Array.from({ length: PART_COUNT }, (_, part) =>
    all.length >= HEADER_BYTES ? all.readDoubleLE(part * 8) : 0,
  )
  const end = lengths.reduce((sum, length) => sum + length, HEADER_BYTES)
  if (exit.code !== 0 || lengths[0] === 0 || all.length !== end) {
    const ended = exit.signal === 'SIGKILL' ? 'it was killed by SIGKILL, perhaps because memory ran out' : exit.reason
    const detail = exit.detail.trim() || ended
    throw new BridgeError('SANDBOX_START_FAILED', `The embedded Python could not be prepared: ${detail}`)
  }
  let at = HEADER_BYTES
  const [snapshot, codeCache, index, data] = lengths.map((length) => all.subarray(at, (at += length)))
  return {
    snapshot: withoutZeros(snapshot!),
    codeCache: codeCache!,
    compiled: { index: index!.toString(), data: data! },
  }
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

/** Concatenated files, and a JSON list of [path, start, end]. */
export interface PackedFiles {
  index: string
  data: Buffer
}

type Entry = [path: string, start: number, end: number]

/** @param files `path` is absolute */
export function packFiles(files: readonly { path: string; data: Buffer }[]): PackedFiles {
  let at = 0
  const index = files.map(({ path, data }): Entry => [path, at, (at += data.length)])
  return { index: JSON.stringify(index), data: Buffer.concat(files.map((file) => file.data)) }
}

/** Puts files behind others. */
export function appendFiles(files: PackedFiles, more: PackedFiles): PackedFiles {
  const start = files.data.length
  const [first, second] = [files, more].map(({ index }) => JSON.parse(index) as Entry[])
  const moved = second!.map(([path, from, to]): Entry => [path, start + from, start + to])
  return { index: JSON.stringify([...first!, ...moved]), data: Buffer.concat([files.data, more.data]) }
}
