// `sandbridge init --undo`: shows what undoing does to each file, asks, and does it.
import { type PlannedUndo, planUndo, undoInit } from './undo-init.ts'
import { print, printJson, printTable, visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'
import { removeLoginItem } from '../login-item.ts'
import { printSkipped } from '../print-skipped.ts'
import type { HostPaths } from '@sandbridge/core/config'
import { count } from '@sandbridge/core/util/text'

const NOTES: Record<PlannedUndo['action'], string> = {
  delete: 'delete: init created it',
  restore: 'restore the original',
  edit: 'take out what init wrote: the file has changed since',
}

export async function undo(
  { yes = false, dryRun = false, json = false }: { yes?: boolean; dryRun?: boolean; json?: boolean },
  place: HostPaths,
): Promise<void> {
  const planned = await planUndo(place)
  if (json) {
    if (yes && !dryRun) await removeLoginItem(place)
    const done = yes && !dryRun ? await undoInit(place) : { restored: [], deleted: [], skipped: [] }
    if (done.skipped.length > 0) process.exitCode = 1
    return printJson({ planned, ...done })
  }
  if (planned.length === 0) print('Nothing to undo.')
  printTable(planned.map(({ file, action }) => [visibleInline(file), NOTES[action]]))
  if (dryRun) return print('\nNothing was changed: this was a dry run.')
  if (planned.length > 0 && !yes && !(await confirm('\nUndo these changes? [y/N] ')))
    return print('Nothing was changed.')
  if (await removeLoginItem(place)) print('The bridge no longer starts at login.')
  const { restored, deleted, skipped } = await undoInit(place)
  for (const file of restored) print(`restored ${visibleInline(file)}`)
  for (const file of deleted) print(`deleted ${visibleInline(file)}`)
  printSkipped(skipped)
  if (skipped.length > 0) {
    process.exitCode = 1
    print(`Not undone: ${count(skipped.length, 'change')} of init. Correct the above and run this again.`)
  }
  if (planned.length > 0) print('Restart your MCP clients, so that they read their files again.')
}
