// A lock between processes: a file that only one of them can create. It names its owner, so that no process removes another's lock.
// The owner refreshes its modification time. A lock is stale if its time is old or its process has ended.
import { randomUUID } from 'node:crypto'
import { hostId, isRunning } from '../process/process-id.ts'
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Interval between attempts, and the age at which a lock is stale. */
const RETRY_MS = 25
const STALE_MS = 60_000
const REFRESH_MS = 15_000

/** Runs work while holding the lock. @throws what the work throws, or what node:fs throws if the file cannot be created */
export async function withFileLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  let release = await tryFileLock(lock)
  while (!release) {
    await sleep(RETRY_MS)
    release = await tryFileLock(lock)
  }
  try {
    return await work()
  } finally {
    await release()
  }
}

/** Takes the lock unless another process has it. @returns a function that releases it @throws what node:fs throws if the file cannot be created */
export async function tryFileLock(lock: string): Promise<(() => Promise<void>) | undefined> {
  const owner = `${hostId()} ${process.pid} ${randomUUID()}`
  await mkdir(dirname(lock), { recursive: true, mode: 0o700 })
  while (!(await take(lock, owner))) {
    const left = await staleOwner(lock)
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
  try {
    await writeFile(lock, owner, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Returns the owner of a stale lock; undefined if the lock is in use or gone. */
async function staleOwner(lock: string): Promise<string | undefined> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([readFile(lock, 'utf8'), stat(lock)])
    const [host, pid] = owner.split(' ')
    if (host === hostId() && !isRunning(Number(pid))) return owner
    // A time in the future means that the clock was set back.
    return Math.abs(Date.now() - mtimeMs) > STALE_MS ? owner : undefined
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
    await rename(lock, aside)
  } catch {
    return
  }
  if ((await ownerOf(aside)) !== owner) await link(aside, lock).catch(() => {})
  await rm(aside, { force: true })
}

async function ownerOf(lock: string): Promise<string | undefined> {
  return readFile(lock, 'utf8').catch(() => undefined)
}
