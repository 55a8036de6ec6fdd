// Lists in a sentence. Pure.

/** Returns the first items, and the total if some are missing: `a, b, … (12 in all)`. */
export function firstOf(items: readonly string[], most = 20, separator = ', '): string {
  const shown = items.slice(0, most).join(separator)
  return items.length > most ? `${shown}${separator}… (${items.length} in all)` : shown
}

/** Returns `a`, `a and b`, `a, b and c`; with a count of further ones, `a, b and 3 more`. */
export function listText(all: readonly string[], moreCount = 0): string {
  const last = moreCount > 0 ? `${moreCount} more` : all.at(-1)
  const before = moreCount > 0 ? all : all.slice(0, -1)
  return before.length === 0 ? (last ?? '') : `${before.join(', ')} and ${last}`
}
