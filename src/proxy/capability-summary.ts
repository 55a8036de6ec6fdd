// What a model should know about run_python beyond its one-paragraph definition: `runtime.capability_summary()` and the capabilities resource. Pure.
import { SERVER_WORDS_NOTE } from '../catalog/search/text.ts'

const GUIDE = `Find a tool      print(await runtime.search_tool_docs("create an issue", limit=5))   # each line can be pasted
                 ${SERVER_WORDS_NOTE}
All of a server  print(await runtime.query_tool_docs("github"))      # detail="full" adds parameters and JSON Schemas
Call it          issue = await mcp_github.create_issue(owner="o", repo="r", title="t")
                 or mcp_servers["github"].create_issue(...), or from mcp.servers.github import create_issue
Many at once     a, b = await asyncio.gather(mcp_github.get_me(), mcp_files.list_directory(path="/"))
Its result       a native value: issue.number or issue["number"]; raw=True gives the untouched MCP result
Not tools        await mcp_docs.resources(), .read_resource(uri), .prompts(), .get_prompt(name, topic="x"); search_tool_docs finds these, too
When it fails    try: ... except runtime.MCPError as error: print(error)

Top-level await works. The value of a last expression is shown; print() what else you need, and only that: filter and summarise here.
There is no network; servers are started on first use.
With await       runtime: search_tool_docs(query, limit, servers), query_tool_docs(server, tool, detail), list_tools(server), list_servers(),
                 call_tool(server, tool, arguments); each has a plain form, such as runtime.search_tool_docs_sync(...)
Plain calls      runtime: discovered_servers(detailed=True), describe_server(server), capability_summary(), and all below

Keep a file      runtime.save_artifact("report.csv", data_or_path); later, in any session: runtime.open_artifact("report.csv").read(), runtime.artifacts()
Keep a function  runtime.save_tool(func); later, in any session: from user_tools import func. runtime: list_saved_tools(), show_tool(name), delete_tool(name)
This session     runtime.session() tells age, memory and limits, runtime.packages() what can be imported, runtime.reset() starts afresh.`

/** What differs from bridge to bridge, of the settings. */
export interface SandboxFacts {
  session: 'shared' | 'fresh'
  mount?: { path: string; mode: 'ro' | 'rw' } | undefined
  packages: readonly string[]
}

const USUAL: SandboxFacts = { session: 'shared', packages: [] }

interface SummarisedServer {
  name: string
  alias: string
  description?: string | undefined
}

/**
 * The guide, then the servers there are and the saved tools: a line each.
 * @param unloaded servers that a cell only reaches when its call names them
 */
export function capabilitySummary(
  servers: SummarisedServer[],
  savedTools: string[] = [],
  facts: SandboxFacts = USUAL,
  unloaded: SummarisedServer[] = [],
): string {
  const saved = savedTools.slice(0, MAX_SAVED_SHOWN).map((line) => `- ${line}`)
  const more = savedTools.length - saved.length
  if (more > 0) saved.push(`- and ${more} more: runtime.list_saved_tools()`)
  return [
    `${introduction(facts)}\n\n${GUIDE}`,
    ...(servers.length > 0 ? [`Servers (${servers.length}):\n${serverLines(servers)}`] : []),
    ...(unloaded[0] ? [`${toBeNamed(unloaded[0].name)} (${unloaded.length}):\n${serverLines(unloaded)}`] : []),
    ...(servers.length + unloaded.length === 0 ? ['No MCP server is available.'] : []),
    ...(saved.length > 0 ? [`Saved tools (${savedTools.length}):\n${saved.join('\n')}`] : []),
  ].join('\n\n')
}

const MAX_SAVED_SHOWN = 20

function serverLines(servers: SummarisedServer[]): string {
  const lines = servers.map(({ name, alias, description }) => {
    const variable = `mcp_${alias}`
    return `- ${variable}${alias === name ? '' : ` (${name})`}${description ? `: ${description}` : ''}`
  })
  return lines.join('\n')
}

function toBeNamed(example: string): string {
  return `Servers for a run that names them, as in servers=${JSON.stringify([example])}`
}

function introduction({ session, mount, packages }: SandboxFacts): string {
  const stays =
    session === 'fresh'
      ? 'Each cell has a sandbox of its own: keep what the next one needs with save_artifact or save_tool.'
      : 'Variables, imports and functions stay from cell to cell.'
  const files = mount
    ? `Of the host's files it sees /mnt/${lastPart(mount.path)}, ${mount.mode === 'rw' ? 'to read and write' : 'read-only'}.`
    : "It sees none of the host's files."
  const installed = packages.length === 0 ? '' : ` Installed: ${packages.map((one) => lastPart(one)).join(', ')}.`
  return `run_python runs Python in a sandbox that can reach nothing but the MCP servers below. ${stays} ${files}${installed}`
}

function lastPart(place: string): string {
  return place.split(/[/\\]/).findLast((part) => part !== '') ?? place
}
