// Shortens a list for display. Pure.

/** Returns the first items, and the total if some are missing: `a, b, … (12 in all)`. */
export function firstOf(items: readonly string[], most = 20, separator = ', '): string {
  const shown = items.slice(0, most).join(separator)
  return items.length > most ? `${shown}${separator}… (${items.length} in all)` : shown
}
