// `sandbridge run --http`: serves many clients over HTTP until a signal stops it.
import { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { openTenant } from '@sandbridge/core/bridge'
import { loadLiveSettings, type Settings } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { createLog } from '@sandbridge/core/util'
import { type HttpFlags, page as pagePart, pageOnDemand } from '@sandbridge/core/parts'
import { isLoopback } from '@sandbridge/core/util/net'
import { keptToken, tokenFile } from './access/kept-token.ts'
import { serveHttp } from './serve-http.ts'
import { SignInPages } from './sign-in-pages.ts'
import { type Address, parseAddress } from './sockets/address.ts'
import type { TlsFiles } from './sockets/tls-files.ts'
import { onShutdown } from '@sandbridge/core/util/process'
import { features } from '@sandbridge/core/serve/cli/package.ts'
import { type HttpSettings, httpSettings, publicUrlOf } from './settings.ts'

/**
 * @throws BridgeError CONFIG_INVALID for an invalid address, or for one that other machines can reach when no token is
 * set
 */
export async function runHttp({ http, ui, trustedProxy: trustedProxies = [], ...files }: HttpFlags): Promise<void> {
  const address = parseAddress(http)
  const tls = tlsOf(files)
  const page = ui === undefined ? undefined : (await pagePart.for('--ui')).pageBeside(ui)
  const { settings, refresh: refreshSettings } = await loadLiveSettings()
  const own = httpSettings(settings)
  checkPublicUrl(address, own)
  checkHandleKey(settings, own)
  const { token, source } = await tokenFor(address, settings.stateDir, own)
  // A client on another machine could not open this machine's page.
  const publicUrl = publicUrlOf(own)
  const signInPages = publicUrl === undefined ? undefined : new SignInPages(publicUrl)
  const options = {
    ownPort: address.port,
    methods: features.methods,
    refreshSettings,
    ...(signInPages && { signInPage: signInPages }),
    ...(isLoopback(address.host) && { servePage: pageOnDemand }),
  }
  const bridge = await Bridge.open(settings, createLog(settings.logLevel), options)
  // Reports mistakes in the config files at once.
  const owner = await openTenant(bridge, bridge.tenants.of(), () => bridge.close())
  const service = await serveHttp(bridge, {
    ...address,
    token,
    tls,
    trustedProxies,
    signInPages,
    offers: features.offers,
  })
  await page?.serve(bridge)
  const beside = await Promise.all(features.all.flatMap((feature) => feature.beside?.(owner) ?? []))
  const drain = (): Promise<void> => {
    for (const one of beside) one.stop()
    return service.drain(own.drainMs)
  }
  onShutdown(
    async () => {
      page?.close()
      for (const one of beside) one.stop()
      await service.close(() => bridge.close())
      await Promise.all(beside.map((one) => one.idle()))
    },
    own.drainMs > 0 ? { drain } : {},
  )
  const others = own.oauthIssuers.length > 0 ? `, or one of ${own.oauthIssuers.join(' or ')}` : ''
  process.stderr.write(`Serving MCP at ${service.url} to clients with the token in ${source}${others}\n`)
  if (!isLoopback(address.host) && !tls && trustedProxies.length === 0) {
    const remedy = 'Pass --tls-cert and --tls-key, or name the TLS proxy in front with --trusted-proxy.'
    process.stderr.write(`Other machines can read the token and everything else on its way. ${remedy}\n`)
  }
}

function tlsOf({ tlsCert: cert, tlsKey: key }: Pick<HttpFlags, 'tlsCert' | 'tlsKey'>): TlsFiles | undefined {
  if (cert === undefined && key === undefined) return undefined
  if (cert !== undefined && key !== undefined) return { cert, key }
  throw new BridgeError('CONFIG_INVALID', `--tls-${cert === undefined ? 'key' : 'cert'} is given alone`, {
    hint: 'Pass both --tls-cert FILE and --tls-key FILE.',
  })
}

/** Access tokens name the server they are for, and `0.0.0.0` is not a server's name. */
function checkPublicUrl({ host }: Address, settings: HttpSettings): void {
  if (settings.oauthIssuers.length === 0 || publicUrlOf(settings) !== undefined || isLoopback(host)) return
  throw new BridgeError('CONFIG_INVALID', 'MCP_BRIDGE_OAUTH=issuer is set, and MCP_BRIDGE_PUBLIC_URL is not', {
    hint: 'Set it to the address that clients use, such as https://bridge.example.com/mcp.',
  })
}

/** Every replica must be able to read the handles of the others. */
function checkHandleKey({ session, runtime }: Settings, { handleKey }: HttpSettings): void {
  if (session !== 'durable' || runtime !== 'kubernetes' || handleKey !== undefined) return
  throw new BridgeError('CONFIG_INVALID', 'MCP_BRIDGE_SESSION=durable in Kubernetes needs MCP_BRIDGE_HANDLE_KEY', {
    hint: 'Set it to the same long random text in all replicas: `openssl rand -hex 32` makes one.',
  })
}

async function tokenFor(
  { host }: Address,
  stateDir: string,
  settings: HttpSettings,
): Promise<{ token: string; source: string }> {
  if (settings.httpToken !== undefined) return { token: settings.httpToken, source: 'MCP_BRIDGE_HTTP_TOKEN' }
  if (!isLoopback(host) && settings.oauthIssuers.length === 0) {
    throw new BridgeError('CONFIG_INVALID', `Other machines can reach ${host}, and MCP_BRIDGE_HTTP_TOKEN is not set`, {
      hint: 'Set it to a long random text. Clients send it as a bearer token.',
    })
  }
  const file = tokenFile(stateDir)
  return { token: await keptToken(file), source: file }
}
