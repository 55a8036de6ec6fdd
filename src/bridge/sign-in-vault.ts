// What seals sign-ins to remote servers before they are kept.
import type { Settings } from '../config/settings.ts'
import type { Log } from '../log.ts'
import { systemKeychain } from '../upstream/auth/keychain.ts'
import { createVault, type Vault, WITHOUT_KEY } from '../upstream/auth/vault.ts'

type KeySettings = Pick<Settings, 'signInKey' | 'keychain' | 'storage'>

/** Undefined where no key is given, no keychain is there or wanted, and only this machine has the file. */
export function signInVault({ signInKey, keychain: wanted, storage }: KeySettings, log: Log): Vault | undefined {
  const given = signInKey && { get: () => Promise.resolve(signInKey), set: () => Promise.resolve() }
  if (given) return createVault(given, log)
  // A key of this machine's keychain would open nothing on another, and a database is read by more than its owner.
  if (storage !== undefined) return WITHOUT_KEY
  const keychain = wanted === 'auto' ? systemKeychain({ platform: process.platform, env: process.env }) : undefined
  return keychain && createVault(keychain, log)
}
