// Whether this process is root, with other users to become.
import { readFileSync } from 'node:fs'
import { orUndefined } from '../../util/or-undefined.ts'

/** The user id of what root starts, and inside of sandboxes. */
export const NOBODY = '65534'

/**
 * False for the "root" of a user namespace that has no other user (`unshare -Ur`): outside, it is the user who made it,
 * and inside it can become nobody else. True if that user is root.
 */
export function isRealRoot(uidMap = '/proc/self/uid_map'): boolean {
  if (process.getuid?.() !== 0) return false
  // Lines of a first user inside, the same user outside, and how many follow it.
  return !/^\s*0\s+[1-9]\d*\s+1\s*$/.test(orUndefined(() => readFileSync(uidMap, 'utf8')) ?? '')
}
