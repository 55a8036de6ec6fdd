// Servers for the page, without secrets, and the tokens that all their tools would cost a model.
import type { ServerSet } from '@sandbridge/core/bridge'
import { listingTokens } from '@sandbridge/core/calls/catalog'
import { commandLine } from '@sandbridge/core/config/secrets'
import { describeSignIn, signInState } from '@sandbridge/shared/servers/describe-sign-in.ts'
import type { ServerStart } from '@sandbridge/core/upstream'

export interface ServerRow {
  name: string
  alias: string
  description: string
  state: string
  toolCount?: number | undefined
  problem?: string | undefined
  tokens: number
  type: string
  /** Missing when this bridge has not started it. */
  start: ServerStart | undefined
}

export interface ServerDetailsView extends ServerRow {
  commandLine: string
  file: string
  canSignIn: boolean
  /** How its requests are authorized. Missing for a server of this machine. */
  authorized: string | undefined
  fetchedAt?: number | undefined
  lastError: { at: number; reason: string } | undefined
  hint: string | undefined
  log: string | undefined
  instructions?: string | undefined
  tools: { name: string; description: string; line: string; tokens: number }[]
}

export interface ServerListView {
  servers: ServerRow[]
  untrusted: { name: string; file: string }[]
  skipped: { name: string | undefined; file: string; reason: string }[]
  /** Remarks on servers, a sentence each: of features, and on rules that match no tool. */
  notes: string[]
}

export function serverList({
  connected: { catalog, upstreams },
  configured: { discovered },
  rules,
}: ServerSet): ServerListView {
  const servers = catalog.servers().map((entry) => {
    const type = discovered.servers.find(({ name }) => name === entry.name)?.transport.type ?? ''
    // Its number of tools is of those that rules allow. The row has the number of all of them.
    const { tools, about: description } = catalog.details(entry.name)
    const tokens = listingTokens(tools)
    return { ...entry, description, type, tokens, start: upstreams.of(entry.name).lastStart }
  })
  const untrusted = discovered.untrusted.map(({ name, source }) => ({ name, file: source.file }))
  const skipped = discovered.skipped.map(({ name, file, reason }) => ({ name, file, reason }))
  return { servers, untrusted, skipped, notes: rules.unmatched().map(({ message }) => message) }
}

/** @throws BridgeError PROXY_SERVER_UNAVAILABLE for an unknown name */
export async function serverDetails(
  { connected: { catalog, upstreams, tokenStore }, configured: { discovered } }: ServerSet,
  name: string,
): Promise<ServerDetailsView> {
  const { about: _, tools, failure, lastError, skipped: _skipped, ...entry } = catalog.details(name)
  const definition = discovered.servers.find((one) => one.name === name)!
  const { transport, source } = definition
  const signIn = await signInState(definition, tokenStore)
  return {
    ...entry,
    type: transport.type,
    tokens: listingTokens(tools),
    start: upstreams.of(name).lastStart,
    commandLine: commandLine(transport),
    file: source.file,
    canSignIn: upstreams.canSignIn(name),
    authorized: signIn && describeSignIn(signIn),
    lastError: lastError && { at: lastError.at, reason: lastError.reason },
    hint: failure?.hint,
    log: failure?.log ?? lastError?.log,
    tools: tools.map((tool) => {
      return { name: tool.name, description: tool.description, line: catalog.line(tool), tokens: listingTokens([tool]) }
    }),
  }
}
