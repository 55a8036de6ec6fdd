// Serves a bridge over HTTP in the test's process, so that limits can be small. No sandbox is started.
import { type RequestOptions } from 'node:http'
import { request as secureRequest } from 'node:https'
import { request as plainRequest } from 'node:http'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { Bridge } from '../../../core/src/bridge/bridge.ts'
import { addSettings, readSettings } from '../../../core/src/config/settings/settings.ts'
import { createLog } from '../../../core/src/util/log.ts'
import { HTTP_LIMITS, type HttpOptions, serveHttp } from '../../src/serve-http.ts'
import { HTTP_SETTINGS } from '../../src/settings.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

addSettings('HTTP', HTTP_SETTINGS)

export const TOKEN = 'a-token-of-these-tests'

interface ServiceOptions {
  env?: Record<string, string>
  options?: Partial<HttpOptions>
  limits?: Partial<typeof HTTP_LIMITS>
}

/** Ends with the test. */
export async function openService({ env = {}, options = {}, limits = {} }: ServiceOptions = {}) {
  const home = newFolder()
  const cache = { MCP_BRIDGE_CACHE_DIR: path.join(home, 'cache') }
  const some = { MCP_BRIDGE_SOURCES: 'mcps', MCP_BRIDGE_POOL: '0', MCP_BRIDGE_RUNTIME: 'pyodide' }
  const lines: string[] = []
  const log = createLog('debug', (line) => lines.push(line))
  const bridge = await Bridge.open(readSettings({ ...some, ...cache, ...env }, { home }), log)
  const service = await serveHttp(
    bridge,
    { host: '127.0.0.1', port: 0, token: TOKEN, ...options },
    { ...HTTP_LIMITS, ...limits },
  )
  onTestFinished(async () => {
    await service.close()
    await bridge.close()
  })
  const { protocol, port } = new URL(service.url)

  /** A PUT with the token, which gets 405 when it is let in. */
  async function ask(headers: Record<string, string | string[]> = {}, more: RequestOptions & { ca?: string } = {}) {
    const request = protocol === 'https:' ? secureRequest : plainRequest
    const given = { authorization: `Bearer ${TOKEN}`, ...headers }
    return new Promise<{ status: number; body: string }>((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, path: '/mcp', method: 'PUT', ...more, headers: given },
        (response) => void text(response).then((body) => resolve({ status: response.statusCode!, body }), reject),
      )
      sent.on('error', reject)
      sent.end()
    })
  }
  return { service, port: Number(port), lines, ask }
}
