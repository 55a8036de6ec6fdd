// Writes log lines to stderr: stdout belongs to MCP. A library would cost a seventh of the start-up budget. Never log a
// server's command, environment, headers or URL, or a cell's code: others write the log to files.
import { messageOf } from '../errors.ts'
import { visibleInline } from './text/visible.ts'

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
      const given = Object.entries(fields).filter(([, value]) => value !== undefined)
      const extra = given.map(([key, value]) => ` ${key}=${formatField(value)}`)
      write(`${new Date().toISOString()} ${lineLevel} ${message}${extra.join('')}\n`)
    }
  return { debug: at('debug'), info: at('info'), warning: at('warning'), error: at('error') }
}

/** Discards every line. */
export const SILENT: Log = { debug: () => {}, info: () => {}, warning: () => {}, error: () => {} }

/** Formats a value on one line without what controls a terminal, so that outside text cannot forge a log line. */
function formatField(value: unknown): string {
  return visibleInline(JSON.stringify(value instanceof Error ? messageOf(value) : value) ?? 'undefined')
}
