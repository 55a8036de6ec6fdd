// What commands write for people and for other programs: stdout is theirs, except under `run`.
// Much of it was written by others: nothing leaves here that steers a terminal, or that shows as something else than it is.

/** Controls of a terminal (C0, C1), of the direction of writing, and characters without any width. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A text with everything that cannot be seen written as JSON would: `\u001b`. Lines stay lines. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => (/[\n\t]/.test(character) ? character : escaped(character)))
}

/** The same on one line: what was written by others cannot pass for a line of ours. */
export function visibleInline(text: string): string {
  return text.replace(UNSEEN, escaped)
}

function escaped(character: string): string {
  const unit = (index: number): string => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  return Array.from({ length: character.length }, (_, index) => unit(index)).join('')
}

export function print(text: string): void {
  process.stdout.write(`${visible(text)}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** Columns padded to their widest cell; the last one is as long as it is. */
export function printTable(table: readonly (readonly string[])[]): void {
  const rows = table.map((row) => row.map(visibleInline))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of rows) {
    print(
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
  }
}
