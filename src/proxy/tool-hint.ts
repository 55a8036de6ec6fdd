// Adds to the hint of a failed cell which tools can do what its sandbox cannot: reach the network, read the host's files.
import { setTimeout as wait } from 'node:timers/promises'
import type { Catalog } from '../catalog/catalog.ts'
import type { CellError } from '../session/cell-result.ts'
import type { Scope } from './scope.ts'

const MAX_TOOLS = 2
/** A hint is worth no more of anyone's time. */
const TIMEOUT_MS = 1_000
const MAX_QUERY_CHARS = 200

/** The error with such tools in its hint, when it has words to search for and something is found. Never throws. */
export async function withToolHint(failed: CellError, catalog: Catalog, scope: Scope): Promise<CellError> {
  const servers = scope.servers.map((server) => server.name)
  if (!failed.search || servers.length === 0) return failed
  const options = { limit: MAX_TOOLS, servers, detail: 'summary' as const }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const search = catalog.search(failed.search.slice(0, MAX_QUERY_CHARS), options, signal)
  const found = await Promise.race([search, wait(TIMEOUT_MS, [], { ref: false })]).catch(() => [])
  if (found.length === 0) return failed
  const lines = found.map(({ line }) => `  ${line}`)
  return { ...failed, hint: `${failed.hint ?? ''} Tools that may do it:\n${lines.join('\n')}`.trim() }
}
