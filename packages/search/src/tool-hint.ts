// Adds tools to the hint of a cell that failed to reach the network or the host's files. A search always returns
// something, and an unrelated tool would mislead: a tool's own words must say that it does this.
import type { ToolDoc } from '@sandbridge/core/calls/catalog'
import type { CellError } from '@sandbridge/core/cell'
import type { SearchPart } from '@sandbridge/core/parts'
import { withTimeout } from '@sandbridge/core/util/async'
import { stems } from './index/tokenize.ts'

const MAX_TOOLS = 2
const MAX_LOOKED_AT = 10
/** A hint is not worth a longer wait. */
const TIMEOUT_MS = 1_000
const MAX_QUERY_CHARS = 200

/** By the first word of the search: a tool must mention one of these verbs and one of these objects. */
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

export async function withToolHint(
  ...[failed, find, servers]: Parameters<SearchPart['withToolHint']>
): Promise<CellError> {
  if (!failed.search) return failed
  const options = { limit: MAX_LOOKED_AT, servers, detail: 'summary' as const }
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const search = find(failed.search.slice(0, MAX_QUERY_CHARS), options, signal)
  const found = await withTimeout(search, TIMEOUT_MS, () => []).catch(() => [])
  const fitting = found.filter((tool) => fits(tool, failed.search!)).slice(0, MAX_TOOLS)
  if (fitting.length === 0) return failed
  const lines = fitting.map(({ line }) => `  ${line}`)
  return { ...failed, hint: `${failed.hint ?? ''} Tools that may do it:\n${lines.join('\n')}`.trim() }
}

/** Whether the tool's names, parameters and first sentence fit, or its server is named like the unreachable host. */
function fits(tool: ToolDoc, search: string): boolean {
  const wanted = stems(search)
  const groups = FITTING.get(wanted[0] ?? '')
  if (groups === undefined) return true
  const own = new Set(stems(`${tool.tool} ${tool.line}`))
  const known = new Set(groups.flatMap(stems))
  const isOfHost = stems(tool.server).some((word) => wanted.includes(word) && !known.has(word))
  return isOfHost || groups.every((group) => stems(group).some((word) => own.has(word)))
}
