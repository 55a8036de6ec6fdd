// Numbers, times, lists and sandboxes in sentences. Pure.

/** Returns `1 tool`, `12 tools`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  // A process pays 10 ms for the first number that is written for a language.
  return `${number < 1_000 ? number : number.toLocaleString('en')} ${number === 1 ? noun : plural}`
}

const UNITS: [string, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]

/** Returns a text such as `3 minutes ago`. */
export function ago(then: number, now: number): string {
  for (const [unit, ms] of UNITS) if (now - then >= ms) return `${count(Math.floor((now - then) / ms), unit)} ago`
  return 'just now'
}

/** Whole numbers unchanged; others with two decimals, or three digits if they are below 1. */
export function shortNumber(value: number): string {
  if (Number.isInteger(value)) return String(value)
  return String(Number(Math.abs(value) >= 1 ? value.toFixed(2) : value.toPrecision(3)))
}

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

/** `pyodide` says nothing to a reader who has not chosen it; the other providers are programs of the machine. */
export function sandboxName(provider: string): string {
  return provider === 'pyodide' ? 'embedded (pyodide)' : provider
}
