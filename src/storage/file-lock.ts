// Excludes other processes by a file that only one of them can create. The file names who made it, so that no process removes the lock of another.
// The holder keeps its modification time fresh; a lock with an old time, or of a process that has ended, was left behind.
import { randomUUID } from 'node:crypto'
import { hostId, isRunning } from '../process/process-id.ts'
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** How often a taken lock is tried again, and when its owner is taken for dead. */
const RETRY_MS = 25
const STALE_MS = 60_000
const REFRESH_MS = 15_000

/** Runs work while this process holds the lock. @throws what the work throws, or what node:fs does when the file cannot be made */
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

/** Takes the lock unless another process has it. @returns what gives it back @throws what node:fs throws when the file cannot be made */
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

/** Who left it behind; undefined when it is in use, or gone. */
async function staleOwner(lock: string): Promise<string | undefined> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([readFile(lock, 'utf8'), stat(lock)])
    const [host, pid] = owner.split(' ')
    if (host === hostId() && !isRunning(Number(pid))) return owner
    // One from the future was made before the clock was set back.
    return Math.abs(Date.now() - mtimeMs) > STALE_MS ? owner : undefined
  } catch {
    return undefined
  }
}

async function touchIfOf(lock: string, owner: string): Promise<void> {
  const now = new Date()
  if ((await ownerOf(lock)) === owner) await utimes(lock, now, now).catch(() => {})
}

/** Moved aside before it is looked at: in between, another process may have removed it, and taken it anew. */
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
