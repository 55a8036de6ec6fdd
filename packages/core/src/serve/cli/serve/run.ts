// `sandbridge run`: serves one client over stdio until it disconnects; with --http, many.
import { setImmediate } from 'node:timers/promises'
import { processContext } from '../../../config/settings/client-context.ts'
import { PermissionFiles } from '../../../config/permission-files.ts'
import { type LiveSettings, loadLiveSettings } from '../../../config/settings/file/live-settings.ts'
import { readSettings } from '../../../config/settings/settings.ts'
import { BridgeError } from '../../../errors.ts'
import { createLog } from '../../../util/log.ts'
import type { Conversation } from '../../mcp/sessions.ts'
import { MAX_LINE_BYTES } from '../../client-lines.ts'
import { http as httpPart, type HttpFlags } from '../../http-part.ts'
import { page as pagePart, pageOnDemand } from '../../page-part.ts'
import { StdioTransport } from '../../mcp/stdio-transport.ts'
import { oneSession } from '../../mcp/sessions.ts'
import { tightMemory } from '../../../util/process/tight-memory.ts'
import { onShutdown } from '../../../util/process/shutdown.ts'
import { features } from '../package.ts'
import { serveConnection } from './serve-connection.ts'

export async function run({ http, ui, tools, ...flags }: Partial<HttpFlags> & { tools?: string }): Promise<void> {
  // As its variable, which is of one client.
  if (tools !== undefined) process.env['MCP_BRIDGE_TOOLS'] = tools
  if (http !== undefined) {
    const { runHttp } = await httpPart.for('--http')
    return runHttp({ http, ...(ui !== undefined && { ui }), ...flags })
  }
  if (Object.keys(flags).length > 0) {
    throw new BridgeError('CONFIG_INVALID', '--tls-cert, --tls-key and --trusted-proxy are for serving over HTTP', {
      hint: 'Pass --http as well.',
    })
  }
  const page = ui === undefined ? undefined : (await pagePart.for('--ui')).pageBeside(ui)
  const context = processContext()
  const read = async (): Promise<LiveSettings> => {
    const found = await loadLiveSettings()
    // Report invalid rules at once, instead of by a bridge that seems to work.
    await new PermissionFiles(found.settings, context.cwd).read()
    return found
  }
  let exitCode = 0
  let live = await read().catch(async (error: unknown) => {
    // A client gets it from its first call, which says more to a person than a connection that closes.
    if (process.stdin.isTTY) throw error
    const { reportFailure } = await import('../terminal/report-failure.ts')
    exitCode = reportFailure(error)
    return undefined
  })
  const settingsAtStart = live?.settings ?? readSettings({}, context)
  const log = createLog(settingsAtStart.logLevel)
  const tight = tightMemory()
  if (tight !== '') log.warning(tight)
  const open = async (): Promise<Conversation> => {
    // What is wrong may have been corrected since.
    live ??= await read()
    exitCode = 0
    const { settings, refresh: refreshSettings } = live
    const { chooseProvider, prepareAhead } = await import('../../../isolation/detect/provider-choice.ts')
    const findProvider = chooseProvider(settings, log)
    // Start these child processes before loading code, because loading blocks the event loop.
    if (settings.poolCount > 0) {
      prepareAhead(findProvider)
      await setImmediate()
    }
    // Most of the code is behind this import: a client gets its list of tools before it is loaded.
    const [{ Bridge }, { keptForClient }] = await Promise.all([
      import('../../../bridge/bridge.ts'),
      import('../../../cell/session/kept-for.ts'),
    ])
    const bridge = await Bridge.open(settings, log, {
      servePage: pageOnDemand,
      refreshSettings,
      findProvider,
      methods: features.methods,
    })
    await page?.serve(bridge)
    const tenant = bridge.tenants.of()
    return { bridge, sessions: oneSession(bridge.sessions.open(tenant, keptForClient(context.cwd))), tenant }
  }
  const transport = new StdioTransport(() => {
    log.error('A message of the client is too long', { maxBytes: MAX_LINE_BYTES })
    void shutDown(1)
  })
  const served = serveConnection({ settings: settingsAtStart, log, context, transport, open })
  if (page) void served.getConversation().catch(() => {})
  const end = async (): Promise<void> => {
    page?.close()
    // Before the record is closed.
    transport.deliveries.ended()
    await served
      .opened()
      .then((opened) => opened?.bridge.close())
      .catch(() => {})
    await served.close()
  }
  const shutDown = onShutdown(end, { inputOver: () => transport.answered().then(() => exitCode) })
}
