// A document in a row.
import { randomUUID } from 'node:crypto'
import type { Document } from '../store.ts'
import type { Connection, Database } from './database.ts'

interface Row {
  content: string
  revision: string
}

export class PostgresDocument implements Document {
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
