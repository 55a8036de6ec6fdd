// What commands ask the residents of this user, and finding them.
import path from 'node:path'
import { isOnlyOurs } from '@sandbridge/core/util/files'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { createLineSplitter } from '@sandbridge/core/util/bytes'
import { dial } from './reach/connection.ts'
import { controlLine, type FromRelay, isControl, readControl, type ResidentStatus } from './reach/protocol.ts'
import { residentHomes, runFolder, socketIn } from './reach/run-folder.ts'

const ANSWER_MS = 2_000
const MAX_BYTES = 2 ** 22

/** The sockets of residents, also of those that have ended without removing them. */
function residentSockets(stateDir: string): string[] {
  // The name's length decides about the folder.
  const folder = runFolder(stateDir, '0'.repeat(20))
  // What others can write to, no relay uses.
  if (!isOnlyOurs(folder)) return []
  return residentHomes(folder).map((name) => socketIn(path.join(folder, name)))
}

/** Asks one resident. Undefined when nobody listens there, 'silent' when it does not answer. */
export function askResident(
  socketPath: string,
  question: FromRelay,
): Promise<Record<string, unknown> | 'silent' | undefined> {
  return new Promise((resolve) => {
    const socket = dial(socketPath, () => {
      socket.on('data', (chunk) => lines.push(chunk))
      socket.write(controlLine(question))
    })
    const late = setTimeout(() => end('silent'), ANSWER_MS)
    const end = (answer: Record<string, unknown> | 'silent' | undefined): void => {
      clearTimeout(late)
      socket.destroy()
      resolve(answer)
    }
    const lines = createLineSplitter({
      maxBytes: MAX_BYTES,
      onLine: (line) => isControl(line) && end(readControl(line)),
      onTooLong: () => end('silent'),
    })
    socket.on('error', () => end(undefined))
    socket.on('close', () => end('silent'))
  })
}

export interface FoundResident {
  socket: string
  /** Missing when it does not answer. */
  status: ResidentStatus | undefined
}

/** The residents that run. */
export async function findResidents(stateDir: string): Promise<FoundResident[]> {
  const found = await Promise.all(
    residentSockets(stateDir).map(async (socket) => {
      const answer = await askResident(socket, { status: true })
      if (answer === undefined) return []
      const status = answer !== 'silent' && isRecord(answer['status']) ? answer['status'] : undefined
      // A resident writes what this type says.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return [{ socket, status: status as unknown as ResidentStatus | undefined }]
    }),
  )
  return found.flat()
}
