// Describes an error for a cell's result: what it is, where in the cells it occurred, and the source line.
import util from 'node:util'

export interface Failure {
  name: string
  message: string
  traceback: string
}

/** Sources of cells, for the lines in errors. Forgets the oldest. */
export class Sources {
  readonly #lines = new Map<string, string[]>()

  add(file: string, source: string): void {
    this.#lines.set(file, source.split('\n'))
    if (this.#lines.size > 100) this.#lines.delete(this.#lines.keys().next().value!)
  }

  line(file: string, number: number): string | undefined {
    return this.#lines.get(file)?.[number - 1]
  }
}

const PLACE = /(Cell \d+):(\d+)(?::(\d+))?/
const MAX_FRAMES = 20
const MAX_CAUSES = 5

export function describeFailure(error: unknown, sources: Sources): Failure {
  try {
    if (!(error instanceof Error) && !util.types.isNativeError(error)) {
      const message = util.inspect(error, { depth: 4 })
      return { name: 'Error', message, traceback: `Uncaught ${message}\n` }
    }
    const { name, message } = words(error)
    return { name, message, traceback: `${told(error, sources, 0)}\n` }
  } catch {
    return { name: 'Error', message: '', traceback: 'Error (it could not be formatted)\n' }
  }
}

/** Describes a syntax error. `loc` comes from the parser. */
export function describeSyntaxError(error: unknown, file: string, sources: Sources): Failure {
  const { loc, message } = error as { loc?: { line: number; column: number }; message: string }
  const text = message.replace(/ \(\d+:\d+\)$/, '')
  const place = loc ? `${where(file, loc.line, loc.column, sources)}\n` : `${file}\n`
  return { name: 'SyntaxError', message: text, traceback: `${place}SyntaxError: ${text}\n` }
}

/** Cells can assign any value to these properties. */
function words(error: Error): { name: string; message: string } {
  const { name, message }: { name: unknown; message: unknown } = error
  return { name: typeof name === 'string' && name !== '' ? name : 'Error', message: String(message) }
}

function told(error: Error, sources: Sources, depth: number): string {
  const { name, message } = words(error)
  const frames = placesOf(error)
  const [first] = frames
  const start = first ? `${where(first.file, first.line, undefined, sources)}\n` : ''
  const rest = frames.slice(1, MAX_FRAMES).map(({ text }) => `\n    ${text}`)
  const more = frames.length > MAX_FRAMES ? `\n    … ${frames.length - MAX_FRAMES} more` : ''
  const { cause, errors } = error as { cause?: unknown; errors?: unknown[] }
  const inner = [...(cause instanceof Error ? [cause] : []), ...(Array.isArray(errors) ? errors.slice(0, 5) : [])]
  const causes =
    depth < MAX_CAUSES
      ? inner.filter((one) => one instanceof Error).map((one) => `\nCaused by: ${told(one, sources, depth + 1)}`)
      : []
  return [start, `${name}: ${message}`, ...rest, more, ...causes].join('')
}

/** Returns the frames in cells, without all others. */
function placesOf(error: Error): { file: string; line: number; text: string }[] {
  const { name, message } = words(error)
  const { stack }: { stack?: unknown } = error
  const text = typeof stack === 'string' ? stack : ''
  const head = `${name}: ${message}`
  const lines = (text.startsWith(head) ? text.slice(head.length) : text).split('\n')
  return lines.flatMap((line) => {
    const found = line.startsWith('    at ') || /^Cell \d+:\d+$/.test(line) ? PLACE.exec(line) : null
    if (!found) return []
    const [place, file = '', number] = found
    // Without the column, which differs from the source's.
    return [{ file, line: Number(number), text: line.trim().replace(place, `${file}, line ${number}`) }]
  })
}

function where(file: string, line: number, column: number | undefined, sources: Sources): string {
  const source = sources.line(file, line)
  if (source === undefined || source.trim() === '') return `${file}, line ${line}`
  const shown = source.trim().slice(0, 200)
  const indent = source.length - source.trimStart().length
  const mark =
    column === undefined || column < indent || column - indent > 200 ? '' : `\n    ${' '.repeat(column - indent)}^`
  return `${file}, line ${line}\n    ${shown}${mark}`
}

/** Formats `error.stack` without frames of Node, of the runner, and of the code around a cell. */
export function stackOfCells(sources: Sources): (error: Error, sites: NodeJS.CallSite[]) => string {
  const isShown = (site: NodeJS.CallSite): boolean => {
    const file = site.getFileName() ?? 'node:'
    if (file.startsWith('node:') || file === process.argv[1]) return false
    return !/^Cell \d+$/.test(file) || sources.line(file, site.getLineNumber() ?? 0) !== undefined
  }
  return (error, sites) =>
    [
      firstLine(error),
      ...sites.filter(isShown).map((site) => `    at ${(site as { toString(): string }).toString()}`),
    ].join('\n')
}

function firstLine(error: Error): string {
  try {
    return Error.prototype.toString.call(error)
  } catch {
    return 'Error'
  }
}
