// Process ids: whether a process is running, and on which machine, for which user and in which PID namespace its id is valid.
import { createHash } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'

/** Where process ids mean the same as here: machine, user, and PID namespace (a bridge may itself run in a container). */
export function hostId(): string {
  let namespace = ''
  try {
    namespace = readlinkSync('/proc/self/ns/pid')
  } catch {
    // not Linux
  }
  return createHash('sha256').update(`${hostname()} ${userId()} ${namespace}`).digest('hex').slice(0, 16)
}

/** A number, where users have one: in a container or on a build machine, this one may have no name. */
function userId(): string {
  const uid = process.getuid?.()
  if (uid !== undefined) return String(uid)
  try {
    return userInfo().username
  } catch {
    return ''
  }
}

/** True also for a process of another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
