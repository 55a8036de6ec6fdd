// `sandbridge servers`: which upstreams there are, what is known of them, and where they come from. Starts none of them.
import type { Bridge } from '../bridge.ts'
import { describeServers } from '../config/describe-servers.ts'
import type { FoundServer } from '../config/server-definition.ts'
import { withBridge } from './open-bridge.ts'
import { print, printJson, printTable, visibleInline } from './print.ts'

interface ServersOptions {
  json?: boolean
  sources?: boolean
}

export async function servers(options: ServersOptions): Promise<void> {
  await withBridge(async (bridge) => {
    if (options.json) printJson(listing(bridge))
    else if (options.sources) printSources(bridge)
    else printServers(bridge)
  })
}

function listing({ catalog, discovered }: Bridge) {
  const known = new Map(catalog.servers().map((entry) => [entry.name, entry]))
  const summaries = [...describeServers(discovered.servers), ...describeServers(discovered.untrusted)]
  return {
    servers: summaries.map((summary) => ({ ...known.get(summary.name), ...summary })),
    skipped: discovered.skipped,
  }
}

function printServers({ catalog, discovered }: Bridge): void {
  const renamed = new Map(discovered.found.filter(isRenamed).map((one) => [one.name, one]))
  const rows = catalog.servers().map(({ name, alias, toolCount, problem, description }) => {
    const tools = toolCount === undefined ? 'not indexed' : `${toolCount} tools`
    const from = renamed.get(name)?.definition
    const note = from ? `is ${from.name} in ${from.source.file}: that name is taken. ` : ''
    return [name, `mcp_${alias}`, problem === undefined ? tools : 'failed', note + (problem ?? description)]
  })
  for (const { name, source } of discovered.untrusted) {
    rows.push([name, '–', 'not trusted', `from ${source.file}: allow it with \`sandbridge trust\``])
  }
  if (rows.length === 0)
    print(
      'No MCP server is configured. Put some under "mcpServers" in a file in ~/MCPs, for example ~/MCPs/servers.json.',
    )
  printTable(rows)
}

function printSources({ discovered }: Bridge): void {
  for (const { client, file, serverCount, trusted } of discovered.files) {
    const count = `${serverCount} ${serverCount === 1 ? 'server' : 'servers'}`
    print(`${client}  ${count}${trusted ? '' : ', not trusted'}  ${visibleInline(file)}`)
    const own = discovered.found.filter(
      ({ definition: { source } }) => source.file === file && source.client === client,
    )
    printTable(own.map((one) => [`  ${one.definition.name}`, fate(one, discovered.found)]))
  }
  if (discovered.skipped.length === 0) return
  print('\nSkipped:')
  printTable(discovered.skipped.map(({ file, name, reason }) => [`  ${name ?? ''}`, reason, file]))
}

function isRenamed({ definition, name, isDouble }: FoundServer): boolean {
  return !isDouble && name !== definition.name
}

function fate({ definition, name, isDouble }: FoundServer, found: readonly FoundServer[]): string {
  if (!isDouble) return name === definition.name ? '' : `is called ${name} here: the name is taken`
  const first = found.find((one) => one.name === name && !one.isDouble)
  return `is the same as ${name} of ${first?.definition.source.file}`
}
