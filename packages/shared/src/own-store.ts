// The store of the bridge's owner, for commands that need no bridge.
import { loadSettings, type Settings } from '@sandbridge/core/config/settings'
import { openStores } from '@sandbridge/core/util/stores/open-stores.ts'
import type { Store } from '@sandbridge/core/util/stores'

/**
 * @throws BridgeError CONFIG_INVALID naming every invalid variable, STATE_UNWRITABLE when the database cannot be used
 */
export async function ownStore(settings?: Settings): Promise<Store> {
  return (await openStores(settings ?? (await loadSettings()))).of(undefined)
}
