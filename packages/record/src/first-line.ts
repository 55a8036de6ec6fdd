// The line that stands for a piece of code in a list. Pure.

const READ_CHARS = 1_000
const SHOWN_CHARS = 120

/** The first line of code that is not blank. */
export function firstLine(code: string): string {
  return code.slice(0, READ_CHARS).trim().split('\n', 1)[0]!.slice(0, SHOWN_CHARS)
}
