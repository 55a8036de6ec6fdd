// Undoes what apply-init.ts has written, and says beforehand what that does to each file. Another program may have
// written the record, so only files that init writes are changed, and only backups in its own folder are used.
import { lstat, readFile, realpath, rm } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { valueAt } from '@sandbridge/core/util/json/json.ts'
import { parseDocument } from '@sandbridge/core/config/formats'
import { editDocument } from '@sandbridge/shared/edits/edit-document.ts'
import type { SkippedEntry } from '@sandbridge/core/config/entries'
import type { HostPaths } from '@sandbridge/core/config'
import { type Done, folderOf, hashOf, putFile, recordOf, textOf, whyUnwritten } from './init-record.ts'
import { BRIDGE_NAME, filesOfInit, movedServersFile, targetsOf } from '../plan/targets.ts'

/** `edit`: the file has changed since, so only the bridge's own changes are taken out. */
export interface PlannedUndo {
  file: string
  action: 'delete' | 'restore' | 'edit'
}

/** What undoInit will do, each file once. */
export async function planUndo(place: HostPaths): Promise<PlannedUndo[]> {
  const whyNot = await refusals(place)
  const recorded = await recordOf(place.stateDir).read()
  const refused = await Promise.all(recorded.map(whyNot))
  const all = recorded.filter((_, index) => refused[index] === undefined)
  const files = [...new Set(all.toReversed().map(({ file }) => file))]
  const planned = files.map(async (file) => {
    const now = await textOf(file)
    const of = all.filter((done) => done.file === file)
    return now === undefined ? [] : [{ file, action: await actionFor(of, now) }]
  })
  return (await Promise.all(planned)).flat()
}

/** Returns a function that gives the reason why a recorded change must not be undone. */
async function refusals(place: HostPaths): Promise<(done: Done) => Promise<string | undefined>> {
  const folder = folderOf(place.stateDir)
  const real = async (file: string): Promise<string> => realpath(file).catch(() => file)
  // A link there could lead to any file, and the backup is removed in the end.
  const isOwnFolder = (await real(folder)) === folderOf(await real(place.stateDir))
  const { clients, moved } = filesOfInit(place)
  const allowed = new Set([...clients, ...(await Promise.all(clients.map(real)))])
  // Links in the state folder are not followed: the program that wrote the record may have made them.
  for (const name of moved)
    for (const parent of [place.stateDir, await real(place.stateDir)]) allowed.add(path.join(parent, name))
  return async ({ file, backup }) => {
    if (!allowed.has(file)) return 'is not a file that init changes; undo it by hand if init changed it'
    if (backup !== undefined && !(isOwnFolder && path.dirname(backup) === folder))
      return `has its backup outside of ${folder}; undo it by hand`
    const found = await lstat(file).catch(() => undefined)
    return found?.isSymbolicLink() ? 'is a symbolic link now; undo it by hand in the file that it names' : undefined
  }
}

/** @param all everything that was done to one file, oldest first */
async function actionFor(all: readonly Done[], now: string): Promise<PlannedUndo['action']> {
  let text: string | undefined = now
  for (const { hash, backup } of all.toReversed()) {
    if (text === undefined || hashOf(text) !== hash) return 'edit'
    text = backup === undefined ? undefined : await textOf(backup)
  }
  return text === undefined ? 'delete' : 'restore'
}

/**
 * Undoes everything that applyInit has done, last change first. An unchanged file is restored byte for byte; in a file
 * that has changed since, only the bridge's changes are undone, and a file that it created is deleted. What cannot be
 * undone stays recorded, with its backup.
 */
export async function undoInit(
  place: HostPaths,
): Promise<{ restored: string[]; deleted: string[]; skipped: SkippedEntry[] }> {
  const undone = new Set<string>()
  const skipped: SkippedEntry[] = []
  const kept: Done[] = []
  const spare: string[] = []
  const whyNot = await refusals(place)
  const placesOf = await newPlaces(place)
  const needed = new Set<string>()
  const record = recordOf(place.stateDir)
  for (const done of (await record.read()).toReversed()) {
    const { file, backup } = done
    const isThere = (await textOf(file)) !== undefined
    const waits = needed.has(file) ? 'holds servers of a client whose file was not undone' : undefined
    const reason = (await whyNot(done)) ?? waits ?? (await undoOne(done).catch(whyUnwritten))
    if (reason === undefined) {
      if (isThere) undone.add(file)
      if (backup !== undefined) spare.push(backup)
    } else {
      skipped.push({ file, reason: backup === undefined ? reason : `${reason}; its backup is ${backup}` })
      kept.unshift(done)
      for (const one of placesOf.get(file) ?? []) needed.add(one)
    }
  }
  if (kept.length > 0) {
    await record.update((recorded) => void recorded.splice(0, Infinity, ...kept))
    for (const backup of spare) await rm(backup, { force: true })
  } else await rm(folderOf(place.stateDir), { recursive: true, force: true })
  const [restored, deleted]: [string[], string[]] = [[], []]
  for (const file of undone) ((await textOf(file)) === undefined ? deleted : restored).push(file)
  return { restored, deleted, skipped }
}

/** For each file of a client, the files that may have taken over its servers. */
async function newPlaces(place: HostPaths): Promise<Map<string, string[]>> {
  const folders = [place.stateDir, await realpath(place.stateDir).catch(() => place.stateDir)]
  const places = new Map<string, string[]>()
  for (const { client, files } of targetsOf(place)) {
    const moved = folders.map((folder) => path.join(folder, movedServersFile(client)))
    for (const file of files) {
      places.set(file, moved)
      places.set(await realpath(file).catch(() => file), moved)
    }
  }
  return places
}

/** @returns the reason when it could not be undone */
async function undoOne(done: Done): Promise<string | undefined> {
  const now = await textOf(done.file)
  if (now === undefined) return done.backup === undefined ? undefined : 'is missing or unreadable'
  const isUntouched = hashOf(now) === done.hash
  if (isUntouched && done.backup === undefined) {
    await rm(done.file)
    return undefined
  }
  if (isUntouched && done.backup !== undefined) {
    const before = await readFile(done.backup).catch(() => undefined)
    if (before !== undefined) return putFile(done.file, before)
  }
  const parsed = await parseDocument(now, done.format)
  if ('reason' in parsed) return parsed.reason
  const edits = done.undo.filter(({ path: keys, value, wrote }) => {
    const current = valueAt(parsed.document, ...keys)
    if (value !== undefined) return isDeepStrictEqual(current, wrote)
    // A moved server that was edited since stays in its new place: the edit would be lost.
    return current !== undefined && (keys.at(-1) === BRIDGE_NAME || isDeepStrictEqual(current, wrote))
  })
  const edited = await editDocument(now, done.format, edits)
  if ('reason' in edited) return edited.reason
  await putFile(done.file, edited.text)
  return undefined
}
