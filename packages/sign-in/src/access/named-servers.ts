// Which server of whom a command at the terminal is about.
import type { OpenTenant, ServerSet } from '@sandbridge/core/bridge'
import type { RemoteServer } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { http } from '@sandbridge/core/parts'
import { didYouMeanText } from '@sandbridge/core/util/text'
import { namedServer } from '@sandbridge/shared/servers/named-server.ts'

/** @throws BridgeError CONFIG_INVALID for an unknown user, so that no sign-in is stored for it */
export async function serversOf(bridge: OpenTenant, user: string | undefined): Promise<ServerSet> {
  if (user === undefined) return bridge.set
  const { namedUsers } = await http.for('--user')
  const names = await namedUsers(bridge.stores.of(undefined))
  // Users of an authorization server are known only once they connect. Their names are its issuer, a # and the subject.
  if (names.includes(user) || user.includes('#')) return bridge.bridge.tenants.of(user).now(true)
  throw new BridgeError('CONFIG_INVALID', `There is no user '${user}'`, {
    hint: didYouMeanText(user, names) || 'List them with `sandbridge token list`.',
  })
}

/** @throws BridgeError for an unknown name */
export function nameIn({ configured: { discovered }, connected: { catalog } }: ServerSet, given: string): string {
  return namedServer({ catalog, discovered }, given)
}

/** @throws BridgeError for a server that runs on this machine */
export async function remoteServer({ configured, connected }: ServerSet, name: string): Promise<RemoteServer> {
  const definition = configured.discovered.servers.find((server) => server.name === name)!
  const transport = await connected.resolveTransport(definition)
  if (transport.type !== 'stdio') return transport
  throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${name}' runs on this machine and needs no sign-in`, {
    hint: 'See `sandbridge servers`.',
  })
}
