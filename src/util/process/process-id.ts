// Process ids: whether a process runs, and the scope (machine, user, PID namespace) in which its id is valid.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'

/** Identifies the scope of process ids: machine, user and PID namespace (a bridge may itself run in a container). */
export function hostId(): string {
  // Loaded only here: a relay has no other use for it.
  return process.getBuiltinModule('node:crypto').hash('sha256', hostScope()).slice(0, 16)
}

/** The same in full. */
export function hostScope(): string {
  let namespace = ''
  try {
    namespace = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Not Linux.
  }
  return `${hostname()} ${userId()} ${namespace}`
}

/** The numeric uid where there is one: in a container or on a build machine, the user may have no name. */
function userId(): string {
  const uid = process.getuid?.()
  if (uid !== undefined) return String(uid)
  try {
    return userInfo().username
  } catch {
    return ''
  }
}

/** Also true for another user's process. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

/** Start of a process in clock ticks since boot; undefined without /proc. */
export function startTime(pid: number): string | undefined {
  try {
    // Field 22. Field 2, the name, is in parentheses and may contain anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19]
  } catch {
    return undefined
  }
}
