// Log lines on stderr, one a line: stdout belongs to MCP. A library would cost a seventh of the whole start-up budget for these few lines.
// Never pass a server's command, environment, headers or URL, nor a cell's code: what is logged ends up in files of other programs.
import { messageOf } from './errors.ts'

const LEVELS = ['debug', 'info', 'warning', 'error'] as const
export type LogLevel = (typeof LEVELS)[number]

type Fields = Record<string, unknown>
export type Log = Record<LogLevel, (message: string, fields?: Fields) => void>

export function createLog(level: LogLevel, write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const threshold = LEVELS.indexOf(level)
  const at =
    (lineLevel: LogLevel) =>
    (message: string, fields: Fields = {}) => {
      if (LEVELS.indexOf(lineLevel) < threshold) return
      const extra = Object.entries(fields).map(([key, value]) => ` ${key}=${formatField(value)}`)
      write(`${new Date().toISOString()} ${lineLevel} ${message}${extra.join('')}\n`)
    }
  return { debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error') }
}

/** Says nothing. */
export const SILENT: Log = { debug: () => {}, info: () => {}, warning: () => {}, error: () => {} }

/** On one line and without control characters, so that text from outside cannot forge a log line. */
function formatField(value: unknown): string {
  return JSON.stringify(value instanceof Error ? messageOf(value) : value) ?? 'undefined'
}
