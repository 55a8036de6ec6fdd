// Creates temporary folders, with a clear error if the machine has no place for them. Callers remove them.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { BridgeError, messageOf } from '../../errors.ts'

/** Creates a folder that only this user can read. @throws BridgeError CONFIG_INVALID if that fails */
export async function makeTemporaryFolder(parent = tmpdir()): Promise<string> {
  return mkdtemp(path.join(parent, 'sandbridge-')).catch((error: unknown) => {
    throw noTemporaryFiles(error)
  })
}

export function noTemporaryFiles(error: unknown): BridgeError {
  return new BridgeError('CONFIG_INVALID', `${tmpdir()} is not writable: ${messageOf(error)}`, {
    hint: 'Set TMPDIR to a writable folder.',
    cause: error,
  })
}
