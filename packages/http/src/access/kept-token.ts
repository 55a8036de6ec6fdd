// The token that clients must send. Unless one is set, it is created once in a file that only its owner can read: other
// users of the machine can reach the port too, and a client with the token runs code with the owner's servers.
import { randomBytes } from 'node:crypto'
import { link, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { readOrdinary } from '@sandbridge/core/util/files'

export function tokenFile(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'http-token')
}

/**
 * Returns the token in the file; creates a missing file.
 * @throws BridgeError CONFIG_INVALID when others can read the file or it holds no token
 */
export async function keptToken(file: string): Promise<string> {
  const kept = (await read(file)) ?? (await make(file))
  if (/^[\x21-\x7e]{16,}$/.test(kept)) return kept
  throw new BridgeError('CONFIG_INVALID', `The file ${file} has no token`, {
    hint: 'Delete it. The bridge creates a new one.',
  })
}

async function read(file: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(file)
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new BridgeError('CONFIG_INVALID', `Other users of this machine can read ${file}`, {
        hint: 'Delete it: they may know the token. The bridge creates a new one.',
      })
    }
    return String(await readOrdinary(file)).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (BridgeError.isInstance(error)) throw error
    throw new BridgeError('CONFIG_INVALID', `The token cannot be read: ${file}`, { cause: error })
  }
}

async function make(file: string): Promise<string> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    await writeFile(temporary, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
    // Atomic. Another bridge that starts at the same time may have created the file first.
    await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } catch (error) {
    throw new BridgeError('STATE_UNWRITABLE', `The token cannot be saved in ${file}`, { cause: error })
  } finally {
    await rm(temporary, { force: true })
  }
  return (await read(file)) ?? ''
}
