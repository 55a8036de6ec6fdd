// Finds a field of an entry that was meant to restrict its server and restricts nothing, because it is misspelt. Pure.
import { nearestName } from '../../util/text/did-you-mean.ts'
import type { ServerEntry } from './server-entry.ts'

const RESTRICTING: readonly (keyof ServerEntry)[] = [
  'permissions',
  'includeTools',
  'excludeTools',
  'sandbox',
  'sandboxEnabled',
  'disabled',
  'enabled',
  'shared',
]

/**
 * The reason to skip an entry of the bridge's own files: an ignored restriction would leave everything allowed. Other
 * unknown fields are ignored, and so is a name such as `_disabled`, with which people comment a field out.
 */
export function whyUnrestricted(entry: ServerEntry): string | undefined {
  if (entry.shared != null && typeof entry.shared !== 'boolean')
    return 'has a field shared that is neither true nor false'
  for (const name of Object.keys(entry)) {
    if (!/^[a-z]\w*$/i.test(name) || RESTRICTING.some((known) => known === name)) continue
    const meant = nearestName(name, RESTRICTING)
    if (meant !== undefined) return `has a field ${name} that is not known: did you mean ${meant}?`
  }
  return undefined
}
