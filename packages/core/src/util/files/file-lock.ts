// A lock between processes: a file that names its owner, who refreshes its time. It is stale if its time is old, its
// process has ended, or it names no owner. After sleep all times are old: a living owner gets time to refresh its own.
import { randomUUID } from 'node:crypto'
import { hostId, stillRuns, thisProcess } from '../process/process-id.ts'
import { type FileHandle, link, lstat, mkdir, open, rm, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOrdinary } from './read-ordinary.ts'
import { renameFile } from './replace-file.ts'

/** Interval between attempts, and the age at which a lock is stale. */
const RETRY_MS = 25
const STALE_MS = 60_000
const REFRESH_MS = 15_000
/** How often a lock of a living process is looked at before it is stale: for longer than a refresh takes. */
const LOOKS = (2 * REFRESH_MS) / RETRY_MS
/** Its owner writes its name right after it has created the file. */
const NAMELESS_STALE_MS = 500

/**
 * Runs work while holding the lock.
 * @param patienceMs how long to wait for another owner
 * @param looks replaced in tests
 * @throws what the work throws, what node:fs throws if the file cannot be created, or an Error after `patienceMs`
 */
export async function withFileLock<T>(
  lock: string,
  work: () => Promise<T>,
  patienceMs = Infinity,
  looks = LOOKS,
): Promise<T> {
  const end = performance.now() + patienceMs
  let release = await tryFileLock(lock, looks)
  while (!release) {
    if (performance.now() > end) throw new Error(`another process has held ${lock} for ${patienceMs / 1_000} s`)
    await sleep(RETRY_MS)
    release = await tryFileLock(lock, looks)
  }
  try {
    return await work()
  } finally {
    await release()
  }
}

/**
 * Takes the lock unless another process has it.
 * @returns a function that releases it
 * @throws what node:fs throws if the file cannot be created
 */
async function tryFileLock(lock: string, looks: number): Promise<(() => Promise<void>) | undefined> {
  const { host, pid, started = '' } = thisProcess()
  const owner = `${host} ${pid} ${randomUUID()} ${started}`
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
  while (!(await take(lock, owner))) {
    const left = await staleOwner(lock, looks)
    if (left === undefined) return undefined
    await removeIfOf(lock, left)
  }
  const refresh = setInterval(() => void touchIfOf(lock, owner), REFRESH_MS).unref()
  return async () => {
    clearInterval(refresh)
    await removeIfOf(lock, owner)
  }
}

async function take(lock: string, owner: string): Promise<boolean> {
  let file: FileHandle
  try {
    file = await open(lock, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  try {
    await file.writeFile(owner)
    return true
  } catch (error) {
    // A full disk takes the file and not its content.
    await rm(lock, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Locks of living processes whose time is old, by their files. */
const old = new Map<string, { state: string; looks: number; at: number }>()

/** How often a lock was in this state. What several that wait see at one time counts once. */
function looksAt(lock: string, state: string): number {
  const last = old.get(lock)
  const at = performance.now()
  if (last?.state === state && at - last.at < RETRY_MS) return last.looks
  const looks = last?.state === state ? last.looks + 1 : 1
  old.set(lock, { state, looks, at })
  return looks
}

/** Returns the owner of a stale lock; undefined if the lock is in use or gone. */
async function staleOwner(lock: string, looks: number): Promise<string | undefined> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([ownerOf(lock), lstat(lock)])
    if (owner === undefined) return undefined
    if (owner === '') return Math.abs(Date.now() - mtimeMs) > NAMELESS_STALE_MS ? owner : undefined
    const [host = '', pid, , ...started] = owner.split(' ')
    const isOfThisHost = host === hostId()
    if (stillRuns({ host, pid: Number(pid), started: started.join(' ') || undefined }) === false) return owner
    // A time in the future means that the clock was set back.
    if (Math.abs(Date.now() - mtimeMs) <= STALE_MS) return undefined
    return isOfThisHost && looksAt(lock, `${owner} ${mtimeMs}`) < looks ? undefined : owner
  } catch {
    return undefined
  }
}

async function touchIfOf(lock: string, owner: string): Promise<void> {
  const now = new Date()
  if ((await ownerOf(lock)) === owner) await utimes(lock, now, now).catch(() => {})
}

/** Renames the lock before a second check: meanwhile another process may have removed it and taken a new one. */
async function removeIfOf(lock: string, owner: string): Promise<void> {
  if ((await ownerOf(lock)) !== owner) return
  const aside = `${lock}.${randomUUID()}`
  try {
    await renameFile(lock, aside)
  } catch {
    return
  }
  if ((await ownerOf(aside)) !== owner) await link(aside, lock).catch(() => {})
  await rm(aside, { force: true, recursive: true })
}

/** Undefined if it is gone; empty for what is no file. The lock of another user is told from others by its number. */
async function ownerOf(lock: string): Promise<string | undefined> {
  return readOrdinary(lock).then(String, async () => {
    const found = await lstat(lock).catch(() => undefined)
    return found?.isFile() ? `file ${found.ino}` : found && ''
  })
}
