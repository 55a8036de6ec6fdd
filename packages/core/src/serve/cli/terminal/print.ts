// What commands write: stdout is theirs, except under `run`. Controls in the text of others are never printed.
import { styleText } from 'node:util'
import { visible, visibleInline } from '../../../util/text/visible.ts'

export { visible, visibleInline } from '../../../util/text/visible.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

interface Output {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** Where a command prints, and the variables that decide about colours. */
export interface PrintsTo {
  stdout: Output
  stderr: Output
  env: Readonly<Record<string, string | undefined>>
}

/** A cell of a table: plain text, or text with a style for terminals. */
export type Cell = string | { text: string; style: Style }

export type Printer = ReturnType<typeof printer>

const GAP = '  '
/** A narrower last column is not wrapped: the terminal wraps it. */
const MIN_WRAPPED_WIDTH = 20

/** Writes to these outputs. Styles are plain in a pipe, and with NO_COLOR or TERM=dumb (https://no-color.org). */
export function printer(to: PrintsTo) {
  const isTerminal = (): boolean => to.stdout.isTTY === true
  const hasColour = (): boolean => isTerminal() && !to.env['NO_COLOR'] && to.env['TERM'] !== 'dumb'
  const styled = (style: Style | undefined, text: string): string =>
    style !== undefined && text !== '' && hasColour() ? styleText(style, text, { validateStream: false }) : text
  const print = (text: string): void => void to.stdout.write(`${visible(text)}\n`)
  const tell = (text: string): void => void to.stderr.write(`${visible(text)}\n`)
  const lineOf = (row: readonly Part[], widths: readonly number[]): string => {
    const cells = row
      .slice(0, -1)
      .map(({ text, style }, column) => styled(style, text) + ' '.repeat(widths[column]! - text.length))
    const last = row.at(-1)!
    const indent = widths.slice(0, row.length - 1).reduce((sum, width) => sum + width + GAP.length, 0)
    const room = isTerminal() ? (to.stdout.columns || 80) - indent : Infinity
    const lines = room < MIN_WRAPPED_WIDTH ? [last.text] : wrapped(last.text, room)
    const ends = lines.map((line) => styled(last.style, line)).join(`\n${' '.repeat(indent)}`)
    return [...cells, ends].join(GAP).trimEnd()
  }
  return {
    print,
    /** For a person: on stderr, as stdout belongs to what a program reads. */
    tell,
    /** Prints untrusted text in a style. */
    printStyled: (style: Style, text: string): void => void to.stdout.write(`${styled(style, visible(text))}\n`),
    printJson: (value: unknown): void => print(JSON.stringify(value, null, 2)),
    /** Prints cells on one line. */
    printLine: (cells: readonly Cell[], gap = GAP): void => {
      const parts = cells.map(partOf).filter(({ text }) => text !== '')
      to.stdout.write(`${parts.map(({ text, style }) => styled(style, text)).join(gap)}\n`)
    },
    /**
     * Pads columns to their widest cell. In a terminal, a long last cell wraps within its column.
     * @param head column names; only shown in a terminal: in a pipe every line is a row
     */
    printTable: (table: readonly (readonly Cell[])[], { head }: { head?: readonly string[] } = {}): void => {
      if (table.length === 0) return
      const titles = head && isTerminal() ? [head.map((text): Cell => ({ text, style: 'dim' }))] : []
      const rows = [...titles, ...table].map((row) => row.map(partOf))
      const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.text.length ?? 0)))
      for (const row of rows) to.stdout.write(`${lineOf(row, widths)}\n`)
    },
    /** Prints a summary of a list, or the next step, only in a terminal. */
    printSummary: (text: string): void => {
      if (isTerminal()) to.stdout.write(`\n${styled('dim', visible(text))}\n`)
    },
    /** Tells a person that a list is empty; a program gets no output. */
    printEmpty: (text: string): void => {
      if (isTerminal()) print(text)
      else tell(text)
    },
  }
}

/** For commands that always run in a process of their own. */
export const { print, tell, printStyled, printJson, printTable, printSummary, printEmpty } = printer(process)

/** Indents text of others, so that none of its lines begins where a command's own lines do. */
export function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

interface Part {
  text: string
  style?: Style
}

function partOf(cell: Cell): Part {
  return typeof cell === 'string'
    ? { text: visibleInline(cell) }
    : { text: visibleInline(cell.text), style: cell.style }
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
