// The HTTP service of a bridge without sandboxes, and raw requests that no client library would send.
import { type IncomingHttpHeaders, request as httpRequest, type RequestOptions } from 'node:http'
import { connect, type Socket } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, onTestFinished } from 'vitest'
import { Bridge } from '../../../core/src/bridge/bridge.ts'
import { addSettings, readSettings } from '../../../core/src/config/settings/settings.ts'
import type { MakeOffer } from '../../../core/src/serve/mcp/offer.ts'
import { createLog } from '../../../core/src/util/log.ts'
import { HTTP_LIMITS, serveHttp } from '../../src/serve-http.ts'
import { HTTP_SETTINGS } from '../../src/settings.ts'
import { message } from '@sandbridge/core/test/support/bridges/raw-request.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

export const TOKEN = 'a token of these tests'.replaceAll(' ', '-')

addSettings('HTTP', HTTP_SETTINGS)

export const HEADERS = {
  authorization: `Bearer ${TOKEN}`,
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
}

export const INITIALIZE = message('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
})

export interface SendOptions extends Pick<RequestOptions, 'path' | 'method'> {
  headers?: Record<string, string>
  body?: string | Buffer
}

interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** Opens one bridge for all tests of a file. `serve` serves it for one test; `log` is its log so far. */
export function useHttpBridge() {
  const log: string[] = []
  let bridge: Bridge
  beforeAll(async () => {
    const home = newFolder()
    const env = {
      MCP_BRIDGE_SOURCES: 'mcps',
      MCP_BRIDGE_POOL: '0',
      MCP_BRIDGE_RUNTIME: 'pyodide',
      MCP_BRIDGE_HTTP_LIMITS: 'sessions=64',
    }
    const settings = readSettings({ ...env, MCP_BRIDGE_CACHE_DIR: path.join(home, 'cache') }, { home })
    bridge = await Bridge.open(
      settings,
      createLog('debug', (line) => log.push(line)),
    )
    return () => bridge.close()
  })

  async function serve({
    host = '127.0.0.1',
    trustedProxies = [],
    publicNames = [],
    offers = [],
    ...limits
  }: Partial<typeof HTTP_LIMITS> & {
    host?: string
    trustedProxies?: string[]
    publicNames?: string[]
    offers?: MakeOffer[]
  } = {}) {
    const named = Object.assign(Object.create(bridge) as Bridge, { settings: { ...bridge.settings, publicNames } })
    const opening = { host, port: 0, token: TOKEN, trustedProxies, offers }
    const service = await serveHttp(named, opening, { ...HTTP_LIMITS, ...limits })
    onTestFinished(() => service.close())
    const port = Number(new URL(service.url).port)
    const send = ({ body: sentBody = INITIALIZE, headers, ...options }: SendOptions = {}) =>
      new Promise<Reply>((resolve, reject) => {
        const sent = httpRequest(
          {
            host: new URL(service.url).hostname,
            port,
            path: '/mcp',
            method: 'POST',
            ...options,
            headers: { ...HEADERS, ...headers },
          },
          (response) => {
            text(response).then(
              (body) => resolve({ status: response.statusCode!, headers: response.headers, body }),
              reject,
            )
          },
        )
        sent.on('error', reject)
        sent.end(['POST', 'PUT', undefined].includes(options.method) ? sentBody : undefined)
      })
    return { service, port, send, status: async (options?: Parameters<typeof send>[0]) => (await send(options)).status }
  }

  return { serve, log, bridge: () => bridge }
}

/** Headers of a modern client's call of `run_python`, with the token. */
export function runHeaders(token: string): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'run_python',
  }
}

/** A connection that has sent the given first bytes. */
export function openSocket(port: number, beginning: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(beginning)
      resolve(socket)
    })
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
}
