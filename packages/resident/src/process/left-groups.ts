// What a resident that was killed has left running: servers that do not end when their input does. It records its
// process groups in its folder, with the start time of each leader, and the next resident ends those that are still the
// same processes. Start times count from the boot, so that a record of an earlier boot names other processes.
import path from 'node:path'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { readOrdinaryText, replaceFileSync } from '@sandbridge/core/util/files'
import { bootId, startTime, watchGroups } from '@sandbridge/core/util/process'

const FILE = 'groups.json'
/** Many start at once. */
const DELAY_MS = 50

/** Keeps the record of this process from now on. @param folder returns where; undefined when it has none any more */
export function recordGroups(folder: () => string | undefined): void {
  let writing: NodeJS.Timeout | undefined
  watchGroups((pids) => {
    clearTimeout(writing)
    writing = setTimeout(() => {
      const home = folder()
      const groups = pids.flatMap((pid) => [[pid, startTime(pid)]]).filter(([, started]) => started !== undefined)
      try {
        if (home !== undefined) replaceFileSync(path.join(home, FILE), JSON.stringify({ boot: bootId(), groups }))
      } catch {
        // The folder was taken away.
      }
    }, DELAY_MS).unref()
  })
}

/** Ends the groups that a killed resident has left. Never throws. */
export function endLeftGroups(home: string): void {
  for (const [pid, started] of leftIn(home)) {
    if (startTime(pid) !== started) continue
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}

function leftIn(home: string): [number, string][] {
  try {
    const read: unknown = JSON.parse(readOrdinaryText(path.join(home, FILE)))
    if (!isRecord(read) || read['boot'] !== bootId()) return []
    return Array.isArray(read['groups']) ? read['groups'].filter(isGroup) : []
  } catch {
    return []
  }
}

/** Signals to groups 0 and 1 would reach other processes of this user. */
function isGroup(one: unknown): one is [number, string] {
  return Array.isArray(one) && Number.isSafeInteger(one[0]) && Number(one[0]) > 1 && typeof one[1] === 'string'
}
