// One line of the benchmark's table.

export interface BenchRow {
  name: string
  value: string
  goal: string
  /** Whether the goal is met. Null when there is no goal or it could not be measured here. */
  ok: boolean | null
}

export const reported = (name: string, value: string): BenchRow => ({ name, value, goal: 'reported', ok: null })

/** Misses its goal above the limit. */
export const atMost = (name: string, value: number, limit: number, unit: (value: number) => string): BenchRow => ({
  name,
  value: unit(value),
  goal: `≤ ${unit(limit)}`,
  ok: value <= limit,
})
