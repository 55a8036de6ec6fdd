// Versions as rows. Bridges that add to one name wait for each other: each gets a number, and none is lost.
import { randomUUID } from 'node:crypto'
import { BridgeError } from '@sandbridge/core/errors.ts'
import {
  checkStoredName,
  type Piece,
  refuseOtherCase,
  type VersionFile,
  type Versions,
} from '@sandbridge/core/util/stores'
import type { Connection, Database } from './database.ts'
import { OwnedRows } from './owned-rows.ts'

/** Read in pieces: bytes arrive as text of twice their size. */
const PIECE_BYTES = 4 << 20

export class PostgresVersions extends OwnedRows implements Versions {
  readonly #what: string

  constructor(database: Database, owner: string, kind: string, what: string) {
    super(database, owner, kind)
    this.#what = what
  }

  all(): Promise<Map<string, number[]>> {
    return this.database.run((connection) => this.#all(connection))
  }

  async versions(name: string): Promise<number[]> {
    const checked = this.#check(name)
    const rows = await this.query<{ version: number }>(
      `SELECT version FROM sandbridge.versions WHERE owner = $1 AND kind = $2 AND name = $3 ORDER BY version`,
      checked,
    )
    return rows.map(({ version }) => version)
  }

  async add(name: string, files: Record<string, Uint8Array | string>): Promise<number> {
    const checked = this.#check(name)
    const addition = randomUUID()
    // Serialises all names of this kind: two may differ only in case.
    const lock = JSON.stringify(['versions', this.owner, this.kind])
    return this.database.transaction(lock, async (connection) => {
      const made = await connection.query<{ version: number }>(
        'SELECT version FROM sandbridge.versions WHERE addition = $1',
        [addition],
      )
      // An earlier attempt added it, and its reply was lost.
      if (made.rows[0]) return made.rows[0].version
      refuseOtherCase(checked, (await this.#all(connection)).keys())
      return this.#insert(connection, checked, addition, files)
    })
  }

  async read(name: string, version: number, file: string, piece?: Piece): Promise<Buffer> {
    const key = [this.#check(name), version, file] as const
    const { offset, length } = piece ?? { offset: 0, length: Infinity }
    const end = offset + length
    const read: Buffer[] = []
    for (let at = offset; at < end; at += PIECE_BYTES) {
      const part = await this.#piece(key, at, Math.min(PIECE_BYTES, end - at))
      read.push(part)
      if (part.length < PIECE_BYTES) break
    }
    return read.length === 1 ? read[0]! : Buffer.concat(read)
  }

  async readEach(file: string, name?: string): Promise<VersionFile[]> {
    const one = name === undefined ? [] : [this.#check(name)]
    return this.query<{ name: string; version: number; data: Buffer }>(
      `SELECT name, version, content AS data FROM sandbridge.version_files
       WHERE owner = $1 AND kind = $2 ${name === undefined ? '' : 'AND name = $3'} AND file = $${3 + one.length}
       ORDER BY name, version`,
      ...one,
      file,
    )
  }

  async remove(name: string): Promise<boolean> {
    const rows = await this.query(
      'DELETE FROM sandbridge.versions WHERE owner = $1 AND kind = $2 AND name = $3 RETURNING version',
      this.#check(name),
    )
    return rows.length > 0
  }

  #check(name: string): string {
    return checkStoredName(name, this.#what)
  }

  async #all(connection: Connection): Promise<Map<string, number[]>> {
    const { rows } = await connection.query<{ name: string; versions: number[] }>(
      `SELECT name, array_agg(version ORDER BY version) AS versions FROM sandbridge.versions
       WHERE owner = $1 AND kind = $2 GROUP BY name ORDER BY name`,
      [this.owner, this.kind],
    )
    return new Map(rows.map(({ name, versions }) => [name, versions]))
  }

  async #piece(key: readonly [string, number, string], offset: number, length: number): Promise<Buffer> {
    // PostgreSQL counts bytes from 1.
    const rows = await this.query<{ content: Buffer }>(
      `SELECT substring(content FROM $6 FOR $7) AS content FROM sandbridge.version_files
       WHERE owner = $1 AND kind = $2 AND name = $3 AND version = $4 AND file = $5`,
      ...key,
      offset + 1,
      length,
    )
    if (rows[0]) return rows[0].content
    throw new BridgeError('STATE_NOT_FOUND', `Version ${key[1]} of '${key[0]}' cannot be read`)
  }

  async #insert(
    connection: Connection,
    name: string,
    addition: string,
    files: Record<string, Uint8Array | string>,
  ): Promise<number> {
    const { rows } = await connection.query<{ last_version: number }>(
      `INSERT INTO sandbridge.names AS known (owner, kind, name, last_version) VALUES ($1, $2, $3, 1)
       ON CONFLICT (owner, kind, name) DO UPDATE SET last_version = known.last_version + 1 RETURNING last_version`,
      [this.owner, this.kind, name],
    )
    const key = [this.owner, this.kind, name, rows[0]!.last_version]
    await connection.query(
      'INSERT INTO sandbridge.versions (owner, kind, name, version, addition) VALUES ($1, $2, $3, $4, $5)',
      [...key, addition],
    )
    for (const [file, data] of Object.entries(files)) {
      await connection.query(
        'INSERT INTO sandbridge.version_files (owner, kind, name, version, file, content) VALUES ($1, $2, $3, $4, $5, $6)',
        [...key, file, Buffer.from(data as Uint8Array)],
      )
    }
    return rows[0]!.last_version
  }
}
