// @module-tag whole: a published suite
// Runs the client scenarios of the MCP conformance suite that each revision requires, against our upstream side:
// run-client.ts is the client. Installed apart:
//   npm ci --prefix test/conformance --ignore-scripts
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { CLIENT_SCENARIOS } from './required-scenarios.ts'
import { type ClientRun, runClient } from './run-client.ts'
import { type ChecksOf, missing, node, runSuite, scenariosOf, SUITE_TIMEOUT_MS } from './suite.ts'

/** How many clients run at once: one takes a server that does not answer in time for an older one. */
const LANES = 4

const COMMAND = `"${node}" "${path.join(import.meta.dirname, 'hand-over.mjs')}"`

/** The scenarios in which the client refuses the server, and its words. */
const REFUSALS: Record<string, string> = {
  'auth/scope-retry-limit': 'requires more permissions than the login has',
  'auth/resource-mismatch': 'it is about another resource',
  'auth/iss-supported-missing': 'the response does not name its authorization server',
  'auth/iss-wrong-issuer': 'the response is of another authorization server',
  'auth/iss-unexpected': 'the response is of another authorization server',
  'auth/iss-normalized': 'the response is of another authorization server',
  'auth/metadata-issuer-mismatch': 'its metadata is of another issuer',
}

describe.each(Object.entries(CLIENT_SCENARIOS))('revision %s', (revision, scenarios) => {
  /** How the client ended, and its log, by scenario. */
  const ends = new Map<string, { end: string; log: string }>()
  /** The suite starts all scenarios at once: the clients begin when the machine has done that. */
  let allAsked = (): void => {}
  const asked = new Promise<void>((resolve) => (allAsked = resolve))
  const lanes = Array.from({ length: LANES }, () => asked)
  let begun = 0
  let checksOf: ChecksOf

  async function run(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const wanted = (await json(request)) as ClientRun
    let log = ''
    const lane = begun++ % LANES
    if (begun === scenarios.length) allAsked()
    const ended = lanes[lane]!.then(() => runClient(wanted, (line) => void (log += line))).then(() => 'ended', String)
    lanes[lane] = ended.then(() => {})
    const end = await ended
    ends.set(wanted.scenario, { end, log })
    response.end()
  }

  beforeAll(async () => {
    if (missing !== undefined) return
    const server = createServer((request, response) => void run(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const CLIENT_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const args = ['--requirements', revision, '--command', COMMAND, '--timeout', String(SUITE_TIMEOUT_MS)]
    checksOf = await runSuite(['client', ...args], { CLIENT_URL })
    server.close()
  }, SUITE_TIMEOUT_MS + 5_000)

  it('the conformance suite requires the scenarios of clients that are tested', () => {
    if (missing !== undefined) skip(missing)
    expect(scenariosOf(revision, 'client')).toEqual(scenarios)
  })

  it.for(scenarios)('the bridge passes the client scenario %s', (scenario) => {
    if (missing !== undefined) skip(missing)
    const checks = checksOf(scenario)
    const { end, log } = ends.get(scenario)!
    expect(
      checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING'),
      `${log}${end}`,
    ).toEqual([])
    // A client that does nothing fails no check of some scenarios.
    expect(checks.map(({ status }) => status)).toContain('SUCCESS')
    expect(end, log).toContain(REFUSALS[scenario] ?? 'ended')
  })
})
