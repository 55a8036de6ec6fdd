// A database that several bridges share, as far as the core knows it.
import { Part } from '../part.ts'
import type { Stores } from './store.ts'

export const postgres = new Part<PostgresPart>('PostgreSQL')

interface PostgresPart {
  /**
   * Connects, and creates the tables the first time.
   * @param ownerOf returns the owner column for a user's rows
   * @throws BridgeError STATE_UNWRITABLE
   */
  openPostgres: (url: string, ownerOf: (user: string | undefined) => string) => Promise<Stores>
}
