// Process ids: whether a process runs, and the scope (machine, user, PID namespace) in which its id is valid.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import { orUndefined } from '../or-undefined.ts'

/** Of processes outside of containers. */
const FIRST_NAMESPACE = 'pid:[4026531836]'

let machine: string | undefined

/** Identifies the scope of process ids: machine, user and PID namespace (a bridge may itself run in a container). */
export function hostId(): string {
  // Loaded only here: a relay has no other use for it.
  return process.getBuiltinModule('node:crypto').hash('sha256', hostScope()).slice(0, 16)
}

/** The same in full. */
export function hostScope(): string {
  // None where this is not Linux.
  const namespace = orUndefined(() => readlinkSync('/proc/self/ns/pid')) ?? ''
  machine ??= machineName(namespace)
  return `${machine} ${userId()} ${namespace}`
}

/** What stays the same when a network gives the machine another name. Windows has one name in every network. */
export function machineName(namespace: string, platform = process.platform): string {
  return (platform === 'darwin' ? platformUuid() : machineId(namespace)) ?? hostname()
}

/** Of Linux, outside of containers: images have one, too. */
function machineId(namespace: string): string | undefined {
  return (namespace === FIRST_NAMESPACE && textOf('/etc/machine-id')) || undefined
}

/** Of a Mac's hardware. */
function platformUuid(): string | undefined {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const { stdout } = spawnSync('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'], { encoding: 'utf8' })
  return /"IOPlatformUUID" = "([^"]+)"/.exec(stdout ?? '')?.[1]
}

/** The numeric uid where there is one: in a container or on a build machine, the user may have no name. */
function userId(): string {
  const uid = process.getuid?.()
  return uid === undefined ? (orUndefined(() => userInfo().username) ?? '') : String(uid)
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
  // Field 22. Field 2, the name, is in parentheses and may contain anything.
  return textOf(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ')[19]
}

/** Tells this boot of the machine from others; undefined without /proc. */
export function bootId(): string | undefined {
  return textOf('/proc/sys/kernel/random/boot_id')
}

const textOf = (file: string): string | undefined => orUndefined(() => readFileSync(file, 'utf8').trim())

/** A process in a record that outlives it. */
export interface RecordedProcess {
  host: string
  pid: number
  /** Boot and start. Missing without /proc. */
  started?: string | undefined
}

let own: RecordedProcess | undefined

/** This process, for a record. */
export function thisProcess(): RecordedProcess {
  return (own ??= { host: hostId(), pid: process.pid, started: startOf(process.pid) })
}

/** Whether a recorded process still runs, not another with its id. @returns undefined if that cannot be known */
export function stillRuns({ host, pid, started }: RecordedProcess): boolean | undefined {
  if (host !== hostId()) return undefined
  if (!isRunning(pid)) return false
  const now = startOf(pid)
  return started === undefined || now === undefined ? undefined : started === now
}

function startOf(pid: number): string | undefined {
  const [boot, ticks] = [bootId(), startTime(pid)]
  return boot === undefined || ticks === undefined ? undefined : `${boot} ${ticks}`
}
