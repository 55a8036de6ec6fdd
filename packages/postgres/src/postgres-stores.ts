// All stores in one PostgreSQL database for any number of bridges; loaded only with MCP_BRIDGE_STORAGE.
import type { Document, Store, Stores } from '@sandbridge/core/util/stores'
import { Database, type Connection } from './database.ts'
import { PostgresLogs } from './postgres-logs.ts'
import { PostgresVersions } from './postgres-versions.ts'
import { randomUUID } from 'node:crypto'

/** See `PostgresPart`. */
export async function openPostgres(url: string, ownerOf: (user: string | undefined) => string): Promise<Stores> {
  const database = new Database(url)
  await database.run((connection) => connection.query('SELECT 1'))
  const byOwner = new Map<string, Store>()
  return {
    isShared: true,
    of: (user) => {
      const owner = ownerOf(user)
      const known = byOwner.get(owner) ?? storeOf(database, owner)
      byOwner.set(owner, known)
      return known
    },
    close: () => database.close(),
  }
}

function storeOf(database: Database, owner: string): Store {
  const documents = new Map<string, Document>()
  return {
    document: (name) => {
      const known = documents.get(name) ?? documentOf(database, owner, name)
      documents.set(name, known)
      return known
    },
    versions: (kind, what) => new PostgresVersions(database, owner, kind, what),
    logs: (kind) => new PostgresLogs(database, owner, kind),
    exclusively: (name, work) => database.exclusively(JSON.stringify(['exclusive', owner, name]), work),
  }
}

interface Row {
  content: string
  revision: string
}

function documentOf(database: Database, owner: string, name: string): Document {
  const rowIn = async (connection: Connection): Promise<Row | undefined> => {
    const { rows } = await connection.query<Row>(
      'SELECT content, revision FROM sandbridge.documents WHERE owner = $1 AND name = $2',
      [owner, name],
    )
    return rows[0]
  }
  return {
    place: `${name} in PostgreSQL`,
    read: async () => (await database.run(rowIn))?.content,
    update: async (change) => {
      const revision = randomUUID()
      await database.transaction(JSON.stringify(['document', owner, name]), async (connection) => {
        const row = await rowIn(connection)
        // An earlier attempt wrote it, and its reply was lost.
        if (row?.revision === revision) return
        const content = await change(() => Promise.resolve(row?.content))
        await connection.query(
          `INSERT INTO sandbridge.documents (owner, name, content, revision) VALUES ($1, $2, $3, $4)
           ON CONFLICT (owner, name) DO UPDATE SET content = $3, revision = $4, changed_at = now()`,
          [owner, name, content, revision],
        )
      })
    },
  }
}
