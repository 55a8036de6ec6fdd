// `sandbridge run --http`: serves many clients over HTTP until a signal ends it.
import { Bridge } from '../bridge.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { BridgeError } from '../errors.ts'
import { createLog } from '../log.ts'
import { type Address, parseAddress } from '../server/http/address.ts'
import { isLoopback } from '../server/http/guard.ts'
import { serveHttp } from '../server/http/serve-http.ts'
import { keptToken, tokenFile } from '../server/http/token.ts'
import { onShutdown } from '../process/shutdown.ts'
import { offerPage } from './offer-page.ts'

/** @throws BridgeError CONFIG_INVALID for an address that is none, or that others can reach and no token is set for */
export async function runHttp(where: string, ui?: string | true): Promise<void> {
  const address = parseAddress(where)
  const page = ui === undefined ? undefined : (await import('./page-beside.ts')).pageBeside(ui)
  const settings = readSettings(process.env)
  const { token, source } = await tokenFor(address, settings)
  const bridge = await Bridge.open(settings, createLog(settings.logLevel), { ownPort: address.port })
  offerPage(bridge)
  const service = await serveHttp(bridge, { ...address, token })
  await page?.serve(bridge)
  const { Scheduler } = await import('../server/schedule/scheduler.ts')
  const scheduler = new Scheduler(bridge)
  scheduler.start()
  const drain = (): Promise<void> => {
    scheduler.stop()
    return service.drain(settings.drainMs)
  }
  onShutdown(
    async () => {
      page?.close()
      scheduler.stop()
      await service.close(() => bridge.close())
      await scheduler.idle()
    },
    { watchStdin: false, ...(settings.drainMs > 0 && { drain }) },
  )
  process.stderr.write(`Serving MCP at ${service.url} to clients with the token in ${source}\n`)
}

async function tokenFor({ host }: Address, settings: Settings): Promise<{ token: string; source: string }> {
  if (settings.httpToken !== undefined) return { token: settings.httpToken, source: 'MCP_BRIDGE_HTTP_TOKEN' }
  if (!isLoopback(host)) {
    throw new BridgeError('CONFIG_INVALID', `Other machines can reach ${host}, and MCP_BRIDGE_HTTP_TOKEN is not set`, {
      hint: 'Set it to a long random text. Clients send it as a bearer token.',
    })
  }
  const file = tokenFile(settings.stateDir)
  return { token: await keptToken(file), source: file }
}
