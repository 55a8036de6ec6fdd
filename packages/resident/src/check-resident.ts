// The resident bridges of this user: whether they answer, are of this version, and what their log says went wrong.
import type { ResidentStatus } from './reach/protocol.ts'
import { findResidents } from './ask-resident.ts'
import { readOrdinary } from '@sandbridge/core/util/files'
import { visibleInline } from '@sandbridge/core/util/text'
import { VERSION } from '@sandbridge/core/util'
import type { Finding } from '@sandbridge/core/serve/cli'

const ADVICE = 'sandbridge stop'
const SHOWN_CHARS = 300

/** Empty without residents. Never rejects. */
export async function checkResident(stateDir: string): Promise<Finding[]> {
  const found = await findResidents(stateDir).catch(() => [])
  const all = await Promise.all(
    found.map(async ({ socket, status }) =>
      status ? checkRunning(status) : [warning(`A resident bridge at ${socket} does not answer.`)],
    ),
  )
  return all.flat()
}

async function checkRunning({ pid, version, log, startedAt }: ResidentStatus): Promise<Finding[]> {
  const isOther = version !== VERSION
  const text = await readOrdinary(log).then(String, () => '')
  const since = new Date(startedAt).toISOString()
  const errors = text.split('\n').filter((line) => /^\S+ error /.test(line) && line.slice(0, since.length) >= since)
  const last = errors.at(-1)
  return [
    ...(isOther ? [warning(`Resident bridge ${pid} is of version ${version}, and this is ${VERSION}.`, ADVICE)] : []),
    ...(last === undefined
      ? []
      : [warning(`Resident bridge ${pid} logged: ${visibleInline(last).slice(0, SHOWN_CHARS)}`, `Read ${log}.`)]),
  ]
}

function warning(message: string, advice?: string): Finding {
  return { check: 'resident', level: 'warning', message, ...(advice !== undefined && { advice }) }
}
