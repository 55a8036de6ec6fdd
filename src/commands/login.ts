// `sandbridge login SERVER` and `logout`: sign in to a remote server in the browser; the tokens serve every bridge of this user.
import { createInterface } from 'node:readline/promises'
import type { Bridge } from '../bridge.ts'
import type { RemoteServer } from '../config/server-definition.ts'
import { BridgeError } from '../errors.ts'
import { openBrowser } from '../process/open-browser.ts'
import { login as signIn } from '../upstream/auth/login.ts'
import { CLIENT_INFO } from '../version.ts'
import { withBridge } from './open-bridge.ts'
import { print, printJson, visible } from './print.ts'

interface LoginOptions {
  browser: boolean
  scope?: string
  json?: boolean
}

export async function login(server: string, options: LoginOptions): Promise<void> {
  await withBridge(async (bridge) => {
    const cancelled = new AbortController()
    const { wasNeeded } = await signIn({
      name: server,
      server: await remoteServer(bridge, server),
      store: bridge.servers.tokenStore,
      clientMetadataUrl: bridge.settings.clientMetadataUrl,
      clientInfo: CLIENT_INFO,
      signal: cancelled.signal,
      showPage: (url) => {
        const text = `Sign in to '${server}' here:\n${url.href}`
        if (options.json) process.stderr.write(`${visible(text)}\n`)
        else print(text)
        if (options.browser) openBrowser(url.href)
      },
      ...(options.scope !== undefined && { scope: options.scope }),
      ...(!options.browser && { pastedAddress }),
    })
    if (options.json) return printJson({ server, signedIn: wasNeeded })
    print(wasNeeded ? `Signed in to '${server}'.` : `'${server}' needs no sign-in, or is already signed in.`)
  })
}

export async function logout(server: string): Promise<void> {
  await withBridge(async (bridge) => {
    await bridge.servers.tokenStore.update((await remoteServer(bridge, server)).url, (grants) => {
      grants.byIssuer = {}
      delete grants.latest
      delete grants.missingScope
    })
    print(`Signed out of '${server}'.`)
  })
}

async function remoteServer(bridge: Bridge, name: string): Promise<RemoteServer> {
  const definition = bridge.discovered.servers.find((server) => server.name === name)
  const transport = definition && (await bridge.servers.resolveTransport(definition))
  if (transport && transport.type !== 'stdio' && !transport.oauth) return transport
  if (transport?.type !== 'stdio' && transport?.oauth) {
    throw new BridgeError('CONFIG_INVALID', `Server '${name}' signs in with the client secret of its definition`, {
      hint: 'It needs no sign-in in a browser.',
    })
  }
  const reason = definition ? 'runs on this machine and needs no sign-in here' : 'is not configured'
  throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${name}' ${reason}`, { hint: 'See `sandbridge servers`.' })
}

async function pastedAddress(signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return await terminal.question('Then paste the final address of the browser: ', { signal })
  } finally {
    terminal.close()
  }
}
