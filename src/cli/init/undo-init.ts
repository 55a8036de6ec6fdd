// Undoes what apply-init.ts has written, and says beforehand what that does to each file.
import { readFile, rm } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { parseDocument, valueAt } from '../../config/formats/config-document.ts'
import type { SkippedEntry } from '../../config/entries/server-definition.ts'
import { editDocument } from '../../config/formats/edit-document.ts'
import { type Done, folderOf, hashOf, putFile, recordOf, textOf } from './init-record.ts'
import { BRIDGE_NAME } from './targets.ts'

/** `edit`: the file has changed since, so only the bridge's own changes are taken out. */
export interface PlannedUndo {
  file: string
  action: 'delete' | 'restore' | 'edit'
}

/** What undoInit will do, each file once. */
export async function planUndo(stateDir: string): Promise<PlannedUndo[]> {
  const all = await recordOf(stateDir).read()
  const files = [...new Set(all.toReversed().map(({ file }) => file))]
  const planned = files.map(async (file) => {
    const now = await textOf(file)
    const of = all.filter((done) => done.file === file)
    return now === undefined ? [] : [{ file, action: await actionFor(of, now) }]
  })
  return (await Promise.all(planned)).flat()
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
  stateDir: string,
): Promise<{ restored: string[]; deleted: string[]; skipped: SkippedEntry[] }> {
  const undone = new Set<string>()
  const skipped: SkippedEntry[] = []
  const kept: Done[] = []
  const planned = await planUndo(stateDir)
  const record = recordOf(stateDir)
  const all = await record.read()
  for (const done of all.toReversed()) {
    const reason = await undoOne(done)
    if (reason === undefined) {
      undone.add(done.file)
      if (done.backup !== undefined) await rm(done.backup, { force: true })
    } else {
      skipped.push({
        file: done.file,
        reason: done.backup === undefined ? reason : `${reason}; its backup is ${done.backup}`,
      })
      kept.unshift(done)
    }
  }
  if (kept.length > 0) await record.update((recorded) => void recorded.splice(0, Infinity, ...kept))
  else await rm(folderOf(stateDir), { recursive: true, force: true })
  const [restored, deleted]: [string[], string[]] = [[], []]
  for (const { file } of planned)
    if (undone.has(file)) ((await textOf(file)) === undefined ? deleted : restored).push(file)
  return { restored, deleted, skipped }
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
    if (value !== undefined) return current === undefined
    // A moved server that was edited since stays in its new place: the edit would be lost.
    return current !== undefined && (keys.at(-1) === BRIDGE_NAME || isDeepStrictEqual(current, wrote))
  })
  const edited = await editDocument(now, done.format, edits)
  if ('reason' in edited) return edited.reason
  await putFile(done.file, edited.text)
  return undefined
}
