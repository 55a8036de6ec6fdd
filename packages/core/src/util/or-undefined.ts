// For what throws where it has no answer, and its reason helps nobody. Pure.

/** What `work` returns; undefined where it throws. */
export function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
