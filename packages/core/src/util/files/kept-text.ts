// Texts kept in the user's cache for the next start, and told to models: only a private folder counts.
import { readdirSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { isOwnFolderSync, makePrivateFolder } from './private-folder.ts'
import { readOrdinaryText } from './read-ordinary.ts'
import { replaceFileSync } from './replace-file.ts'
import { orUndefined } from '../or-undefined.ts'

/** Texts of one folder: clients and the folders of projects come and go. */
const MAX_TEXTS = 100

/** Undefined when it cannot be read, and in the folder of others. */
export function readKeptText(file: string): string | undefined {
  return orUndefined(() => (isOwnFolderSync(path.dirname(file)) ? readOrdinaryText(file) : undefined))
}

/**
 * Makes the folder if it is missing. Writes nothing that is there already, and nothing behind a link. Of more than a
 * hundred texts in the folder, removes those that were written first.
 * @throws what node:fs throws
 */
export function keepText(file: string, text: string): void {
  const folder = path.dirname(file)
  makePrivateFolder(folder)
  if (!isOwnFolderSync(folder) || readKeptText(file) === text) return
  replaceFileSync(file, text)
  removeOldest(folder, path.extname(file))
}

function removeOldest(folder: string, extension: string): void {
  const names = readdirSync(folder).filter((name) => path.extname(name) === extension)
  if (names.length <= MAX_TEXTS) return
  const files = names.map((name) => path.join(folder, name))
  const written = new Map(files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0]))
  const newest = files.toSorted((a, b) => written.get(b)! - written.get(a)!)
  for (const file of newest.slice(MAX_TEXTS)) rmSync(file, { force: true })
}
