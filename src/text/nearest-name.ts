// "Did you mean": the known name nearest to a mistyped one. Pure.
import { editDistance } from './edit-distance.ts'

/** The name within two edits (a third of the length for short names) of `name`, or undefined when none is that near. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const most = Math.min(2, Math.floor(name.length / 3))
  let best: string | undefined
  let bestDistance = most + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), most)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}
