// Writes the changes of plan-init.ts by renaming, with a backup of every file: a crash loses nothing.
import { randomUUID } from 'node:crypto'
import { readFile, realpath, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { valueAt } from '@sandbridge/core/util/json/json.ts'
import { parseDocument } from '@sandbridge/core/config/formats'
import type { SkippedEntry } from '@sandbridge/core/config/entries'
import { folderOf, hashOf, HINT, putFile, recordOf, textOf, type UndoEdit, whyUnwritten } from './undo/init-record.ts'
import type { PlannedChange } from './plan/plan-init.ts'

/**
 * Writes planned changes. A file that has changed since planning is skipped, and so is one that cannot be written.
 * @returns the files that were written and those that were skipped
 * @throws BridgeError CONFIG_INVALID when a backup, the record or a file in the state folder cannot be written: servers
 *   that move there must not leave their clients
 */
export async function applyInit(
  changes: readonly PlannedChange[],
  stateDir: string,
): Promise<{ written: string[]; skipped: SkippedEntry[] }> {
  const written: string[] = []
  const skipped: SkippedEntry[] = []
  const notMoved = new Set<string>()
  const record = recordOf(stateDir)
  await record.read()
  for (const change of changes) {
    if (notMoved.has(change.client)) {
      skipped.push({ file: change.file, reason: 'is left as it is, because the new place of its servers was skipped' })
      continue
    }
    const file = await realpath(change.file).catch(() => change.file)
    const now = await textOf(file)
    if (now !== change.before) {
      skipped.push({ file: change.file, reason: 'changed while this command ran; run it again' })
      notMoved.add(change.client.replace(/^mcps:/, ''))
      continue
    }
    const backup = path.join(folderOf(stateDir), `${Date.now()}-${randomUUID().slice(0, 8)}-${path.basename(file)}`)
    const undo = await inverseOf(change)
    await record.update(async (all) => {
      if (now !== undefined) await writeFile(backup, await readFile(file), { mode: 0o600 })
      // Recorded before the write: undoing a write that did not happen does no harm.
      const made = { file, format: change.format, hash: hashOf(change.after), undo }
      all.push(now === undefined ? made : { ...made, backup })
    })
    try {
      await putFile(file, change.after)
      written.push(change.file)
    } catch (error) {
      const reason = whyUnwritten(error)
      if (path.dirname(change.file) === stateDir)
        throw new BridgeError('CONFIG_INVALID', `${file} ${reason}.`, { hint: HINT })
      await record.update((all) => {
        const others = all.filter((done) => done.file !== file || done.hash !== hashOf(change.after))
        all.splice(0, Infinity, ...others)
      })
      await rm(backup, { force: true })
      skipped.push({ file: change.file, reason })
    }
  }
  return { written, skipped }
}

async function inverseOf({ before, format, edits }: PlannedChange): Promise<UndoEdit[]> {
  const parsed = await parseDocument(before ?? '', format)
  const document = 'document' in parsed ? parsed.document : {}
  return edits.toReversed().map(({ path: keys, value: wrote }) => {
    const value = valueAt(document, ...keys)
    return { path: keys, value, wrote }
  })
}
