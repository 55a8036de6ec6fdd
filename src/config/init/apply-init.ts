// Writes the changes of plan-init.ts, with a backup of every file, and undoes them. Each write renames over the old file, so a crash loses nothing.
// The record of changes and the backups hold removed values, so only their owner can read them.
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

/** What was done to one file, and how to undo it. */
interface Done {
  file: string
  format: ConfigFormat
  /** The backup of the file's former text; missing when there was no file. */
  backup?: string
  /** Hash of the written text. */
  hash: string
  undo: UndoEdit[]
}

/** Restores what was removed, or removes what was set. */
interface UndoEdit extends Edit {
  wrote?: unknown
}

/**
 * Writes planned changes. A file that has changed since planning is skipped.
 * @returns the files that were written and those that were skipped
 * @throws BridgeError CONFIG_INVALID when a backup or the record cannot be written; its file is then unchanged
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
      // Recorded before the write: undoing a write that did not happen does no harm.
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
 * Undoes everything that applyInit has done, last change first. An unchanged file is restored byte for byte; in a file that has changed since,
 * only the bridge's changes are undone. What cannot be undone stays recorded, with its backup.
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

async function inverseOf({ before, format, edits }: PlannedChange): Promise<UndoEdit[]> {
  const parsed = await parseDocument(before ?? '', format)
  const document = 'document' in parsed ? parsed.document : {}
  return edits.toReversed().map(({ path: keys, value: wrote }) => {
    const value = valueAt(document, ...keys)
    return value === undefined ? { path: keys, wrote } : { path: keys, value }
  })
}

/** Keeps the permissions of the replaced file. A new file may hold secrets, so only its owner can read it. */
async function putFile(file: string, content: string | Uint8Array): Promise<undefined> {
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  )
  await mkdir(path.dirname(file), { recursive: true })
  await replaceFile(file, content, mode)
}

/** Reads a file like planning does, so that the texts can be compared. */
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
    // Only this module writes the record, so with the right version its shape is not checked further.
    parse: (json) =>
      isRecord(json) && json['version'] === 1 && Array.isArray(json['done']) ? (json['done'] as Done[]) : undefined,
    serialize: (done) => ({ version: 1, done }),
    damaged: { record: 'The record of what init has changed', hint: HINT },
  })
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
