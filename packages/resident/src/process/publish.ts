// How a resident gets its name: it listens in its own folder, and renames that. Of several, one succeeds.
import fs from 'node:fs'
import type { Server, Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOrdinaryText } from '@sandbridge/core/util/files'
import { listen } from '@sandbridge/core/util/net'
import { hostScope } from '@sandbridge/core/util/process'
import { dial } from '../reach/connection.ts'
import {
  displace,
  holderOf,
  ownPlace,
  pidLink,
  residentHomes,
  type ResidentPlace,
  socketIn,
  unpublishedHomes,
} from '../reach/run-folder.ts'

const ATTEMPTS = 50
/** A link that leads nowhere: it can be made on a full disk, too. Its text says which machine the resident is on. */
const HOST = 'host'
/** A user of Windows may make no links. */
const IS_WINDOWS = process.platform === 'win32'
/** Whoever reads a file of a folder keeps Windows from renaming it. */
const RETRY_MS = 20
/** A pipe may be another user's, who says nothing. */
const ACCEPT_MS = 2_000

/**
 * @param admit gets each client's socket
 * @param onDisplaced gets the folder of an earlier resident that has ended without removing it
 * @returns what identifies the published resident; undefined when another one has the name
 * @throws what node:fs and node:net throw
 */
export async function publish(
  server: Server,
  place: ResidentPlace,
  name: string,
  { admit, onDisplaced }: { admit: (socket: Socket) => void; onDisplaced: (folder: string) => void },
): Promise<bigint | undefined> {
  const own = ownPlace(place, name)
  fs.rmSync(own.home, { recursive: true, force: true })
  fs.mkdirSync(own.home, { mode: 0o700 })
  const host = path.join(own.home, HOST)
  if (IS_WINDOWS) fs.writeFileSync(host, hostScope())
  else {
    fs.symlinkSync(hostScope(), host)
    fs.symlinkSync(String(process.pid), pidLink(own.home))
  }
  await listenTo(server, own.socket, admit)
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (rename(own.home, place.home)) {
      fs.rmSync(place.starting, { recursive: true, force: true })
      return holderOf(place.home)
    }
    const holder = holderOf(place.home)
    if (holder === undefined) {
      await sleep(RETRY_MS)
      continue
    }
    // Whoever hangs there is displaced by the relays that wait for it.
    if (await accepts(place.socket)) break
    displace(place.home, holder, onDisplaced)
  }
  fs.rmSync(own.home, { recursive: true, force: true })
  fs.rmSync(place.starting, { recursive: true, force: true })
  return undefined
}

/** A start takes less long. Younger folders may be of one that does not listen yet. */
const STARTED_MS = 60_000

/**
 * Removes the folders of residents that were killed, also while they started: no client with the same settings may ever
 * come. Whoever lives listens there; a process id says less, because another process may have it by now. On another
 * machine that has the same home folder, whoever lives cannot be heard from here.
 * @param keep gets each before it is removed
 */
export async function removeKilled({ folder }: ResidentPlace, keep: (home: string) => void): Promise<void> {
  for (const name of unpublishedHomes(folder)) {
    const home = path.join(folder, name)
    if (!isOfThisHost(home)) continue
    const { mtimeMs = Infinity } = fs.statSync(home, { throwIfNoEntry: false }) ?? {}
    if (Date.now() - mtimeMs < STARTED_MS || (await accepts(socketIn(home)))) continue
    keep(home)
    fs.rmSync(home, { recursive: true, force: true })
  }
  for (const name of residentHomes(folder)) {
    const home = path.join(folder, name)
    if (!isOfThisHost(home)) continue
    const holder = holderOf(home)
    if (holder !== undefined && !(await accepts(socketIn(home)))) displace(home, holder, keep)
  }
}

function isOfThisHost(home: string): boolean {
  try {
    const host = path.join(home, HOST)
    return (IS_WINDOWS ? readOrdinaryText(host) : fs.readlinkSync(host)) === hostScope()
  } catch {
    return false
  }
}

function rename(from: string, to: string): boolean {
  try {
    fs.renameSync(from, to)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // The last of them: no folder has the name.
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') return false
    if (IS_WINDOWS && (code === 'EPERM' || code === 'EACCES')) return false
    throw error
  }
}

/** Whether somebody listens there. */
function accepts(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(socketPath, () => {
      resolve(true)
      socket.destroy()
    })
    const late = setTimeout(() => socket.destroy(), ACCEPT_MS)
    socket.once('error', () => {})
    socket.once('close', () => {
      clearTimeout(late)
      resolve(false)
    })
  })
}

/** @param admit gets each client's socket. @throws what node:fs and node:net throw */
async function listenTo(server: Server, socketPath: string, admit: (socket: Socket) => void): Promise<void> {
  let address = socketPath
  if (process.platform === 'win32') address = (await import('../reach/pipe.ts')).makePipe(server, socketPath, admit)
  else server.on('connection', admit)
  await listen(server, { path: address })
}
