// Reads what a sandbox process in build mode writes to its stdout: two lengths as doubles, the snapshot of Python's heap, V8's code cache.
import { BridgeError } from '../../errors.ts'
import type { Sandbox } from '../provider.ts'

const HEADER_BYTES = 16

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
  const snapshot = all.subarray(HEADER_BYTES, HEADER_BYTES + snapshotBytes)
  return { snapshot, codeCache: all.subarray(HEADER_BYTES + snapshotBytes) }
}
