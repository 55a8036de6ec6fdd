// Common code for the Unix sockets that the bridge listens on.
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { hostId } from '../process/process-id.ts'

/**
 * An address may have 108 bytes on Linux and 104 on macOS, including the end. Node truncates longer paths, possibly to
 * another folder.
 */
const MAX_ADDRESS_BYTES = 100

export function fitsSocketAddress(file: string): boolean {
  return Buffer.byteLength(file) <= MAX_ADDRESS_BYTES
}

/**
 * The folder for sockets whose path would be too long in the state folder. It is this user's alone, and no sandbox and
 * no jailed server gets it: whoever connects to a socket in it acts as the user.
 */
export function shortFolder(): string {
  return path.join(tmpdir(), `sandbridge-run-${hostId()}`)
}

/**
 * Listen for processes of any user: the permissions of the file's folder keep others out.
 * @throws what node:net throws
 */
export async function listenForAnyUser(server: Server, file: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path: file, readableAll: true, writableAll: true }, resolve)
  })
}
