// @module-tag whole: a published suite
// Runs the server scenarios about tools of the MCP conformance suite against a bridge that lists the tools of its
// servers. server.test.ts has the others.
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { ASKERS, PNG, WAV } from './fixtures.ts'
import { NOT_APPLICABLE } from './not-applicable.ts'
import { SERVER_SCENARIOS } from './required-scenarios.ts'
import { type ChecksOf, missing, runSuite, SUITE_TIMEOUT_MS } from './suite.ts'
import { serveWithoutToken } from './without-token.ts'

/** Each has a server of its own: some scenarios leave a question open. */
const ASKING: Record<string, keyof typeof ASKERS> = {
  test_sampling: 'model',
  test_elicitation: 'user',
  test_elicitation_sep1034_defaults: 'defaults',
  test_elicitation_sep1330_enums: 'enums',
  test_input_required_result_elicitation: 'user',
  test_input_required_result_sampling: 'model',
  test_input_required_result_list_roots: 'roots',
  test_input_required_result_request_state: 'user',
  test_input_required_result_tampered_state: 'user',
  test_input_required_result_capabilities: 'model',
}
const LISTED = { command: process.execPath, args: [path.join(import.meta.dirname, 'listed-server.mjs'), PNG, WAV] }
const SERVERS = {
  suite: LISTED,
  ...Object.fromEntries(Object.entries(ASKING).map(([name, kind]) => [name, ASKERS[kind]])),
}
const toolOf = (name: string): string => (name in ASKING ? `${name}__echo` : `suite__${name}`)

const ABOUT_TOOLS = /^(?:tools-|elicitation-|input-required-)/
/** Beside those of server.test.ts. */
const MORE_NOT_APPLICABLE: Record<string, Record<string, string>> = {
  '2025-11-25': {
    'tools-call-with-logging': 'the log messages of a server are kept for its errors, and none goes to a client',
  },
}
/** What a cell cannot return, a server can. */
const PASSED = ['tools-call-embedded-resource', 'tools-call-mixed-content']

const ends: (() => Promise<void> | void)[] = []
let url: string

beforeAll(async () => {
  if (missing !== undefined) return
  const env = { MCP_BRIDGE_TOOLS: 'direct' }
  const bridge = await startHttpBridge({ servers: SERVERS, env }, (end) => void ends.push(end))
  // Servers that start for it learn what the suite's clients can be asked.
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }
  const { client } = await bridge.connect('legacy', { capabilities, atEnd: (end) => void ends.push(end) })
  await client.listTools()
  url = await serveWithoutToken(bridge, { toolOf }, (end) => void ends.push(end))
}, 300_000)
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

describe.each(Object.entries(SERVER_SCENARIOS))('revision %s', (revision, required) => {
  let checksOf: ChecksOf
  beforeAll(async () => {
    if (missing === undefined) checksOf = await runSuite(['server', '--url', url, '--requirements', revision])
  }, SUITE_TIMEOUT_MS + 5_000)

  const notApplicable = Object.entries({ ...NOT_APPLICABLE[revision]!, ...MORE_NOT_APPLICABLE[revision] }).filter(
    ([scenario]) => ABOUT_TOOLS.test(scenario) && !PASSED.includes(scenario),
  )
  const applicable = required.filter((one) => ABOUT_TOOLS.test(one) && !notApplicable.some(([other]) => one === other))

  it.for(applicable)('a bridge that lists tools passes the server scenario %s', (scenario) => {
    if (missing !== undefined) skip(missing)
    expect(checksOf(scenario).filter(({ status }) => status === 'FAILURE')).toEqual([])
    // A suite that checks nothing must not pass.
    expect(checksOf(scenario).map(({ status }) => status)).toContain('SUCCESS')
  })

  it.for(notApplicable)('the server scenario %s still does not apply, because %s', ([scenario]) => {
    if (missing !== undefined) skip(missing)
    expect(checksOf(scenario).filter(({ status }) => status === 'FAILURE')).not.toEqual([])
  })
})
