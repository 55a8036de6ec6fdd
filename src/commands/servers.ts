// `sandbridge servers`: which upstreams there are, what is known of them, and where they come from. Starts none of them.
import type { Bridge } from '../bridge.ts'
import { describeServers } from '../config/describe-servers.ts'
import type { FoundServer } from '../config/server-definition.ts'
import { BridgeError } from '../errors.ts'
import { count } from '../text/count.ts'
import { withBridge } from './open-bridge.ts'
import { type Cell, print, printEmpty, printJson, printSummary, printTable, visibleInline } from './print.ts'
import { NO_SERVERS, shortReason } from './server-notes.ts'
import { printDiff } from './servers-diff.ts'
import { printLog, showServer } from './show-server.ts'

/** Of `12 servers, not trusted`. */
const STATE_WIDTH = 23

interface ServersOptions {
  json?: boolean
  sources?: boolean
  log?: boolean
  accept?: boolean
}

export async function servers(name: string | undefined, options: ServersOptions): Promise<void> {
  await withBridge(async (bridge) => {
    if (name === 'diff' && bridge.catalog.resolveServer(name) === undefined) return printDiff(bridge, options)
    if (name !== undefined) return options.log ? printLog(bridge, name) : showServer(bridge, name, options)
    if (options.log) {
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'Pass the name of a server: sandbridge servers NAME --log')
    }
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

function printServers(bridge: Bridge): void {
  const { catalog, discovered } = bridge
  const entries = catalog.servers()
  const renamed = new Map(discovered.found.filter(isRenamed).map((one) => [one.name, one]))
  const rows: Cell[][] = entries.map(({ name, alias, toolCount, problem, description }) => {
    const from = renamed.get(name)?.definition
    const note = from ? `is ${from.name} in ${from.source.file}; that name is taken. ` : ''
    if (problem !== undefined)
      return [name, `mcp_${alias}`, { text: 'failed', style: 'red' }, note + shortReason(name, problem)]
    if (toolCount === undefined)
      return [name, `mcp_${alias}`, { text: 'not asked yet', style: 'dim' }, note + description]
    // The number of tools stands beside it.
    const purpose = description.replace(`${toolCount} tools: `, '')
    return [name, `mcp_${alias}`, { text: count(toolCount, 'tool'), style: 'green' }, note + purpose]
  })
  for (const { name, source } of discovered.untrusted) {
    const state: Cell = { text: 'not trusted', style: 'yellow' }
    rows.push([name, '–', state, `from ${source.file}: allow it with \`sandbridge trust\``])
  }
  if (rows.length === 0) printEmpty(NO_SERVERS)
  printTable(rows, { head: ['SERVER', 'IN PYTHON', 'STATE', 'PURPOSE'] })
  if (entries.length > 0) printSummary(summaryOf(bridge))
  const { skipped } = discovered
  if (skipped.length > 0)
    printSummary(`${count(skipped.length, 'entry', 'entries')} skipped: sandbridge servers --sources`)
}

function summaryOf({ catalog }: Bridge): string {
  const entries = catalog.servers()
  const failed = entries.filter(({ problem }) => problem !== undefined)
  const unasked = entries.filter(({ problem, toolCount }) => problem === undefined && toolCount === undefined)
  const tools = entries.reduce((sum, { toolCount = 0 }) => sum + toolCount, 0)
  const parts = [count(entries.length, 'server') + (tools > 0 ? ` with ${count(tools, 'tool')}` : '')]
  if (failed.length > 0) parts.push(`${failed.length} failed. Why: sandbridge servers ${failed[0]!.name}`)
  if (unasked.length > 0) parts.push(`${unasked.length} not asked yet. Ask them: sandbridge index`)
  return parts.join('. ')
}

function printSources({ discovered }: Bridge): void {
  if (discovered.files.length === 0 && discovered.skipped.length === 0) return printEmpty(NO_SERVERS)
  const clientWidth = Math.max(...discovered.files.map((file) => file.client.length))
  for (const { client, file, serverCount, trusted } of discovered.files) {
    const state = count(serverCount, 'server') + (trusted ? '' : ', not trusted')
    print([client.padEnd(clientWidth), state.padEnd(STATE_WIDTH), visibleInline(file)].join('  '))
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
