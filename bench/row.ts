// One line of the benchmark's table.
export interface BenchRow {
  name: string
  value: string
  goal: string
  /** Whether the goal was reached; null where there is none. */
  ok: boolean | null
}
