// What a jailed server must not change or create in the folders that it may write to: what other programs run or obey,
// and `denyWrite`. A mount guards a place, and a mount needs something to lie on. So a missing place is made: as an
// empty folder, which git does not see and which `rmdir` removes only while nobody has put anything into it. It holds a
// marker for each jail that needs it.
import { randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, realpath, rename, rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import type { ServerSandbox } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { hostId, isRunning } from '@sandbridge/core/util/process'
import { OBEYED_IF_THERE, OBEYED_IN_GIT, OBEYED_PLACES } from './private-places.ts'

type Lists = Pick<NonNullable<ServerSandbox['filesystem']>, 'allowWrite' | 'denyWrite'>

const MARKER = 'sandbridge-jail-'
const MAX_ATTEMPTS = 20

/** The places that are guarded where they exist. */
export function guardedPlaces({ allowWrite = [], denyWrite = [] }: Lists): string[] {
  const obeyed = allowWrite.flatMap((folder) => {
    const { always, ifThere } = obeyedIn(folder, allowWrite)
    return [...always, ...ifThere].map((place) => path.join(folder, place))
  })
  return [...denyWrite, ...obeyed]
}

/** What programs obey in a writable folder. A place that `allowWrite` names itself is left to the server. */
function obeyedIn(folder: string, allowWrite: readonly string[]): { always: string[]; ifThere: string[] } {
  const isRepository = path.basename(folder) === '.git'
  const notNamed = (place: string): boolean => !allowWrite.includes(path.join(folder, place))
  return {
    always: isRepository ? [] : OBEYED_PLACES.filter(notNamed),
    ifThere: (isRepository ? OBEYED_IN_GIT : OBEYED_IF_THERE).filter(notNamed),
  }
}

/** Folders that were made, so that what is missing is guarded, too. */
export interface MadePlaces {
  /** What is to be removed, inner folders first; each only if it is empty. */
  readonly folders: readonly string[]
  /** Removes it. Never rejects. */
  remove(): Promise<void>
}

/**
 * @throws BridgeError CONFIG_INVALID for a place that is a symbolic link, which no mount guards; what node:fs throws on
 * a full disk
 */
export async function makeGuardedPlaces({ allowWrite = [] }: Lists): Promise<MadePlaces> {
  const folders: string[] = []
  const remove = async (): Promise<void> => {
    // Another jail, or the user, may have put something into it.
    for (const folder of folders) await rmdir(folder).catch(() => {})
  }
  try {
    for (const writable of allowWrite) {
      const real = await realpath(writable).catch(() => undefined)
      if (real === undefined) continue
      const { always, ifThere } = obeyedIn(writable, allowWrite)
      for (const place of ifThere) await isThere(path.join(real, place))
      for (const place of always) folders.unshift(...(await makePlace(real, place)))
    }
  } catch (error) {
    await remove()
    throw error
  }
  return { folders, remove }
}

/** @returns what it made, inner folders first */
async function makePlace(writable: string, place: string): Promise<string[]> {
  const made: string[] = []
  let parent = writable
  for (const name of place.split('/')) {
    const own = await joinPlace(path.join(parent, name))
    if (own === undefined) break
    made.unshift(...own)
    parent = path.join(parent, name)
  }
  return made
}

/**
 * Creates a folder, or joins the jails that need one that was created.
 * @returns what to remove; undefined when nothing can be created there
 */
async function joinPlace(folder: string): Promise<string[] | undefined> {
  const unique = randomBytes(4).toString('hex')
  const marker = `${MARKER}${hostId()}-${process.pid}-${unique}`
  const fresh = path.join(path.dirname(folder), `.sandbridge-${unique}`)
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (await isThere(folder)) return await joinExisting(folder, marker)
      await mkdir(path.join(fresh, marker), { recursive: true })
      // A rename puts the folder there together with its marker: no other bridge takes it for the user's own.
      await rename(fresh, folder)
      return [path.join(folder, marker), folder]
    } catch (error) {
      await rm(fresh, { recursive: true, force: true }).catch(() => {})
      const { code = '' } = error as NodeJS.ErrnoException
      // What this user cannot create, a jailed server cannot create either; or the writable place is a file.
      if (['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(code)) return undefined
      // Meanwhile another bridge has removed the folder, or created it.
      if (attempt < MAX_ATTEMPTS && ['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(code)) continue
      throw error
    }
  }
}

/** A folder without a marker is the user's: it stays. */
async function joinExisting(folder: string, marker: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOTDIR') return []
    throw error
  })
  const markers = names.filter((name) => name.startsWith(MARKER))
  if (markers.length === 0) return []
  await mkdir(path.join(folder, marker))
  // Those of bridges that were killed.
  for (const other of markers) if (isStale(other)) await rmdir(path.join(folder, other)).catch(() => {})
  return [path.join(folder, marker), folder]
}

function isStale(marker: string): boolean {
  const [host, pid] = marker.slice(MARKER.length).split('-')
  return host === hostId() && !isRunning(Number(pid))
}

/** @throws BridgeError CONFIG_INVALID for a symbolic link: a server could replace it, and no mount prevents that */
async function isThere(place: string): Promise<boolean> {
  const found = await lstat(place).catch((error: NodeJS.ErrnoException) => {
    // The writable place may be a file.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  })
  if (!found?.isSymbolicLink()) return found !== undefined
  const message = `The sandbox of this server cannot protect ${place}: it is a symbolic link.`
  throw new BridgeError('CONFIG_INVALID', message, {
    hint: 'Put what it leads to in its place. To leave it unprotected, name it in allowWrite.',
  })
}
