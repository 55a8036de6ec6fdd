// Runs the server scenarios of the MCP conformance suite that apply to a server with one tool and no fixtures, against
// the bridge over HTTP. The suite cannot send a token, so a small proxy adds it and changes nothing else.
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startHttpBridge } from '../support/http-bridge.ts'
import { missing, runSuite, SCENARIO_TIMEOUT_MS } from './suite.ts'

const SCENARIOS: Record<string, string[]> = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'dns-rebinding-protection',
    'server-sse-multiple-streams',
    'server-session-lifecycle',
  ],
  '2026-07-28': ['tools-list', 'dns-rebinding-protection', 'http-header-validation', 'sep-2164-resource-not-found'],
}

/** @returns a URL that reaches a bridge without a token */
async function serveWithoutToken(): Promise<string> {
  const { url, token } = await startHttpBridge()
  const target = new URL(url)
  const proxy = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` }
    const onward = httpRequest(
      { host: target.hostname, port: target.port, path: request.url, method: request.method, headers },
      (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers)),
    )
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${target.pathname}`
}

describe.each(Object.entries(SCENARIOS))('revision %s', (revision, scenarios) => {
  it.for(scenarios)(
    'the bridge passes the server scenario %s',
    { timeout: SCENARIO_TIMEOUT_MS + 5_000 },
    async (scenario, ctx) => {
      if (missing !== undefined) ctx.skip(missing)
      const url = await serveWithoutToken()
      const { passed, end } = await runSuite([
        'server',
        '--url',
        url,
        '--scenario',
        scenario,
        '--spec-version',
        revision,
      ])
      expect(passed, end).toBe(true)
      // A suite that checks nothing must not pass.
      expect(end).toMatch(/Passed: [1-9]\d*\/[1-9]\d*/)
    },
  )
})
