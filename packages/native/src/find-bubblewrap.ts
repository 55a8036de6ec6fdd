// Finds bubblewrap on this machine, and how to run it as a user that is not root.
import { arch } from 'node:os'
import { findPrograms } from '@sandbridge/core/util/process'
import { isRealRoot, NOBODY } from '@sandbridge/core/isolation'

export interface BubblewrapPrograms {
  bwrap: string
  /** The command that becomes an unprivileged user, up to its options; empty when this process is one. */
  become: string[]
}

/** Every bubblewrap, in the order of PATH: the first may be old, or unknown to AppArmor. A sentence without any. */
export function findBubblewrapPrograms(): BubblewrapPrograms[] | string {
  if (process.platform !== 'linux') return 'bubblewrap runs on Linux only'
  if (arch() !== 'x64' && arch() !== 'arm64')
    return `bubblewrap is not supported on ${arch()}: it has no system call filter`
  const programs = findPrograms('bwrap')
  if (programs.length === 0) return 'bubblewrap is not installed'
  if (!isRealRoot()) return programs.map((bwrap) => ({ bwrap, become: [] }))
  // Inside a user namespace created by root, "nobody" is still root for this machine's files.
  const [setpriv] = findPrograms('setpriv')
  if (setpriv === undefined)
    return 'bubblewrap must not run as root, and setpriv, which changes the user, is not installed'
  const become = [setpriv, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs']
  return programs.map((bwrap) => ({ bwrap, become }))
}
