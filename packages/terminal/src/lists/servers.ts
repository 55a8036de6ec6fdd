// `sandbridge servers`: lists the upstreams, what is known about them, and where they are defined. Starts none of them.
import { shellWord } from '@sandbridge/core/config/secrets'
import type { ConfigFileRead, FoundServer } from '@sandbridge/core/config/entries'
import { describeServers } from '@sandbridge/shared/servers/describe-servers.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { ago, count, visibleInline } from '@sandbridge/core/util/text'
import { features, type ServerProcess } from '@sandbridge/core/serve/cli/package.ts'
import { describeSignIn, signInState, type SignInState } from '@sandbridge/shared/servers/describe-sign-in.ts'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { noServers, shortReason } from '@sandbridge/shared/servers/server-notes.ts'
import { withServers } from '@sandbridge/shared/open-bridge.ts'
import type { Cell, Printer, Terminal } from '@sandbridge/core/serve/cli/terminal'
import { printDiff } from './servers-diff.ts'
import { printLog, showServer } from './show-server.ts'

interface ServersOptions {
  json?: boolean
  sources?: boolean
  log?: boolean
  accept?: boolean
}

export async function servers(name: string | undefined, options: ServersOptions, terminal: Terminal): Promise<void> {
  await withServers(terminal, async (bridge) => {
    if (name === 'diff' && bridge.catalog.resolveServer(name) === undefined) return printDiff(bridge, options, terminal)
    if (name !== undefined)
      return options.log ? printLog(bridge, name, terminal) : showServer(bridge, name, options, terminal)
    if (options.log) {
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'Pass the name of a server: sandbridge servers NAME --log')
    }
    const processes = await features.processes(bridge.settings.stateDir)
    if (options.json)
      terminal.printJson({
        ...(await listing(bridge)),
        ...(processes.length > 0 && { processes }),
        ...(options.sources && { files: sourceFiles(bridge) }),
      })
    else if (options.sources) printSources(bridge, terminal)
    else {
      await printServers(bridge, terminal)
      printProcesses(processes, terminal)
    }
  })
}

async function listing(bridge: OpenTenant) {
  const { catalog, discovered } = bridge
  const known = new Map(catalog.servers().map((entry) => [entry.name, entry]))
  const signIns = await signInsOf(bridge)
  const summaries = [...describeServers(discovered.servers), ...describeServers(discovered.untrusted)]
  return {
    servers: summaries.map((summary) => {
      const signIn = signIns.get(summary.name)
      return { ...known.get(summary.name), ...summary, ...(signIn && { signIn }) }
    }),
    skipped: discovered.skipped,
  }
}

/** Of servers that are signed in to, or were. */
async function signInsOf({ discovered, set }: OpenTenant): Promise<Map<string, SignInState>> {
  const store = set.connected.tokenStore
  const all = await Promise.all(
    discovered.servers.map(async (server) => [server.name, await signInState(server, store)] as const),
  )
  return new Map(all.flatMap(([name, state]) => (state?.uses === 'sign-in' ? [[name, state]] : [])))
}

async function printServers(bridge: OpenTenant, terminal: Terminal): Promise<void> {
  const { print, printEmpty, printSummary, printTable, tell } = terminal
  const { catalog, discovered } = bridge
  const installing = await installingServers(terminal)
  const entries = catalog.servers()
  const signIns = await signInsOf(bridge)
  const renamed = new Map(discovered.found.filter(isRenamed).map((one) => [one.name, one]))
  const rows: Cell[][] = entries.map(({ name, alias, toolCount, problem, description }) => {
    const from = renamed.get(name)?.definition
    const taken = from ? `is ${from.name} in ${from.source.file}; that name is taken. ` : ''
    const signIn = signIns.get(name)
    const note = signIn ? `${taken}${describeSignIn(signIn)}. ` : taken
    const since = toolCount === undefined ? installing.get(name) : undefined
    if (since !== undefined)
      return [name, `mcp_${alias}`, { text: 'installing', style: 'yellow' }, `${note}began ${ago(since, Date.now())}`]
    if (problem !== undefined)
      return [name, `mcp_${alias}`, { text: 'failed', style: 'red' }, note + shortReason(name, problem)]
    if (toolCount === undefined)
      return [name, `mcp_${alias}`, { text: 'not asked yet', style: 'dim' }, note + description]
    // The number of tools is in another column.
    const purpose = description.replace(`${toolCount} tools: `, '')
    return [name, `mcp_${alias}`, { text: count(toolCount, 'tool'), style: 'green' }, note + purpose]
  })
  for (const { name, source } of discovered.untrusted) {
    const state: Cell = { text: 'not trusted', style: 'yellow' }
    rows.push([name, '–', state, `from ${source.file}: allow it with \`sandbridge trust\``])
  }
  if (rows.length === 0) printEmpty(noServers(bridge))
  printTable(rows, { head: ['SERVER', 'IN PYTHON', 'STATE', 'PURPOSE'] })
  if (entries.length > 0) printSummary(summaryOf(bridge))
  for (const note of await features.serverNotes(bridge)) print(visibleInline(note))
  // `openBridge` has told of whole files.
  const skipped = discovered.skipped.filter(({ kind }) => kind === undefined)
  if (skipped.length > 0)
    tell(`${count(skipped.length, 'entry', 'entries')} skipped: see \`sandbridge servers --sources\`.`)
}

