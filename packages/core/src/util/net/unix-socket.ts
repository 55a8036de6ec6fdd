// Common code for the Unix sockets that the bridge listens on.
import { tmpdir } from 'node:os'
import path from 'node:path'
import { hostId } from '../process/process-id.ts'

/** The limit is 108 bytes on Linux and 104 on macOS; Node truncates longer paths, possibly to another folder. */
const MAX_ADDRESS_BYTES = 100

export function fitsSocketAddress(file: string): boolean {
  return Buffer.byteLength(file) <= MAX_ADDRESS_BYTES
}

/** For sockets whose path would be too long. This user's alone, kept from sandboxes: its sockets act as the user. */
export function shortFolder(): string {
  return path.join(tmpdir(), `sandbridge-run-${hostId()}`)
}
