// What `sandbridge doctor` finds, and what to do about it.

export interface Finding {
  /** What was looked at: `folders`, `servers`. */
  check: string
  level: 'ok' | 'warning' | 'broken'
  message: string
  /** What to do. */
  advice?: string
  /** Does that, where nothing can be lost by it. */
  fix?: () => Promise<void>
}

/** 0 when all is well, 1 with warnings, 2 when something is broken. */
export function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'broken')) return 2
  return findings.some(({ level }) => level === 'warning') ? 1 : 0
}
