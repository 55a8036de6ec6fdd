// What the process of a vitest worker and its host of bridges tell each other, over the channel of a forked process.

/** A process as it is started. */
export interface Start {
  /** The file of the bundle that a real process would begin with. */
  cli: string
  env: Record<string, string>
  cwd: string
  /** What is typed after `sandbridge`. */
  args: readonly string[]
}

export type ToHost = { id: number } & (
  | { start: Start }
  | { stdin: Uint8Array }
  | { stdinEnds: true }
  | { signal: NodeJS.Signals }
)

export type FromHost = { id: number } & (
  | { stream: 'stdout' | 'stderr'; chunk: Uint8Array }
  | { code: number | null; signal: NodeJS.Signals | null }
)
