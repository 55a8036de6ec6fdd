// One line of the benchmark's table.

export interface BenchRow {
  name: string
  value: string
  goal: string
  /** Is the goal met? Null when there is none, or when it could not be measured here. */
  ok: boolean | null
}
