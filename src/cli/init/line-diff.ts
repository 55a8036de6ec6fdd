// The lines that differ between two texts, with the line number of each run. Pure.

/**
 * A run with more pairs of lines than this is shown as entirely removed and added: comparing all pairs would take too
 * long.
 */
const MAX_PAIRS = 4_000_000

/** Lines like those of `diff -U0`: `@@ line 3 @@`, then lines with `-` and `+`. Text is unchanged. */
export function lineDiff(before: string, after: string): string[] {
  const [a, b] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1
  const changes = compare(a.slice(start, a.length - end), b.slice(start, b.length - end))
  const shown: string[] = []
  let line = start + 1
  let isRun = false
  for (const { sign, text } of changes) {
    if (sign !== ' ' && !isRun) shown.push(`@@ line ${line} @@`)
    if (sign !== ' ') shown.push(sign + text)
    isRun = sign !== ' '
    if (sign !== '+') line += 1
  }
  return shown
}

interface Change {
  sign: ' ' | '-' | '+'
  text: string
}

/** Longest common subsequence. */
function compare(a: readonly string[], b: readonly string[]): Change[] {
  const removed = (texts: readonly string[]): Change[] => texts.map((text) => ({ sign: '-', text }))
  const added = (texts: readonly string[]): Change[] => texts.map((text) => ({ sign: '+', text }))
  if (a.length * b.length > MAX_PAIRS) return [...removed(a), ...added(b)]
  const width = b.length + 1
  const lengths = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const skip = Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1]! + 1 : skip
    }
  }
  const changes: Change[] = []
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      changes.push({ sign: ' ', text: a[i]! })
      i += 1
      j += 1
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) {
      changes.push(...removed(a.slice(i, (i += 1))))
    } else {
      changes.push(...added(b.slice(j, (j += 1))))
    }
  }
  return [...changes, ...removed(a.slice(i)), ...added(b.slice(j))]
}

function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines[lines.length - 1] += ' (no line end)'
  return lines
}
