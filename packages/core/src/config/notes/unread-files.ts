// Tells of unreadable config files: else their servers would seem not to be configured. Pure.
import { visibleInline } from '../../util/text/visible.ts'
import type { SkippedEntry } from '../entries/server-definition.ts'

/** Two sentences for each file: its path, the line and column where they are known, the cause, and what to do. */
export function unreadFiles(skipped: readonly SkippedEntry[]): string[] {
  return skipped
    .filter(({ kind }) => kind === 'unread')
    .map(({ file, reason }) => `${visibleInline(file)} ${reason}. Its servers are left out until it is corrected.`)
}
