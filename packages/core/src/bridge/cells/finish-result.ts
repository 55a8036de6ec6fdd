// Turns a session's result into the one that the cell's reader gets. No other code changes a result after its session.
import type { Catalog } from '../../calls/catalog/catalog.ts'
import type { CellError, CellResult } from '../../cell/cell-result.ts'
import type { Scope } from '../../calls/scope.ts'
import { withTrustHint } from '../../calls/trust-hint.ts'
import { joinParts } from '../../cell/render/parts.ts'
import { type ShownResult, withParts } from '../../cell/render/render-result.ts'
import { stems } from '../../calls/catalog/search/tokenize.ts'
import type { ToolDoc } from '../../calls/catalog/arguments/tool-doc.ts'
import { withTimeout } from '../../util/async/wait.ts'
import type { Cell, RunCellRequest } from './cell.ts'

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

/** Adds hints, notes and artifacts, masks personal data, and keeps the text as shown. Never rejects. */
export async function finishResult(
  ran: CellResult,
  { session, set, scope, forPerson, notes, savedArtifacts: artifacts, masker }: Cell,
  { servers, signal }: RunCellRequest,
): Promise<ShownResult> {
  const hinted = ran.error && (await withToolHint(ran.error, set.connected.catalog, scope))
  // A call that names its servers needs no others.
  const untrusted = servers ? [] : set.configured.discovered.untrusted
  const error = hinted && withTrustHint(hinted, untrusted, forPerson)
  const whole: CellResult = {
    ...ran,
    ...(error && { error }),
    notes: [...ran.notes, ...notes],
    ...(artifacts.length > 0 && { artifacts }),
  }
  const result = withParts(masker ? await masker.result(whole, signal) : whole)
  const outputUri = ran.cell === undefined ? undefined : session.outputs.keep(ran.cell, joinParts(result.parts))
  return { ...result, ...(outputUri && { outputUri }) }
}

// Adds tools to the hint of a cell that failed to reach the network or the host's files. A search always returns
// something, and an unrelated tool would mislead: a tool's own words must say that it does this.

/** Returns the error with suitable tools in its hint, if a search by its words finds some. Never throws. */
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
