// The record of what `sandbridge init` has changed, and how its files are read and written. The record and the backups
// hold removed values, so only their owner can read them.
import { hash } from 'node:crypto'
import { mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { JsonDocument } from '@sandbridge/core/util/stores'
import { replaceFile } from '@sandbridge/core/util/files'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import type { ConfigFormat } from '@sandbridge/core/config/formats'
import type { Edit } from '@sandbridge/shared/edits/edit-document.ts'
import { nodeFileSystem, readFileText } from '@sandbridge/core/config'

/** What was done to one file, and how to undo it. */
export interface Done {
  file: string
  format: ConfigFormat
  /** The backup of the file's former text; missing when there was no file. */
  backup?: string
  /** Hash of the written text. */
  hash: string
  undo: UndoEdit[]
}

/** Restores what was removed, or removes what was set. */
export interface UndoEdit extends Edit {
  wrote?: unknown
}

/** Keeps the permissions of the replaced file. A new file may hold secrets, so only its owner can read it. */
export async function putFile(file: string, content: string | Uint8Array): Promise<undefined> {
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  )
  await mkdir(path.dirname(file), { recursive: true })
  await replaceFile(file, content, mode)
}

/** The reason to skip a file. @throws what is no error of the file system */
export function whyUnwritten(error: unknown): string {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error
  return `cannot be written (${String(error.code)})`
}

/** Reads a file like planning does, so that the texts can be compared. */
export async function textOf(file: string): Promise<string | undefined> {
  const read = await readFileText(nodeFileSystem, file)
  return 'text' in read ? read.text : undefined
}

export const folderOf = (stateDir: string): string => path.join(stateDir, '.sandbridge', 'init')
export const HINT = 'Correct that and run it again. Backups are in the folder .sandbridge/init of the state folder.'

export function recordOf(stateDir: string): JsonDocument<Done[]> {
  return new JsonDocument({
    document: path.join(folderOf(stateDir), 'record.json'),
    empty: () => [],
    parse: (json) =>
      isRecord(json) && json['version'] === 1 && Array.isArray(json['done']) && json['done'].every(isDone)
        ? json['done']
        : undefined,
    serialize: (done) => ({ version: 1, done }),
    damaged: { name: 'The list of what init has changed', hint: HINT },
  })
}

function isDone(one: unknown): one is Done {
  if (!isRecord(one) || typeof one['file'] !== 'string' || typeof one['hash'] !== 'string') return false
  const { format, backup, undo } = one
  const isText = backup === undefined || typeof backup === 'string'
  return isText && ['jsonc', 'toml', 'yaml'].includes(format as string) && Array.isArray(undo) && undo.every(isEdit)
}

const isEdit = (edit: unknown): boolean =>
  isRecord(edit) && Array.isArray(edit['path']) && edit['path'].every((key) => typeof key === 'string')

export function hashOf(text: string): string {
  return hash('sha256', text)
}
