// The log of residents: a file of bounded size, and the one before it.
import { appendFileSync, lstatSync, renameSync } from 'node:fs'
import { removeUnused } from '@sandbridge/core/util/files'

const MAX_BYTES = 4 * 2 ** 20
/** Lines between two looks at the size. */
const LOOK_EVERY = 200
const KEPT_MS = 30 * 86_400_000

/**
 * Starts a new file when this one is full, or is none: nobody may ever read from a named pipe.
 * @throws what node:fs throws
 */
export function keepLogSmall(log: string, maxBytes = MAX_BYTES): void {
  const found = lstatSync(log, { throwIfNoEntry: false })
  if (found && (!found.isFile() || found.size > maxBytes)) renameSync(log, `${log}.1`)
}

/** Removes the logs that no resident has written to for a month. Never throws. */
export function removeOldLogs(folder: string): void {
  removeUnused(folder, (name) => (/\.log(?:\.1)?$/.test(name) ? KEPT_MS : undefined))
}

/** Returns a function that writes one line. It never throws: a full disk does not end the bridge. */
export function residentLogWriter(log: string, maxBytes = MAX_BYTES): (line: string) => void {
  let count = 0
  return (line) => {
    try {
      if (count++ % LOOK_EVERY === 0) keepLogSmall(log, maxBytes)
      appendFileSync(log, line, { mode: 0o600 })
    } catch {
      // Nothing can be told anywhere else.
    }
  }
}
