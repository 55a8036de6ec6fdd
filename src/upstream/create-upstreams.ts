// All configured upstreams under their names. What one of them does is ManagedUpstream's business.
import { setMaxListeners } from 'node:events'
import { BridgeError } from '../errors.ts'
import type { ServerDefinition } from '../config/server-definition.ts'
import type { Log } from '../log.ts'
import { ManagedUpstream } from './managed-upstream.ts'
import type { Upstreams, UpstreamTool } from './upstream.ts'

const START_TIMEOUT_MS = 30_000

export interface UpstreamsOptions {
  /** Names are unique. */
  definitions: readonly ServerDefinition[]
  /** How we introduce ourselves to servers. */
  clientInfo: { name: string; version: string }
  log: Log
  /** Where servers without a `cwd` of their own are started; the bridge's own directory when missing. */
  cwd?: string
  /** How long a server may take from its start to its first answer. */
  startTimeoutMs?: number
}

/** Starts nothing by itself. */
export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const listeners: ((server: string, tools: UpstreamTool[], instructions: string | undefined) => void)[] = []
  const upstreams = new Map<string, ManagedUpstream>()
  for (const definition of options.definitions) {
    const upstream = new ManagedUpstream(definition, {
      clientInfo: options.clientInfo,
      startTimeoutMs: options.startTimeoutMs ?? START_TIMEOUT_MS,
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      log: options.log,
      onTools: (tools, instructions) => {
        for (const listener of listeners) listener(definition.name, tools, instructions)
      },
    })
    upstreams.set(definition.name, upstream)
  }

  const find = (server: string): ManagedUpstream => {
    const upstream = upstreams.get(server)
    if (upstream) return upstream
    throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `There is no server '${server}'`)
  }

  return {
    definitions: options.definitions,
    state: (server) => find(server).state,
    instructions: (server) => find(server).instructions,
    listTools: async (server, signal) => {
      allowManyListeners(signal)
      return find(server).listTools(signal)
    },
    callTool: async (server, tool, args, callOptions) => {
      allowManyListeners(callOptions?.signal)
      return find(server).callTool(tool, args, callOptions)
    },
    onTools: (listener) => void listeners.push(listener),
    close: async () => {
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()))
    },
  }
}

/** The calls of a cell share its signal, and there may be hundreds of them: that is no leak to warn of. */
function allowManyListeners(signal: AbortSignal | undefined): void {
  if (signal) setMaxListeners(0, signal)
}
