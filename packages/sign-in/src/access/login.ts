// `sandbridge login SERVER` and `logout`: sign in to a remote server in the browser. All bridges of this user share the
// tokens.
import { createInterface } from 'node:readline/promises'
import type { OpenTenant } from '@sandbridge/core/bridge/open-tenant.ts'
import type { ServerSet } from '@sandbridge/core/bridge/server-set.ts'
import type { RemoteServer } from '@sandbridge/core/config/entries/server-definition.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { openBrowser } from './open-browser.ts'
import { oauth } from '@sandbridge/core/upstream/oauth-part.ts'
import { CLIENT_INFO } from '@sandbridge/core/util/version.ts'
import { http } from '@sandbridge/core/serve/http-part.ts'
import { didYouMeanText } from '@sandbridge/core/util/text/did-you-mean.ts'
import { namedServer } from '@sandbridge/core/cli/terminal/named-server.ts'
import { withBridge } from '@sandbridge/core/cli/terminal/open-bridge.ts'
import { print, printJson, tell } from '@sandbridge/core/cli/terminal/print.ts'

interface LoginOptions {
  browser: boolean
  scope?: string
  json?: boolean
  /** Sign in only for this user of `run --http`. */
  user?: string
}

export async function login(given: string, options: LoginOptions): Promise<void> {
  const { login: signIn } = await oauth.for('`sandbridge login`')
  await withBridge(async (bridge) => {
    const cancelled = new AbortController()
    const set = await serversOf(bridge, options.user)
    const server = nameIn(set, given)
    const { wasNeeded } = await signIn({
      name: server,
      server: await remoteServer(set, server),
      store: set.connected.tokenStore,
      clientInfo: CLIENT_INFO,
      env: process.env,
      signal: cancelled.signal,
      showPage: (url) => {
        const text = `Sign in to '${server}' here:\n${url.href}`
        if (options.json) tell(text)
        else print(text)
        if (options.browser) openBrowser(url.href)
      },
      ...(options.scope !== undefined && { scope: options.scope }),
      ...(!options.browser && { pastedAddress }),
    })
    if (options.json) return printJson({ server, signedIn: wasNeeded })
    const whose = options.user === undefined ? '' : ` for ${options.user}`
    print(wasNeeded ? `Signed in to '${server}'${whose}.` : `'${server}' needs no sign-in, or is already signed in.`)
  })
}

export async function logout(given: string, { user }: Pick<LoginOptions, 'user'>): Promise<void> {
  await withBridge(async (bridge) => {
    const set = await serversOf(bridge, user)
    const server = nameIn(set, given)
    await set.connected.tokenStore.update((await remoteServer(set, server)).url, (grants) => {
      grants.byIssuer = {}
      delete grants.latest
      delete grants.missingScope
    })
    print(`Signed out of '${server}'.`)
  })
}

/** @throws BridgeError CONFIG_INVALID for an unknown user, so that no sign-in is stored for it */
async function serversOf(bridge: OpenTenant, user: string | undefined): Promise<ServerSet> {
  if (user === undefined) return bridge.set
  const { namedTokens } = await http.for('--user')
  const names = Object.keys(await namedTokens(bridge.stores.of(undefined)).list())
  // Users of an authorization server are known only once they connect. Their names are its issuer, a # and the subject.
  if (names.includes(user) || user.includes('#')) return bridge.bridge.tenants.of(user).now(true)
  throw new BridgeError('CONFIG_INVALID', `There is no user '${user}'`, {
    hint: didYouMeanText(user, names) || 'List them with `sandbridge token list`.',
  })
}

function nameIn({ configured: { discovered }, connected: { catalog } }: ServerSet, given: string): string {
  return namedServer({ catalog, discovered }, given)
}

async function remoteServer({ configured, connected }: ServerSet, name: string): Promise<RemoteServer> {
  const definition = configured.discovered.servers.find((server) => server.name === name)!
  const transport = await connected.resolveTransport(definition)
  if (transport.type === 'stdio') {
    throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${name}' runs on this machine and needs no sign-in`, {
      hint: 'See `sandbridge servers`.',
    })
  }
  if (!transport.oauth) return transport
  throw new BridgeError('CONFIG_INVALID', `Server '${name}' signs in with the client secret of its definition`, {
    hint: 'It needs no sign-in in a browser.',
  })
}

async function pastedAddress(signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await terminal.question('Then paste the final address of the browser: ', { signal })
  } finally {
    terminal.close()
  }
}
