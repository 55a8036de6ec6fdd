// Formats how long ago something happened. Pure.
import { count } from './count.ts'

const UNITS: [string, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** Returns a text such as `3 minutes ago`. */
export function ago(then: number, now: number): string {
  for (const [unit, ms] of UNITS) if (now - then >= ms) return `${count(Math.floor((now - then) / ms), unit)} ago`
  return 'just now'
}
