// The folder where residents are found, and the names in it. A resident listens on NAME.d/s. Who has that folder is the
// resident: renaming onto a folder that is not empty fails, so that one of several starters wins, and nothing is left
// to go stale but a socket on which nobody listens.
import fs from 'node:fs'
import path from 'node:path'
import { isOnlyOurs, isOwnFolderSync, makePrivateFolder } from '@sandbridge/core/util/files'
import { fitsSocketAddress, shortFolder } from '@sandbridge/core/util/net'

const SOCKET = 's'
/** In the state folder. */
const OURS = '.sandbridge'

export interface ResidentPlace {
  /** This user's alone. */
  folder: string
  /** The folder that the resident of this name has. */
  home: string
  socket: string
  log: string
  /** Made by the relay that starts a resident. */
  starting: string
  /** Made by a resident that stays without clients, for the one that replaces it. */
  kept: string
}

/** Where the resident of this name is; its path may be too long for a socket in the state folder. */
export function runFolder(stateDir: string, name: string): string {
  const own = path.join(stateDir, OURS, 'run')
  // The longest name in it is that of a resident that is not published yet.
  const fits = process.platform === 'win32' || fitsSocketAddress(path.join(own, `${name}.4194304`, SOCKET))
  return fits ? own : shortFolder()
}

/** Makes nothing. Whether the folder is the user's alone is for `makeRunFolder` or `isOnlyOurs` to say. */
export function residentPlace(stateDir: string, name: string): ResidentPlace {
  const folder = runFolder(stateDir, name)
  const home = path.join(folder, `${name}.d`)
  return {
    folder,
    home,
    socket: socketIn(home),
    log: path.join(folder, `${name}.log`),
    starting: path.join(folder, `${name}.start`),
    kept: path.join(folder, `${name}.kept`),
  }
}

/** @throws Error when no private folder can be had, and what node:fs throws */
export function makeRunFolder(place: ResidentPlace): void {
  const { folder } = place
  if (!isOwnFolderSync(folder)) {
    // The state folder's part that is ours may not be there yet.
    if (path.basename(path.dirname(folder)) === OURS) makePrivateFolder(path.dirname(folder))
    makePrivateFolder(folder)
  }
  // Any user can create folders in the temporary folder.
  if (!isOnlyOurs(folder)) throw new Error(`other users can write to ${folder}, or it is not a folder of yours`)
  if (isKeptOut(place)) throw new Error(`this process may not write to ${folder}`)
}

/**
 * Whether the system keeps this process from writing to the user's own folder. One that it confines to other folders,
 * such as with Seatbelt on macOS, would leave its walls through a resident that runs outside of them.
 */
export function isKeptOut({ folder, log }: Pick<ResidentPlace, 'folder' | 'log'>): boolean {
  // Takes a tenth of the time: a resident leaves a log. Never waits for a reader, nor follows a link, maybe open.
  const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = fs.constants
  const ofLog = fs.existsSync(log)
    ? isForbidden(() => fs.closeSync(fs.openSync(log, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)))
    : undefined
  // Something else is in its place, such as a folder.
  return ofLog ?? isForbidden(() => fs.rmdirSync(fs.mkdtempSync(path.join(folder, 'try.')))) ?? false
}

/** Whether the system forbids this; undefined when it says something else. */
function isForbidden(attempt: () => void): boolean | undefined {
  try {
    attempt()
    return false
  } catch (error) {
    return ['EPERM', 'EACCES', 'EROFS'].includes(String((error as NodeJS.ErrnoException).code)) || undefined
  }
}

/** The names of folders of residents, also of those that were killed. */
export function residentHomes(folder: string): string[] {
  return fs.readdirSync(folder).filter((name) => name.endsWith('.d'))
}

/** The names of folders as `ownPlace` and `displace` make them. */
export function unpublishedHomes(folder: string): string[] {
  return fs.readdirSync(folder).filter((name) => /^[0-9a-f]+(?:\.d)?\.\d+(?:\.\w+)?$/.test(name))
}

/** The process id of the resident that has this folder: a link that leads nowhere. Windows has none. */
export function pidLink(home: string): string {
  return path.join(home, 'pid')
}

export function socketIn(home: string): string {
  return path.join(home, SOCKET)
}

/** Identifies the resident that has this folder. */
export function holderOf(home: string): bigint | undefined {
  // On Windows it has more digits than a number.
  return fs.lstatSync(home, { throwIfNoEntry: false, bigint: true })?.ino
}

/** The folder of a resident before it is published, and its socket in it. */
export function ownPlace({ folder }: ResidentPlace, name: string): { home: string; socket: string } {
  const home = path.join(folder, `${name}.${process.pid}`)
  return { home, socket: socketIn(home) }
}

/**
 * Takes the name away from one holder, and from no other: it may have become another's meanwhile.
 * @param keep is called with the folder before it is removed
 * @returns whether that holder has lost it
 */
export function displace(home: string, holder: bigint, keep: (folder: string) => void = () => {}): boolean {
  const aside = `${home}.${process.pid}.${Date.now().toString(36)}`
  try {
    if (holderOf(home) !== holder) return false
    fs.renameSync(home, aside)
    if (holderOf(aside) !== holder) {
      fs.renameSync(aside, home)
      return false
    }
    keep(aside)
    fs.rmSync(aside, { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}
