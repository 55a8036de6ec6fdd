// Formats counts of things. Pure.

/** Returns `1 tool`, `12 tools`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : plural}`
}
