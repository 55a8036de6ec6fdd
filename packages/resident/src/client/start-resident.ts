// Starts a resident, detached from its first client: terminal, process group, folder and open files.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, statSync, utimesSync } from 'node:fs'
import path from 'node:path'
import type { ClientContext } from '@sandbridge/core/config/settings'
import { ownScript } from '@sandbridge/core/util'
import { mergedEnvironment } from '@sandbridge/core/util/process'
import { keepLogSmall, removeOldLogs } from '../process/resident-log.ts'
import { type ResidentKey, usualVariables, withoutLaunchers } from '../resident-key.ts'
import type { ResidentPlace } from '../reach/run-folder.ts'

/** A start that takes longer may be tried by another relay, too. */
const STARTING_MS = 3_000

/**
 * Whether this relay starts the resident. Only saves work when several start at once: which resident wins is decided by
 * the name that it takes.
 */
export function mayStart({ starting }: ResidentPlace): boolean {
  try {
    mkdirSync(starting, { mode: 0o700 })
    return true
  } catch {
    // Another relay starts it, or began to.
  }
  try {
    // A time in the future was written before the clock was set back.
    if (Math.abs(Date.now() - statSync(starting).mtimeMs) < STARTING_MS) return false
    utimesSync(starting, new Date(), new Date())
  } catch {
    // It has just been published.
  }
  return true
}

/** Engines and the keychain of the desktop need them, and the client that is first may not have them. */
function usualOnes(): Record<string, string> {
  const usual = usualVariables()
  return existsSync(path.join(usual['XDG_RUNTIME_DIR']!, 'bus')) ? usual : {}
}

/**
 * @param onFailed it has ended instead of running, with this exit code; one that another was faster than has not failed
 * @throws what node:fs and node:child_process throw
 */
export function startResident(
  { context, key, place }: { context: ClientContext; key: ResidentKey; place: ResidentPlace },
  onFailed: (code: number | undefined) => void,
): void {
  removeOldLogs(place.folder)
  keepLogSmall(place.log)
  const log = openSync(place.log, 'a', 0o600)
  try {
    const child = spawn(process.execPath, [...process.execArgv, ownScript(context.ownPaths[0]), 'resident', key.name], {
      // On Windows, of the drive that has Node: another one may be taken out.
      cwd: key.cwd ?? path.parse(process.execPath).root,
      env: mergedEnvironment<string | undefined>([usualOnes(), withoutLaunchers(context.env), { PATH: key.path }]),
      detached: true,
      windowsHide: true,
      stdio: ['pipe', log, log],
    })
    child.stdin!.on('error', () => {}).end(key.text)
    child.once('error', () => onFailed(undefined))
    child.once('exit', (code) => code !== 0 && onFailed(code ?? undefined))
    child.unref()
  } finally {
    closeSync(log)
  }
}
