// One line of the benchmark's table.

export interface BenchRow {
  name: string
  value: string
  goal: string
  /** Whether the goal is met. Null when there is no goal or it could not be measured here. */
  ok: boolean | null
}
