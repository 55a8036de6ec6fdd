// The rows of one owner and kind.
import type { Database } from './database.ts'

export class OwnedRows {
  protected readonly database: Database
  protected readonly owner: string
  protected readonly kind: string

  constructor(database: Database, owner: string, kind: string) {
    this.database = database
    this.owner = owner
    this.kind = kind
  }

  /** @param text in which $1 is the owner, $2 the kind, and the values follow */
  protected async query<T extends object>(text: string, ...values: unknown[]): Promise<T[]> {
    return this.database.run(async (connection) => {
      return (await connection.query<T>(text, [this.owner, this.kind, ...values])).rows
    })
  }
}
