// All stores in one PostgreSQL database that any number of bridges can use at once. Loaded only if MCP_BRIDGE_STORAGE
// is set.
import type { Document, Logs, Store, Stores, Versions } from '../store.ts'
import { Database, type Connection } from './database.ts'
import { PostgresLogs } from './postgres-logs.ts'
import { PostgresVersions } from './postgres-versions.ts'
import { randomUUID } from 'node:crypto'

/**
 * Connects, and creates the tables the first time.
 * @param ownerOf returns the owner column for a user's rows
 * @throws BridgeError STATE_UNWRITABLE
 */
export async function openPostgres(url: string, ownerOf: (user: string | undefined) => string): Promise<Stores> {
  const database = new Database(url)
  await database.run((connection) => connection.query('SELECT 1'))
  return new PostgresStores(database, ownerOf)
}

class PostgresStores implements Stores {
  readonly isShared = true
  readonly #database: Database
  readonly #ownerOf: (user: string | undefined) => string
  readonly #byOwner = new Map<string, Store>()

  constructor(database: Database, ownerOf: (user: string | undefined) => string) {
    this.#database = database
    this.#ownerOf = ownerOf
  }

  of(user: string | undefined): Store {
    const owner = this.#ownerOf(user)
    const known = this.#byOwner.get(owner) ?? new PostgresStore(this.#database, owner)
    this.#byOwner.set(owner, known)
    return known
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}

class PostgresStore implements Store {
  readonly #database: Database
  readonly #owner: string
  readonly #documents = new Map<string, Document>()

  constructor(database: Database, owner: string) {
    this.#database = database
    this.#owner = owner
  }

  document(name: string): Document {
    const known = this.#documents.get(name) ?? new PostgresDocument(this.#database, this.#owner, name)
    this.#documents.set(name, known)
    return known
  }

  versions(kind: string, what: string): Versions {
    return new PostgresVersions(this.#database, this.#owner, kind, what)
  }

  logs(kind: string): Logs {
    return new PostgresLogs(this.#database, this.#owner, kind)
  }

  exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.#database.exclusively(JSON.stringify(['exclusive', this.#owner, name]), work)
  }
}

interface Row {
  content: string
  revision: string
}

class PostgresDocument implements Document {
  readonly place: string
  readonly #database: Database
  readonly #owner: string
  readonly #name: string

  constructor(database: Database, owner: string, name: string) {
    this.place = `${name} in PostgreSQL`
    this.#database = database
    this.#owner = owner
    this.#name = name
  }

  async read(): Promise<string | undefined> {
    return (await this.#database.run((connection) => this.#row(connection)))?.content
  }

  async update(change: (read: () => Promise<string | undefined>) => Promise<string>): Promise<void> {
    const revision = randomUUID()
    await this.#database.transaction(JSON.stringify(['document', this.#owner, this.#name]), async (connection) => {
      const row = await this.#row(connection)
      // An earlier attempt wrote it, and its reply was lost.
      if (row?.revision === revision) return
      const content = await change(() => Promise.resolve(row?.content))
      await connection.query(
        `INSERT INTO sandbridge.documents (owner, name, content, revision) VALUES ($1, $2, $3, $4)
         ON CONFLICT (owner, name) DO UPDATE SET content = $3, revision = $4, changed_at = now()`,
        [this.#owner, this.#name, content, revision],
      )
    })
  }

  async #row(connection: Connection): Promise<Row | undefined> {
    const { rows } = await connection.query<Row>(
      'SELECT content, revision FROM sandbridge.documents WHERE owner = $1 AND name = $2',
      [this.#owner, this.#name],
    )
    return rows[0]
  }
}
