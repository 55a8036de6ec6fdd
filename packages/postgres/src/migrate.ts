// Upgrades the tables to this version. When bridges start at once, one upgrades and the others wait.
import type { ClientBase } from 'pg'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { MIGRATIONS } from './migrations.ts'

type Queried = Pick<ClientBase, 'query'>

/**
 * @throws BridgeError STATE_UNWRITABLE if a newer version has changed the tables or an unknown one made them, and what
 * the driver throws
 */
export async function migrate(connection: Queried, migrations: readonly string[] = MIGRATIONS): Promise<void> {
  // Changes nothing if the tables are current: a database user without the right to create tables can still use them.
  if ((await numberOf(connection)) === migrations.length) return
  await connection.query('BEGIN')
  await connection.query(`SELECT pg_advisory_xact_lock(hashtextextended('sandbridge migrations', 0))`)
  let number = await numberOf(connection)
  if (number > migrations.length) {
    throw new BridgeError('STATE_UNWRITABLE', 'The database was changed by a newer version of Sandbridge', {
      hint: 'Update this bridge.',
    })
  }
  if (number === 0) {
    await connection.query('CREATE SCHEMA IF NOT EXISTS sandbridge')
    await refuseUnknownTables(connection)
    await connection.query(
      'CREATE TABLE IF NOT EXISTS sandbridge.migrations (number integer PRIMARY KEY, made_at timestamptz NOT NULL DEFAULT now())',
    )
  }
  for (const step of migrations.slice(number)) {
    number += 1
    await connection.query(step)
    await connection.query('INSERT INTO sandbridge.migrations (number) VALUES ($1)', [number])
  }
  await connection.query('COMMIT')
}

/** Tables without a number, such as those of a backup that was restored in part, may be of any version. */
async function refuseUnknownTables(connection: Queried): Promise<void> {
  const { rows } = await connection.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'sandbridge' AND tablename <> 'migrations' ORDER BY tablename`,
  )
  if (rows.length === 0) return
  const tables = rows.map(({ tablename }) => tablename).join(', ')
  const problem = 'sandbridge.migrations is missing or empty, so the version of the other tables is unknown'
  throw new BridgeError('STATE_UNWRITABLE', `The database has tables of Sandbridge (${tables}), but ${problem}`, {
    hint:
      'Restore sandbridge.migrations from the backup of the other tables. To start without them: ' +
      'ALTER SCHEMA sandbridge RENAME TO sandbridge_old. The bridge then creates new tables, and deletes nothing.',
  })
}

/** Returns the number of the last migration; 0 if there is none. */
async function numberOf(connection: Queried): Promise<number> {
  // Not to_regclass(): it may use a cached result from before another bridge created the table.
  const { rows } = await connection.query(
    `SELECT 1 FROM pg_tables WHERE schemaname = 'sandbridge' AND tablename = 'migrations'`,
  )
  if (rows.length === 0) return 0
  const made = await connection.query<{ last: number | null }>('SELECT max(number) AS last FROM sandbridge.migrations')
  return made.rows[0]!.last ?? 0
}
