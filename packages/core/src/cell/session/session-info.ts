// What a cell can learn about its session.

/** Limits that other code enforces. */
export interface SessionLimits {
  memoryBytes: number
  maxTimeoutSeconds: number
  outputTokenCount: number
}

export interface SessionInfo extends Partial<SessionLimits> {
  mode: 'shared' | 'fresh' | 'durable'
  /** Since the session got its sandbox. */
  ageSeconds: number
  /** Cells run in this sandbox, including this one. */
  cellCount: number
  /** For a reader. */
  sandbox: string
  provider: string
  python: string
  timeoutSeconds: number
  idleTimeoutSeconds: number
}
