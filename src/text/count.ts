// Numbers of things in words. Pure.

/** `1 tool`, `12 tools`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}
