// Seals the token file (AES-256-GCM) with a key of the keychain, where tokens would not fit: 4 KiB in `security`.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { processContext, type Settings } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Vault } from '@sandbridge/core/upstream/auth'
import type { Log } from '@sandbridge/core/util'
import { type Keychain, NoKeychainError, systemKeychain } from './keychain.ts'

/** How long to wait after the keychain failed. */
const RETRY_MS = 60_000
const KEY = /^[0-9a-f]{64}$/
const IV_BYTES = 12
const TAG_BYTES = 16

/** As the settings say. For files of this machine, without encryption where the keychain cannot be used. */
export function openVault({ signInKey: key, storage }: Pick<Settings, 'signInKey' | 'storage'>, log: Log): Vault {
  if (key !== 'keychain' && key !== 'none')
    return createVault({ get: () => Promise.resolve(key), set: () => Promise.resolve() }, log)
  // A key in this machine's keychain is unusable on other machines, and a database has more readers than its owner.
  if (storage !== undefined) return WITHOUT_KEY
  return createVault(systemKeychain({ platform: process.platform, env: processContext().env }), log)
}

export function createVault(keychain: Keychain, log: Log, now: () => number = () => performance.now()): Vault {
  let known: Buffer | undefined
  let failedAt = -Infinity
  let isWarned = false

  const key = async (create: boolean): Promise<Buffer | undefined> => {
    if (known || now() - failedAt < RETRY_MS) return known
    try {
      const text = (await keychain.get()) ?? (create ? await newKey(keychain) : undefined)
      if (text === undefined) return undefined
      if (!KEY.test(text)) throw new Error('it holds another value under our name')
      known = Buffer.from(text, 'hex')
      return known
    } catch (error) {
      failedAt = now()
      if (error instanceof NoKeychainError) log.debug('No system keychain', { reason: error.message })
      else if (!isWarned) {
        isWarned = true
        const reason = (error as Error).message
        log.warning(
          'The system keychain cannot be used: sign-ins are stored unencrypted in a file that only you can read',
          {
            reason,
          },
        )
      }
      return undefined
    }
  }

  return {
    seal: async (text, place) => {
      const secret = await key(true)
      if (!secret) return undefined
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', secret, iv).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
    },
    open: async (sealed, place) => {
      const secret = await key(false)
      const bytes = Buffer.from(sealed, 'base64')
      if (!secret || bytes.length < IV_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv('aes-256-gcm', secret, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

/** For sign-ins in PostgreSQL without MCP_BRIDGE_SIGN_IN_KEY: refuses to seal, so that none is stored in plain text. */
const WITHOUT_KEY: Vault = {
  seal: () =>
    Promise.reject(
      new BridgeError('CONFIG_INVALID', 'Sign-ins cannot be stored in PostgreSQL without MCP_BRIDGE_SIGN_IN_KEY', {
        hint: 'Set it to one key for every bridge, such as one from `openssl rand -hex 32`.',
      }),
    ),
  open: () => Promise.resolve(undefined),
}

/** Reads the key back after writing: a keychain that loses it would cost all sign-ins. */
async function newKey(keychain: Keychain): Promise<string> {
  const text = randomBytes(32).toString('hex')
  await keychain.set(text)
  if ((await keychain.get()) !== text) throw new Error('it does not return what was stored')
  return text
}