function summaryOf({ catalog }: OpenTenant): string {
  const entries = catalog.servers()
  const failed = entries.filter(({ problem }) => problem !== undefined)
  const unasked = entries.filter(({ problem, toolCount }) => problem === undefined && toolCount === undefined)
  const tools = entries.reduce((sum, { toolCount = 0 }) => sum + toolCount, 0)
  const parts = [count(entries.length, 'server') + (tools > 0 ? ` with ${count(tools, 'tool')}` : '')]
  if (failed.length > 0) parts.push(`${failed.length} failed. Why: sandbridge servers ${shellWord(failed[0]!.name)}`)
  if (unasked.length > 0) parts.push(`${unasked.length} not asked yet. Ask them: sandbridge index`)
  return parts.join('. ')
}

function printSources(bridge: OpenTenant, { print, printEmpty, printSummary, printTable }: Terminal): void {
  const { files, skipped, found } = bridge.discovered
  if (files.length === 0 && skipped.length === 0) return printEmpty(noServers(bridge))
  const rows = files.flatMap((source): Cell[][] => {
    const { client, file, serverCount, trusted } = source
    const state = count(serverCount, 'server')
    return [
      [{ text: client, style: 'bold' }, trusted ? state : { text: `${state}, not trusted`, style: 'yellow' }, file],
      ...serversOf(source, found).map((one) => [`  ${one.definition.name}`, '', fate(one, found)]),
    ]
  })
  printTable(rows, { head: ['CLIENT', 'SERVERS', 'FILE'] })
  if (skipped.length > 0) print('\nSkipped:')
  const skippedRows = skipped.map(({ file, name, reason }): Cell[] => [`  ${name ?? ''}`, reason, file])
  printTable(skippedRows, { head: ['  NAME', 'WHY', 'FILE'] })
  const untrusted = files.filter(({ trusted }) => !trusted).length
  const parts = [`${count(files.length, 'file')} with ${count(found.length, 'server')}`]
  if (untrusted > 0) parts.push(`${count(untrusted, 'file')} not trusted. Allow: sandbridge trust`)
  printSummary(parts.join('. '))
}

/** The config files and the servers of each; `name` is the server's name in this bridge. */
function sourceFiles({ discovered: { files, found } }: OpenTenant): object[] {
  return files.map((source) => ({
    ...source,
    servers: serversOf(source, found).map(({ definition, name, isDouble }) => {
      return { definedAs: definition.name, name, ...(isDouble && { isSameAsEarlier: true }) }
    }),
  }))
}

function serversOf({ file, client }: ConfigFileRead, found: readonly FoundServer[]): FoundServer[] {
  return found.filter(({ definition: { source } }) => source.file === file && source.client === client)
}

function isRenamed({ definition, name, isDouble }: FoundServer): boolean {
  return !isDouble && name !== definition.name
}

function fate({ definition, name, isDouble }: FoundServer, found: readonly FoundServer[]): string {
  if (!isDouble) return name === definition.name ? '' : `is called ${name} here: the name is taken`
  const first = found.find((one) => one.name === name && !one.isDouble)
  return `is the same as ${name} of ${first?.definition.source.file}`
}

/** When the installation of each began, in milliseconds since 1970: a resident installs them for its clients. */
async function installingServers({ resident }: Terminal): Promise<Map<string, number>> {
  const all = Object.entries((await resident?.now())?.servers ?? {})
  return new Map(all.filter(([, { state }]) => state === 'installing').map(([name, { since }]) => [name, since]))
}

/** Prints nothing when none runs. */
function printProcesses(processes: readonly ServerProcess[], { print, printTable }: Printer): void {
  if (processes.length === 0) return
  print('\nIn the resident bridge:')
  const rows = processes.map(({ server, state, clients, reason }): Cell[] => {
    const users = clients.map(({ pid, cwd }) => `${pid} in ${visibleInline(cwd)}`).join(', ')
    return [`  ${server}`, state, `${count(clients.length, 'client')}: ${users}`, reason ?? '']
  })
  printTable(rows, { head: ['  SERVER', 'STATE', 'USED BY', 'WHY OTHERS DO NOT SHARE IT'] })
}
