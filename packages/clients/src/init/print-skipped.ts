// Prints what `sandbridge init` could not change.
import type { SkippedEntry } from '@sandbridge/core/config/entries'
import { print, visibleInline } from '@sandbridge/core/serve/cli/terminal'

export function printSkipped(skipped: readonly SkippedEntry[]): void {
  for (const { file, name, reason } of skipped)
    print(visibleInline(`skipped ${name === undefined ? '' : `${name} in `}${file}: ${reason}`))
}
