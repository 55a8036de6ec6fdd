// What a model needs to know beyond run_python's definition: `runtime.capability_summary()` and its resource. Pure.
import type { Catalog } from './catalog/catalog.ts'
import type { Settings } from '../config/settings/settings.ts'
import { oneLine, SERVER_WORDS_NOTE } from '../util/text/server-words.ts'
import type { Scope } from './scope.ts'

const GUIDE = `Find, by 2-4 wordings of a need: print(await runtime.search_tool_docs("create issue", "open ticket")) gives lines to paste. ${SERVER_WORDS_NOTE}
All tools of a server: await runtime.query_tool_docs("github"); in detail: query_tool_docs("github", tools=["create_issue"], detail="full").
Call: issue = await mcp_github.create_issue(owner="o", repo="r", title="t"); a failure is a runtime.MCPError. Many at once: asyncio.gather, but some servers mix them up.
Result: native, issue.number or issue["number"]; text is str, JSON in it parsed; raw=True gives the MCP result.
Also: await mcp_docs.resources(), .read_resource(uri), .prompts(), .get_prompt(name, topic="x").
Show: print() or the last expression. An image or figure: as last expression, or display(x).
Cut output: print(runtime.output(3)[a:b]), runtime.grep(3, "pattern"). A long cell: runtime.progress(done, total).
`

type Fact = 'session' | 'packages' | 'timeoutMs' | 'maxTimeoutMs' | 'runtimeIdleTimeoutMs'
export type SandboxFacts = Pick<Settings, Fact> & Partial<Pick<Settings, 'mount'>>

interface SummarisedServer {
  name: string
  alias: string
  description?: string | undefined
  /** Folders that it serves. */
  roots?: readonly string[]
  isUnavailable?: boolean
}

interface Summarised {
  servers: readonly SummarisedServer[]
  /** One line per tool. */
  savedTools: readonly string[]
  facts: SandboxFacts
  /** Servers that a cell reaches only when its call names them. */
  unloaded?: readonly SummarisedServer[]
}

/** Returns the guide, then one line for each server and saved tool. */
export function capabilitySummary({ servers, savedTools, facts, unloaded = [] }: Summarised): string {
  const saved = savedTools.slice(0, MAX_SAVED_SHOWN).map((line) => `- ${line}`)
  const more = savedTools.length - saved.length
  if (more > 0) saved.push(`- and ${more} more: runtime.list_saved_tools()`)
  const byName = `Servers available by name, as in servers=${JSON.stringify([unloaded[0]?.name])}`
  return [
    `${introduction(facts)}\n\n${GUIDE}${limits(facts)}`,
    ...(servers.length > 0 ? [`Servers (${servers.length}):\n${serverLines(servers)}`] : []),
    ...(unloaded[0] ? [`${byName} (${unloaded.length}):\n${serverLines(unloaded)}`] : []),
    ...(servers.length + unloaded.length === 0 ? ['No MCP server is available.'] : []),
    ...(saved.length > 0 ? [`Saved tools (${savedTools.length}):\n${saved.join('\n')}`] : []),
  ].join('\n\n')
}

/** The servers in scope, in the form the summary shows. */
export function summarisedServers(catalog: Catalog, scope: Scope): SummarisedServer[] {
  const inScope = catalog.servers().filter((server) => scope.has(server.name))
  return inScope.map(({ name, alias, description, problem, state, toolCount }) => ({
    name,
    alias,
    description,
    roots: catalog.of(name).roots,
    // A server may run and refuse to list its tools.
    isUnavailable: problem !== undefined && (state !== 'running' || toolCount === undefined),
  }))
}

const MAX_SAVED_SHOWN = 20
/** A search finds the tools of further servers as well. */
const MAX_SERVERS_SHOWN = 100
/** Characters for all servers' descriptions together; fewer servers get longer descriptions. */
const MAX_WORDS = 2000
const MIN_PHRASE = 40

function serverLines(servers: readonly SummarisedServer[]): string {
  const limit = Math.max(MIN_PHRASE, Math.floor(MAX_WORDS / servers.length))
  const isCut = servers.length > MAX_SERVERS_SHOWN
  const inOrder = isCut
    ? servers.toSorted((a, b) => Number(a.isUnavailable ?? false) - Number(b.isUnavailable ?? false))
    : servers
  const lines = inOrder
    .slice(0, MAX_SERVERS_SHOWN)
    .map(({ name, alias, description = '', roots = [], isUnavailable }) => {
      const variable = `mcp_${alias}${alias === name ? '' : ` (${name})`}`
      if (isUnavailable) return `- ${variable}: unavailable`
      const folders = roots.length === 0 ? [] : [`serves ${roots.join(', ')}`]
      const words = [...(description === '' ? [] : [oneLine(description, limit)]), ...folders].join('; ')
      return `- ${variable}${words === '' ? '' : `: ${words}`}`
    })
  if (isCut) lines.push(`- and ${servers.length - MAX_SERVERS_SHOWN} more: runtime.discovered_servers()`)
  return lines.join('\n')
}

function introduction({ mount, packages }: SandboxFacts): string {
  const files = mount
    ? `Of the host's files it has /mnt/${lastPart(mount.path)}, ${mount.mode === 'rw' ? 'to read and write' : 'read-only'}.`
    : 'It reaches host files through tools only.'
  const installed = packages.length === 0 ? '' : ` Installed: ${packages.map((one) => lastPart(one)).join(', ')}.`
  return `run_python runs Python, with top-level await, in a sandbox without a network: only the MCP servers below reach out. ${files}${installed}`
}

/** How long a cell may take, and how long its variables are kept. */
function limits({ session, timeoutMs, maxTimeoutMs, runtimeIdleTimeoutMs }: SandboxFacts): string {
  const stays =
    session === 'fresh'
      ? 'nothing from cell to cell'
      : `variables and /workspace until ${time(runtimeIdleTimeoutMs)} without a cell, or runtime.reset()`
  return `Time: ${time(timeoutMs)} a cell; timeout= up to ${time(maxTimeoutMs)}. More: runtime.session(), runtime.packages().
Kept: ${stays}; for good: runtime.save_artifact("r.csv", data), open_artifact("r.csv").read(), save_tool(func) for \`from user_tools import func\`.`
}

function time(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds >= 120 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}

function lastPart(place: string): string {
  return place.split(/[/\\]/).findLast((part) => part !== '') ?? place
}
