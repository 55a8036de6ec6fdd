// The store of the bridge's owner, for commands that need no bridge.
import { loadSettings } from '../../config/settings/file/load-settings.ts'
import type { Settings } from '../../config/settings/settings.ts'
import { openStores } from '../../keep/open-stores.ts'
import type { Store } from '../../keep/store.ts'

/**
 * @throws BridgeError CONFIG_INVALID naming every invalid variable, STATE_UNWRITABLE when the database cannot be used
 */
export async function ownStore(settings?: Settings): Promise<Store> {
  return (await openStores(settings ?? (await loadSettings()))).of(undefined)
}
