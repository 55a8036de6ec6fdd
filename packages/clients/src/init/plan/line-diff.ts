// The lines that differ between two texts, with the line number of each run. Pure.
import { diffLines } from 'diff'

/** Texts with more differences than this are shown as entirely removed and added: finding them would take too long. */
const MAX_DIFFERENCES = 1_000

/** Lines like those of `diff -U0`: `@@ line 3 @@`, then lines with `-` and `+`. Text is unchanged. */
export function lineDiff(before: string, after: string): string[] {
  const changes = diffLines(before, after, { maxEditLength: MAX_DIFFERENCES }) ?? [
    { value: before, added: false, removed: true },
    { value: after, added: true, removed: false },
  ]
  const shown: string[] = []
  let line = 1
  let isRun = false
  for (const { value, added, removed } of changes) {
    const lines = linesOf(value)
    const differs = added || removed
    if (differs && !isRun) shown.push(`@@ line ${line} @@`)
    if (differs) shown.push(...lines.map((text) => (added ? '+' : '-') + text))
    if (!added) line += lines.length
    isRun = differs
  }
  return shown
}

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines[lines.length - 1] += ' (no line end)'
  return lines
}
