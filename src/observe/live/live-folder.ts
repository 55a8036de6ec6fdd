// Lists this user's running bridges. Each has a file in the state folder with its process id and its socket, readable
// only by the user. A bridge that reads the folder deletes files whose process is gone.
import { lstat, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '../../errors.ts'
import { hostId, isRunning } from '../../util/process/process-id.ts'
import { fitsSocketAddress, shortFolder } from '../../util/net/unix-socket.ts'
import { isOwnFolder, makePrivateFolder } from '../../util/files/private-folder.ts'
import { readOrdinary } from '../../util/files/read-ordinary.ts'
import { replaceFile } from '../../util/files/replace-file.ts'

/** A running bridge that a program can attach to. */
export interface LiveBridge {
  /** Name of its entry. Two bridges in one process have two. */
  id: string
  pid: number
  host: string
  /** Path of a Unix domain socket, or of a named pipe on Windows. */
  socket: string
  startedAt: number
  version: string
  cwd: string
}

export function liveFolder(stateDir: string): string {
  return path.join(stateDir, '.sandbridge', 'live')
}

/**
 * Returns the socket address for a new bridge and creates its folder.
 * @throws BridgeError STATE_REFUSED if others can write to it, and what node:fs throws
 */
export async function socketPath(stateDir: string, name: string): Promise<string> {
  if (process.platform === 'win32') return `\\\\.\\pipe\\sandbridge-${name}`
  const folder = await madeFolder(stateDir)
  const socket = path.join(folder, `${name}.sock`)
  if (fitsSocketAddress(socket)) return socket
  await makePrivateFolder(shortFolder('live'))
  // Any user can create folders in the temporary folder.
  await refuseForeign(shortFolder('live'))
  return path.join(shortFolder('live'), `${name}.sock`)
}

async function madeFolder(stateDir: string): Promise<string> {
  const folder = liveFolder(stateDir)
  // Its parent belongs to the bridge, too.
  await makePrivateFolder(path.dirname(folder))
  await makePrivateFolder(folder)
  await refuseForeign(folder)
  return folder
}

async function refuseForeign(folder: string): Promise<void> {
  if (await isOwnFolder(folder)) return
  throw new BridgeError('STATE_REFUSED', `Other users can write to ${folder}, so no bridge is registered there`, {
    hint: 'Remove that folder, or make it yours alone: chmod 700.',
  })
}

/** @returns a function that removes the entry */
export async function register(stateDir: string, bridge: LiveBridge): Promise<() => Promise<void>> {
  const folder = await madeFolder(stateDir)
  const file = path.join(folder, `${bridge.id}.json`)
  await replaceFile(file, JSON.stringify(bridge))
  return () => rm(file, { force: true })
}

/** Returns this user's running bridges, oldest first. */
export async function liveBridges(stateDir: string): Promise<LiveBridge[]> {
  const folder = liveFolder(stateDir)
  if (!(await isOwnFolder(folder))) return []
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'))
  const found = await Promise.all(
    names.map(async (name): Promise<LiveBridge[]> => {
      const file = path.join(folder, name)
      const bridge = await readOrdinary(file).then(
        (bytes) => parseBridge(bytes.toString(), path.basename(name, '.json'), folder),
        () => undefined,
      )
      if (bridge && bridge.host !== hostId()) return []
      if (bridge && isRunning(bridge.pid)) return (await isOwnSocket(bridge.socket)) ? [bridge] : []
      await rm(file, { force: true }).catch(() => {})
      if (bridge && process.platform !== 'win32') await rm(bridge.socket, { force: true }).catch(() => {})
      return []
    }),
  )
  return found.flat().toSorted((a, b) => a.startedAt - b.startedAt)
}

/** Checks the owner: the process behind the socket gets the user's code, and its messages are shown as the bridge's. */
async function isOwnSocket(socket: string): Promise<boolean> {
  if (process.platform === 'win32') return true
  const { uid } = await lstat(socket).catch(() => ({ uid: undefined }))
  return uid === process.getuid?.() && (await isOwnFolder(path.dirname(socket)))
}

function parseBridge(text: string, id: string, folder: string): LiveBridge | undefined {
  try {
    const { pid, host, socket, startedAt, version, cwd } = JSON.parse(text) as Partial<
      Record<keyof LiveBridge, unknown>
    >
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof socket !== 'string') return undefined
    if (typeof startedAt !== 'number' || typeof version !== 'string' || typeof cwd !== 'string') return undefined
    // Readers of an entry delete the socket of a bridge that has ended. This check keeps them from deleting another
    // file.
    return process.platform === 'win32' || [folder, shortFolder('live')].includes(path.dirname(socket))
      ? { id, pid, host, socket, startedAt, version, cwd }
      : undefined
  } catch {
    return undefined
  }
}
