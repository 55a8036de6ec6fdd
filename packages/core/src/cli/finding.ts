// A finding of `sandbridge doctor`, and what to do about it.

export interface Finding {
  /** The area that was checked: `folders`, `servers`. */
  check: string
  level: 'ok' | 'warning' | 'broken'
  message: string
  advice?: string
  /** Applies the advice, if nothing can be lost by it. */
  fix?: () => Promise<void>
}
