// What commands write for people and for other programs: stdout is theirs, except under `run`.
// Much of the text is written by others: control sequences and characters that display as something else are never
// printed.
import { styleText } from 'node:util'
import { visible, visibleInline } from '../../util/text/visible.ts'

export { visible, visibleInline } from '../../util/text/visible.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

interface Output {
  isTTY?: boolean
}

/**
 * Plain in a pipe, and with NO_COLOR or TERM=dumb (https://no-color.org).
 * @param output where the text will be written
 */
function styled(style: Style, text: string, output: Output = process.stdout): string {
  return hasColour(output) && text !== '' ? styleText(style, text) : text
}

function hasColour({ isTTY }: Output): boolean {
  const { NO_COLOR: none, TERM: terminal } = process.env
  return isTTY === true && !none && terminal !== 'dumb'
}

export function print(text: string): void {
  process.stdout.write(`${visible(text)}\n`)
}

/** Indents text of others, so that none of its lines begins where a command's own lines do. */
export function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

/** Prints untrusted text in a style. */
export function printStyled(style: Style, text: string): void {
  process.stdout.write(`${styled(style, visible(text))}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** A cell of a table: plain text, or text with a style for terminals. */
export type Cell = string | { text: string; style: Style }

/** Prints cells on one line. */
export function printLine(cells: readonly Cell[], gap = GAP): void {
  const parts = cells.map(partOf).filter(({ text }) => text !== '')
  process.stdout.write(`${parts.map(({ text, style }) => inStyle(style, text)).join(gap)}\n`)
}

interface TableOptions {
  /** Column names. Only shown in a terminal: in a pipe every line is a row. */
  head?: readonly string[]
}

const GAP = '  '
/** A narrower last column is not wrapped: the terminal wraps it. */
const MIN_WRAPPED_WIDTH = 20

/** Pads columns to their widest cell. In a terminal, a long last cell continues below itself. */
export function printTable(table: readonly (readonly Cell[])[], { head }: TableOptions = {}): void {
  if (table.length === 0) return
  const isShownHead = head !== undefined && isTerminal()
  const titles = isShownHead ? [head.map((text): Cell => ({ text, style: 'dim' }))] : []
  const rows = [...titles, ...table].map((row) => row.map(partOf))
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.text.length ?? 0)))
  for (const row of rows) process.stdout.write(`${lineOf(row, widths)}\n`)
}

/** Prints a summary of a list, or the next step, only in a terminal. */
export function printSummary(text: string): void {
  if (isTerminal()) process.stdout.write(`\n${styled('dim', visible(text))}\n`)
}

/** Tells a person that a list is empty; a program gets no output. */
export function printEmpty(text: string): void {
  if (isTerminal()) print(text)
  else process.stderr.write(`${visible(text)}\n`)
}

const isTerminal = (): boolean => process.stdout.isTTY

interface Part {
  text: string
  style?: Style
}

function partOf(cell: Cell): Part {
  return typeof cell === 'string'
    ? { text: visibleInline(cell) }
    : { text: visibleInline(cell.text), style: cell.style }
}

function lineOf(row: readonly Part[], widths: readonly number[]): string {
  const cells = row.slice(0, -1).map(({ text, style }, column) => {
    const gap = ' '.repeat(widths[column]! - text.length)
    return inStyle(style, text) + gap
  })
  const last = row.at(-1)!
  const indent = widths.slice(0, row.length - 1).reduce((sum, width) => sum + width + GAP.length, 0)
  const room = isTerminal() ? (process.stdout.columns || 80) - indent : Infinity
  const lines = room < MIN_WRAPPED_WIDTH ? [last.text] : wrapped(last.text, room)
  const ends = lines.map((line) => inStyle(last.style, line)).join(`\n${' '.repeat(indent)}`)
  return [...cells, ends].join(GAP).trimEnd()
}

function inStyle(style: Style | undefined, text: string): string {
  return style === undefined ? text : styled(style, text)
}

/** Breaks a text at spaces into lines of at most `width` characters; a longer word gets its own line. */
function wrapped(text: string, width: number): string[] {
  if (text.length <= width) return [text]
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
