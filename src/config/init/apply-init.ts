// Writes what plan-init.ts has planned, with a backup of every file, and puts it back. A write is a rename over the old file: a crash costs nothing.
// The record of what was done holds the values that were removed, so it is for its owner's eyes only, and so are the backups.
import { createHash, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { mkdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '../../errors.ts'
import type { ConfigFormat } from '../config-document.ts'
import { parseDocument, valueAt } from '../config-document.ts'
import { isRecord } from '../../text/json.ts'
import { nodeFileSystem, readFileText } from '../config-file.ts'
import type { SkippedEntry } from '../server-definition.ts'
import type { Edit } from './edit-document.ts'
import { editDocument } from './edit-document.ts'
import type { PlannedChange } from './plan-init.ts'
import { BRIDGE_NAME } from './targets.ts'
import { JsonRecord } from '../../storage/json-record.ts'
import { replaceFile } from '../../storage/replace-file.ts'

/** What was done to one file, and how it is undone. */
interface Done {
  file: string
  format: ConfigFormat
  /** Where the file's former text is; missing when there was no file. */
  backup?: string
  /** Of the text that was written. */
  hash: string
  undo: UndoEdit[]
}

/** Sets what was removed, or removes what was set. */
interface UndoEdit extends Edit {
  wrote?: unknown
}

/**
 * Write planned changes. A file that has changed since it was planned is left alone.
 * @returns the files that were written, and those that were not
 * @throws BridgeError CONFIG_INVALID when a backup or the record cannot be written; the file it is for is then untouched
 */
export async function applyInit(
  changes: readonly PlannedChange[],
  stateDir: string,
): Promise<{ written: string[]; skipped: SkippedEntry[] }> {
  const written: string[] = []
  const skipped: SkippedEntry[] = []
  const record = recordOf(stateDir)
  await record.read()
  for (const change of changes) {
    const file = await realpath(change.file).catch(() => change.file)
    const now = await textOf(file)
    if (now !== change.before) {
      skipped.push({ file: change.file, reason: 'changed while this command ran; run it again' })
      continue
    }
    const backup = path.join(folderOf(stateDir), `${Date.now()}-${randomUUID().slice(0, 8)}-${path.basename(file)}`)
    const undo = await inverseOf(change)
    await record.update(async (all) => {
      if (now !== undefined) await writeFile(backup, await readFile(file), { mode: 0o600 })
      // Recorded before it is done: an undo that finds nothing to do does no harm.
      all.push({
        file,
        format: change.format,
        hash: hashOf(change.after),
        undo,
        ...(now === undefined ? {} : { backup }),
      })
    })
    await putFile(file, change.after).catch((error: NodeJS.ErrnoException) => {
      throw new BridgeError('CONFIG_INVALID', `${file} cannot be written (${error.code}).`, { hint: HINT })
    })
    written.push(change.file)
  }
  return { written, skipped }
}

/**
 * Undo everything that applyInit has done, the last first. A file that is still as it was written is restored to the byte; in one that has
 * changed since, only our changes are taken back. What cannot be undone stays recorded, with its backup.
 */
export async function undoInit(stateDir: string): Promise<{ restored: string[]; skipped: SkippedEntry[] }> {
  const restored: string[] = []
  const skipped: SkippedEntry[] = []
  const kept: Done[] = []
  const record = recordOf(stateDir)
  const all = await record.read()
  for (const done of all.toReversed()) {
    const reason = await undoOne(done)
    if (reason === undefined) {
      restored.push(done.file)
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
  return { restored, skipped }
}

/** @returns why it could not be undone */
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
    // A server that was edited since in its new place stays there: the edit would be lost.
    return current !== undefined && (keys.at(-1) === BRIDGE_NAME || isDeepStrictEqual(current, wrote))
  })
  const edited = await editDocument(now, done.format, edits)
  if ('reason' in edited) return edited.reason
  await putFile(done.file, edited.text)
  return undefined
}

async function inverseOf({ before, format, edits }: PlannedChange): Promise<UndoEdit[]> {
  const parsed = await parseDocument(before ?? '', format)
  const document = 'document' in parsed ? parsed.document : {}
  return edits.toReversed().map(({ path: keys, value: wrote }) => {
    const value = valueAt(document, ...keys)
    return value === undefined ? { path: keys, wrote } : { path: keys, value }
  })
}

/** With the rights of the file it replaces; a new file may hold secrets and is its owner's only. */
async function putFile(file: string, content: string | Uint8Array): Promise<undefined> {
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  )
  await mkdir(path.dirname(file), { recursive: true })
  await replaceFile(file, content, mode)
}

/** As planning reads it, so that the two can be compared. */
async function textOf(file: string): Promise<string | undefined> {
  const read = await readFileText(nodeFileSystem, file)
  return 'text' in read ? read.text : undefined
}

const folderOf = (stateDir: string): string => path.join(stateDir, '.sandbridge', 'init')
const HINT = 'Correct that and run it again. Backups are in the folder .sandbridge/init of the state folder.'

function recordOf(stateDir: string): JsonRecord<Done[]> {
  return new JsonRecord({
    document: path.join(folderOf(stateDir), 'record.json'),
    empty: () => [],
    // Written by us alone, so its shape is taken as it is once the version is right.
    parse: (json) =>
      isRecord(json) && json['version'] === 1 && Array.isArray(json['done']) ? (json['done'] as Done[]) : undefined,
    serialize: (done) => ({ version: 1, done }),
    damaged: { record: 'The record of what init has changed', hint: HINT },
  })
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
