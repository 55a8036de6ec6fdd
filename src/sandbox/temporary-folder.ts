// Folders for what is needed for a moment. Owns what is said when the machine has no place for them; removing them is for who made them.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { BridgeError, messageOf } from '../errors.ts'

/** A new folder that only this user can read. @throws BridgeError CONFIG_INVALID when none can be made */
export async function makeTemporaryFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'sandbridge-')).catch((error: unknown) => {
    throw noTemporaryFiles(error)
  })
}

export function noTemporaryFiles(error: unknown): BridgeError {
  return new BridgeError('CONFIG_INVALID', `${tmpdir()} is not writable: ${messageOf(error)}`, {
    hint: 'Set TMPDIR to a writable folder.',
    cause: error,
  })
}
