// "Did you mean": the known name nearest to a mistyped one. Pure.

/** The name within two edits (a third of the length for short names) of `name`, or undefined when none is that near. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const most = Math.min(2, Math.floor(name.length / 3))
  let best: string | undefined
  let bestDistance = most + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) > most) continue
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, change))
    }
    row = next
  }
  return row[b.length] ?? 0
}
