// A bridge in the test's own process, with a client of its server and a list of its events.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type CallToolResult, Client, type ClientCapabilities, InMemoryTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { Bridge } from '../../../src/bridge/bridge.ts'
import { type OpenTenant, openTenant } from '../../../src/bridge/tenants/open-tenant.ts'
import { features, plugIn } from '../../../src/serve/cli/package.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { readSettings, type Settings } from '../../../src/config/settings/settings.ts'
import type { BridgeEvent, EventOf, EventType } from '../../../src/observe/events/event.ts'
import { SILENT } from '../../../src/util/log.ts'
import { createServer } from '../../../src/serve/mcp/create-server.ts'
import type { OpenRuns } from '../../../src/serve/mcp/runs/open-runs.ts'
import { oneSession } from '../../../src/serve/mcp/sessions.ts'
import { bridgeEnv, makeHome, type RemoteEntry, type ServerEntry } from './bridge-process.ts'
import { sharedOne } from './shared-bridge.ts'
import { PyodideProvider } from '../sandboxes/plain-provider.ts'
import { SANDBOX_CACHE } from '../sandboxes/sandbox-cache.ts'

plugIn(PACKAGES)

export interface ObservedBridge {
  bridge: Bridge
  /** It with the servers of its owner. */
  opened: OpenTenant
  client: Client
  /** Another client, with the same session. */
  connect: (name: string) => Promise<Client>
  home: string
  events: BridgeEvent[]
  /** Calls run_python. */
  run: (code: string, meta?: Record<string, unknown>) => Promise<CallToolResult>
  /** The events of one type so far. */
  of: <T extends EventType>(type: T) => EventOf<T>[]
  /** Replaces the server definitions. */
  redefine: (servers: Record<string, ServerEntry | RemoteEntry>) => void
}

export interface ObservedOptions {
  servers?: Record<string, ServerEntry | RemoteEntry>
  env?: Record<string, string>
  /** Replaces settings with values that no variable may have, such as short timeouts. */
  settings?: Partial<Settings>
  capabilities?: ClientCapabilities
  prepare?: (client: Client) => void
  /** Calls that are open, when the test decides how long a client waits. */
  runs?: OpenRuns
  /** Without any subscriber. */
  unobserved?: boolean
}

/** `atEnd` gets what closes the bridge: with the test, unless several share it. */
export async function openObserved(
  options: ObservedOptions = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<ObservedBridge> {
  const home = makeHome(options.servers)
  const env = { MCP_BRIDGE_POOL: '0', MCP_BRIDGE_SOURCES: 'mcps', MCP_BRIDGE_AUDIT: 'off', ...options.env }
  const ofBridge = bridgeEnv(home, env)
  const settings = { ...readSettings(ofBridge, { home }), ...options.settings }
  const python = ofBridge['SANDBRIDGE_TEST_CELLS']
  const plain = python === undefined ? undefined : new PyodideProvider({ cacheFolder: SANDBOX_CACHE }, python)
  const bridge = await Bridge.open(settings, SILENT, {
    methods: features.methods,
    ...(plain && { findProvider: async () => ({ provider: plain, passedOver: [] }) }),
  })
  const events: BridgeEvent[] = []
  if (!options.unobserved)
    bridge.events.subscribe({ name: 'test', receive: (told) => void events.push(...told.map(({ event }) => event)) })
  const tenant = bridge.tenants.of()
  const opened = await openTenant(bridge, tenant)
  const sessions = oneSession(bridge.sessions.open(tenant))
  const clients: Client[] = []
  const connect = async (name: string): Promise<Client> => {
    const server = createServer({
      settings,
      log: SILENT,
      getConversation: () => Promise.resolve({ bridge, sessions, tenant }),
      offers: features.offers,
      ...(options.runs && { runs: options.runs }),
    })
    const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
    const client = new Client({ name, version: '7' }, { capabilities: options.capabilities ?? {} })
    clients.push(client)
    options.prepare?.(client)
    await Promise.all([server.connect(serverSide), client.connect(clientSide)])
    return client
  }
  const client = await connect('observer')
  atEnd(async () => {
    for (const one of clients) await one.close()
    await bridge.close()
  })
  return {
    bridge,
    opened,
    client,
    connect,
    home,
    events,
    run: async (code, meta) => {
      const params = { name: 'run_python', arguments: { code }, ...(meta && { _meta: meta }) }
      const result = await client.callTool(params, { timeout: 120_000 })
      bridge.events.flush()
      return result
    },
    of: <T extends EventType>(type: T) => events.filter((event): event is EventOf<T> => event.type === type),
    redefine: (servers) => writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers })),
  }
}

/** One for the tests of a file or of a describe block, as `sharedBridge`. */
export const sharedObserved = (options: ObservedOptions = {}): (() => ObservedBridge) =>
  sharedOne((atEnd) => openObserved(options, atEnd))
