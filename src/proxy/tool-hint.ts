// Adds to the hint of a failed cell which tools can do what its sandbox cannot: reach the network, read the host's files.
// A search always finds something; here a tool that does something else would only mislead, so it must say that it does this.
import type { Catalog } from '../catalog/catalog.ts'
import { stems } from '../catalog/search/tokenize.ts'
import type { ToolDoc } from '../catalog/calls/tool-doc.ts'
import { withTimeout } from '../process/wait.ts'
import type { CellError } from '../cell/cell-result.ts'
import type { Scope } from './scope.ts'

const MAX_TOOLS = 2
const MAX_LOOKED_AT = 10
/** A hint is worth no more of anyone's time. */
const TIMEOUT_MS = 1_000
const MAX_QUERY_CHARS = 200

/** What a tool must say of itself, by the first word of the search: something that it does, and something that it does it to. */
const FITTING = new Map([
  [
    'fetch',
    [
      'fetch get download request browse navigate visit crawl scrape retrieve load read open',
      'url uri web website webpage http https internet html page browser',
    ],
  ],
  ['read', ['read get open view load list retrieve fetch', 'file directory folder path filesystem']],
  ['git', ['get read search list clone fetch', 'git repository repo']],
])

/** The error with such tools in its hint, when it has words to search for and something is found. Never throws. */
export async function withToolHint(failed: CellError, catalog: Catalog, scope: Scope): Promise<CellError> {
  const servers = scope.servers.map((server) => server.name)
  if (!failed.search || servers.length === 0) return failed
  const options = { limit: MAX_LOOKED_AT, servers, detail: 'summary' as const }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const search = catalog.search(failed.search.slice(0, MAX_QUERY_CHARS), options, signal)
  const found = await withTimeout(search, TIMEOUT_MS, () => []).catch(() => [])
  const fitting = found.filter((tool) => fits(tool, failed.search!)).slice(0, MAX_TOOLS)
  if (fitting.length === 0) return failed
  const lines = fitting.map(({ line }) => `  ${line}`)
  return { ...failed, hint: `${failed.hint ?? ''} Tools that may do it:\n${lines.join('\n')}`.trim() }
}

/** By its names, its parameters and its first sentence, or because its server is called as the host is that could not be reached. */
function fits(tool: ToolDoc, search: string): boolean {
  const wanted = stems(search)
  const groups = FITTING.get(wanted[0] ?? '')
  if (groups === undefined) return true
  const own = new Set(stems(`${tool.tool} ${tool.line}`))
  const known = new Set(groups.flatMap(stems))
  const isOfHost = stems(tool.server).some((word) => wanted.includes(word) && !known.has(word))
  return isOfHost || groups.every((group) => stems(group).some((word) => own.has(word)))
}
