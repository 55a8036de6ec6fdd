// Chooses the vault that encrypts sign-ins to remote servers before they are stored.
import { processContext } from '../config/settings/client-context.ts'
import type { Settings } from '../config/settings/settings.ts'
import type { Log } from '../util/log.ts'
import { systemKeychain } from '../upstream/auth/keychain.ts'
import { createVault, type Vault, WITHOUT_KEY } from '../upstream/auth/vault.ts'

type KeySettings = Pick<Settings, 'signInKey' | 'keychain' | 'storage'>

/**
 * Returns undefined (no encryption) for files of this machine, when no key is set and the keychain is missing or turned
 * off.
 */
export function signInVault({ signInKey, keychain: wanted, storage }: KeySettings, log: Log): Vault | undefined {
  const given = signInKey && { get: () => Promise.resolve(signInKey), set: () => Promise.resolve() }
  if (given) return createVault(given, log)
  // A key in this machine's keychain is unusable on other machines, and a database has more readers than its owner.
  if (storage !== undefined) return WITHOUT_KEY
  const keychain =
    wanted === 'auto' ? systemKeychain({ platform: process.platform, env: processContext().env }) : undefined
  return keychain && createVault(keychain, log)
}
