// What a cell can learn of its session.

/** Limits that are held elsewhere. */
export interface SessionLimits {
  memoryBytes: number
  maxTimeoutSeconds: number
  outputTokenCount: number
}

export interface SessionInfo extends Partial<SessionLimits> {
  mode: 'shared' | 'fresh' | 'durable'
  /** Since the sandbox was given to this session. */
  ageSeconds: number
  /** Cells run in this sandbox, this one included. */
  cellCount: number
  provider: string
  python: string
  /** Of the running cell. */
  timeoutSeconds: number
  idleTimeoutSeconds: number
}
