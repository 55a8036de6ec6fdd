// JSON that is the same for the same value, in whatever order its keys were written. Pure.
import { isRecord } from './json.ts'

export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}
