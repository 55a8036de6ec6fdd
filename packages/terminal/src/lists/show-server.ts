// `sandbridge servers NAME`: shows everything known about one server. Starts nothing.
import { named } from '@sandbridge/core/calls'
import { listingTokens, type ServerDetails } from '@sandbridge/core/calls/catalog'
import { ago, count, firstSentence } from '@sandbridge/core/util/text'
import type { ServerDefinition } from '@sandbridge/core/config/entries'
import { describeJail, describeServers } from '@sandbridge/shared/servers/describe-servers.ts'
import { commandLine } from '@sandbridge/core/config/secrets'
import type { OpenTenant } from '@sandbridge/core/bridge'
import { indented } from '@sandbridge/core/serve/cli/terminal'
import { namedServer } from '@sandbridge/shared/servers/named-server.ts'
import { shortReason } from '@sandbridge/shared/servers/server-notes.ts'
import type { Cell, Printer, Terminal } from '@sandbridge/core/serve/cli/terminal'
import { jailOf, type ServerJail } from '@sandbridge/shared/servers/server-jail.ts'
import { describeSignIn, signInState } from '@sandbridge/shared/servers/describe-sign-in.ts'

const DESCRIPTION_CHARS = 100

/** @throws BridgeError PROXY_SERVER_UNAVAILABLE for a server that cannot be used */
export async function showServer(
  bridge: OpenTenant,
  given: string,
  { json }: { json?: boolean },
  { print, printJson, printSummary, printTable }: Printer,
): Promise<void> {
  const name = namedServer(bridge, given)
  const definition = bridge.discovered.servers.find((one) => one.name === name)!
  const details = bridge.catalog.details(name)
  const jail = await jailOf(definition, bridge.settings)
  const signIn = await signInState(definition, bridge.set.connected.tokenStore)
  if (json) return printJson({ ...asJson(definition, details, jail), ...(signIn && { signIn }) })
  printTable([
    ['server', { text: name, style: 'bold' }],
    ['in Python', `mcp_${details.alias}`],
    ['defined in', `${definition.source.file} (${definition.source.client})`],
    [definition.transport.type === 'stdio' ? 'command' : 'address', commandLine(definition.transport)],
    ...settingRows(definition),
    ...jailRow(jail),
    ...(signIn ? [['authorized', describeSignIn(signIn)]] : []),
    ['state', stateOf(details)],
    ...(details.failure ? [['last failure', shortReason(name, details.failure.reason)]] : []),
    ...lastErrorRow(name, details),
    ...(details.failure?.hint ? [['what to do', details.failure.hint]] : []),
    ...(details.tools.length > 0 ? [['cost', costText(details)]] : []),
  ])
  const log = logOf(details)
  if (log) print(`\nLast output:\n${indented(log)}`)
  if (details.instructions) print(`\nInstructions:\n${indented(details.instructions.trim())}`)
  if (details.tools.length > 0) print('\nTools:')
  printTable(details.tools.map((tool) => [`  ${tool.alias}`, firstSentence(tool.description, DESCRIPTION_CHARS)]))
  if (details.skipped.length > 0) print('\nLeft out, because no cell can call them:')
  printTable(details.skipped.map(named).map((tool) => [`  ${tool.name}`, tool.reason]))
  printSummary(nextStep(name, details))
}

/** The server's output at its last failure. */
export function printLog(bridge: OpenTenant, given: string, { print, stderr }: Terminal): void {
  const name = namedServer(bridge, given)
  const details = bridge.catalog.details(name)
  const log = logOf(details)
  if (log) return print(log)
  const last = details.failure ?? details.lastError
  const why = last ? `wrote nothing when it failed: ${last.reason}` : 'has not failed'
  stderr.write(`Server '${name}' ${why}. List its tools with \`sandbridge index ${name}\`.\n`)
}

const logOf = ({ failure, lastError }: ServerDetails): string | undefined => failure?.log ?? lastError?.log

/** For a server that currently works; the failure of a broken one has a separate row. */
function lastErrorRow(name: string, { failure, lastError }: ServerDetails): Cell[][] {
  if (failure || !lastError) return []
  return [['last error', `${ago(lastError.at, Date.now())}: ${shortReason(name, lastError.reason)}`]]
}

function asJson(
  definition: ServerDefinition,
  { tools, failure, lastError, ...details }: ServerDetails,
  jail: ServerJail | undefined,
): object {
  return {
    ...details,
    ...describeServers([definition])[0],
    ...(jail?.engine && { jailedWith: jail.engine }),
    ...(jail?.problem !== undefined && { jailProblem: jail.problem }),
    commandLine: commandLine(definition.transport),
    ...(failure && { failure: { ...failure, at: new Date(failure.at).toISOString(), inputs: undefined } }),
    ...(lastError && { lastError: { ...lastError, at: new Date(lastError.at).toISOString() } }),
    tokens: listingTokens(tools),
    tools: tools.map(({ name, alias, description }) => ({ name, alias, description })),
  }
}

/** Names of variables and headers, never their values. */
function settingRows({ transport, description }: ServerDefinition): Cell[][] {
  const rows: Cell[][] = description === undefined ? [] : [['description', description]]
  if (transport.type !== 'stdio') return [...rows, ...listRow('headers', Object.keys(transport.headers))]
  const { env, inheritEnv = [], cwd, envFile } = transport
  return [
    ...rows,
    ...listRow('variables', [...Object.keys(env), ...inheritEnv]),
    ...listRow('folder', cwd === undefined ? [] : [cwd]),
    ...listRow('variables of', envFile === undefined ? [] : [envFile]),
    ['jailed', describeJail({ transport }) ?? { text: 'no', style: 'dim' }],
  ]
}

const jailRow = (jail: ServerJail | undefined): Cell[][] =>
  jail ? [['jailed with', jail.engine ?? { text: `nothing, so it does not start: ${jail.problem}`, style: 'red' }]] : []

const listRow = (title: string, values: readonly string[]): Cell[][] =>
  values.length === 0 ? [] : [[title, values.join(', ')]]

function stateOf({ failure, toolCount, fetchedAt }: ServerDetails): Cell {
  const now = Date.now()
  if (failure) return { text: `failed ${ago(failure.at, now)}`, style: 'red' }
  if (toolCount === undefined) return { text: 'not asked yet', style: 'dim' }
  const read = fetchedAt === undefined ? '' : `, read ${ago(fetchedAt, now)}`
  return { text: `${count(toolCount, 'tool')}${read}`, style: 'green' }
}

function costText({ tools }: ServerDetails): string {
  return `about ${count(listingTokens(tools), 'token')} where a client loads its tools; none through this bridge`
}

function nextStep(name: string, { failure, toolCount }: ServerDetails): string {
  if (failure) return `Try again: sandbridge index ${name}`
  return toolCount === undefined ? `List its tools: sandbridge index ${name}` : `Signatures: sandbridge tools ${name}`
}
