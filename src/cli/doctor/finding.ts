// A finding of `sandbridge doctor`, and what to do about it.

export interface Finding {
  /** The area that was checked: `folders`, `servers`. */
  check: string
  level: 'ok' | 'warning' | 'broken'
  message: string
  /** What to do. */
  advice?: string
  /** Applies the advice, if nothing can be lost by it. */
  fix?: () => Promise<void>
}

/** 0 when all is well, 1 for warnings, 2 when something is broken. */
export function exitCodeOf(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'broken')) return 2
  return findings.some(({ level }) => level === 'warning') ? 1 : 0
}
