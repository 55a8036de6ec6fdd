// What the bridges of several machines know of servers, where they share what they keep.
import { catalogFolder, SharedCatalog } from '../catalog/shared-catalog.ts'
import type { ServerDefinition } from '../config/server-definition.ts'
import type { Log } from '../log.ts'
import type { Stores } from '../state/open-stores.ts'

/** @param user whose servers they are; missing means that all users share them @returns undefined where nothing is shared */
export async function openSharedCatalog(
  stores: Stores,
  user: string | undefined,
  definitions: readonly ServerDefinition[],
  cacheDir: string,
  log: Log,
): Promise<SharedCatalog | undefined> {
  if (!stores.isShared) return undefined
  const shared = new SharedCatalog(stores.of(user), log)
  await shared.pull(definitions, catalogFolder(cacheDir))
  return shared
}
