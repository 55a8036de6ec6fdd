// Prints what `sandbridge init` could not change.
import type { SkippedEntry } from '@sandbridge/core/config/entries/server-definition.ts'
import { print, visibleInline } from '@sandbridge/core/cli/terminal/print.ts'

export function printSkipped(skipped: readonly SkippedEntry[]): void {
  for (const { file, name, reason } of skipped)
    print(visibleInline(`skipped ${name === undefined ? '' : `${name} in `}${file}: ${reason}`))
}
