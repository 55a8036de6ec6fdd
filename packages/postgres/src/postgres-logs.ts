// Logs as rows, one a line. A writer has its own log and positions: writing lines again changes nothing.
import { randomUUID } from 'node:crypto'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { LogInfo, Logs, LogWriter } from '@sandbridge/core/util/stores'
import type { Database } from './database.ts'
import { OwnedRows } from './owned-rows.ts'

const LINES_AT_ONCE = 1_000

export class PostgresLogs extends OwnedRows implements Logs {
  list(): Promise<LogInfo[]> {
    return this.query<LogInfo>(
      `SELECT name, bytes::float8 AS bytes, changed_at AS "changedAt", line_count AS "end"
       FROM sandbridge.logs WHERE owner = $1 AND kind = $2`,
    )
  }

  async *lines(name: string): AsyncGenerator<string> {
    for (let place = 0; ;) {
      const found = await this.linesAfter(name, place)
      yield* found.lines
      if (found.lines.length < LINES_AT_ONCE) return
      place = found.place
    }
  }

  async linesAfter(name: string, place: number): Promise<{ lines: string[]; place: number }> {
    const rows = await this.query<{ line: string; place: number }>(
      `SELECT line, place FROM sandbridge.log_lines JOIN sandbridge.logs ON id = log
       WHERE owner = $1 AND kind = $2 AND name = $3 AND place > $4 ORDER BY place LIMIT ${LINES_AT_ONCE}`,
      name,
      place,
    )
    return { lines: rows.map(({ line }) => line), place: rows.at(-1)?.place ?? place }
  }

  async lastLine(name: string): Promise<string | undefined> {
    const rows = await this.query<{ line: string }>(
      `SELECT line FROM sandbridge.log_lines JOIN sandbridge.logs ON id = log
       WHERE owner = $1 AND kind = $2 AND name = $3 ORDER BY place DESC LIMIT 1`,
      name,
    )
    return rows[0]?.line
  }

  /** Always false: a row is written whole or not at all. */
  isTorn(): Promise<boolean> {
    return Promise.resolve(false)
  }

  /** `isSynced` is ignored: the database always syncs. */
  async create(name: string): Promise<LogWriter> {
    const rows = await this.query<{ id: string }>(
      `INSERT INTO sandbridge.logs AS known (owner, kind, name, writer, changed_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (owner, kind, name) DO UPDATE SET changed_at = $5 WHERE known.writer = $4 RETURNING id`,
      name,
      randomUUID(),
      Date.now(),
    )
    if (rows[0]) return writerOf(this.database, rows[0].id)
    throw new BridgeError('STATE_UNWRITABLE', `The log ${name} is another writer's`, { hint: 'Retry.' })
  }

  async remove(name: string): Promise<void> {
    await this.query('DELETE FROM sandbridge.logs WHERE owner = $1 AND kind = $2 AND name = $3', name)
  }
}

function writerOf(database: Database, id: string): LogWriter {
  let written = { bytes: 0, lineCount: 0 }
  return {
    /**
     * Writes all lines in one statement. Lines of an earlier attempt whose reply was lost are written again at the same
     * positions.
     */
    append: async (lines) => {
      const bytes = written.bytes + lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
      const lineCount = written.lineCount + lines.length
      const added = await database.run((connection) =>
        connection.query(
          `WITH log AS (
             UPDATE sandbridge.logs SET bytes = $4, line_count = $5, changed_at = $6 WHERE id = $1 RETURNING id
           )
           INSERT INTO sandbridge.log_lines (log, place, line)
           SELECT log.id, $2 + added.number, added.line
           FROM log, unnest($3::text[]) WITH ORDINALITY AS added (line, number)
           ON CONFLICT (log, place) DO UPDATE SET line = EXCLUDED.line`,
          [id, written.lineCount, lines, bytes, lineCount, Date.now()],
        ),
      )
      if (lines.length > 0 && added.rowCount === 0) return undefined
      written = { bytes, lineCount }
      return bytes
    },
    close: () => Promise.resolve(),
  }
}
