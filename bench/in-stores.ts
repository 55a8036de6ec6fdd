// Rows of stored state, in files and in PostgreSQL. An HTTP request waits for the look-up of its token, a cell for what
// it saves; nothing else is on a hot path.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { openStores } from '../packages/core/src/util/stores/open-stores.ts'
import type { Store } from '../packages/core/src/util/stores/store.ts'
import { type BenchRow, reported } from './row.ts'

/** Of a package that can be missing. */
const POSTGRES = path.join(import.meta.dirname, '../packages/postgres/test/support/postgres.ts')

interface PostgresSupport {
  NO_POSTGRES: string | undefined
  TestPostgres: { start(): Promise<{ database(): Promise<string>; remove(): Promise<void> }> }
}

/** @param measure returns names of rows with what was measured */
export async function rowsInStores(measure: (store: Store) => Promise<[string, string][]>): Promise<BenchRow[]> {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'sb-storage-'))
  const rowsOf = async (kind: string, storage?: string): Promise<BenchRow[]> => {
    const stores = await openStores({ stateDir, storage })
    const rows = await measure(stores.of(undefined))
    await stores.close()
    return rows.map(([name, value]) => reported(`${kind}: ${name}`, value))
  }
  const support = existsSync(POSTGRES) && ((await import(pathToFileURL(POSTGRES).href)) as PostgresSupport)
  const postgres = support && support.NO_POSTGRES === undefined ? await support.TestPostgres.start() : undefined
  try {
    const files = await rowsOf('files')
    return postgres ? [...files, ...(await rowsOf('PostgreSQL', await postgres.database()))] : files
  } finally {
    await postgres?.remove()
    rmSync(stateDir, { recursive: true, force: true })
  }
}
