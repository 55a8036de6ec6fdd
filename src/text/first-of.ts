// A list that may be too long to show. Pure.

/** The first items, and how many there are where that is not all of them: `a, b, … (12 in all)`. */
export function firstOf(items: readonly string[], most = 20, separator = ', '): string {
  const shown = items.slice(0, most).join(separator)
  return items.length > most ? `${shown}${separator}… (${items.length} in all)` : shown
}
