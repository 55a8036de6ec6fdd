// @module-tag whole: a published suite
// Runs the server scenarios of the MCP conformance suite that each revision requires against the bridge over HTTP.
// fixtures.ts has what they call; not-applicable.ts says which of them a bridge cannot pass, and why.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { artifactUri } from '@sandbridge/memories/saved/artifact-store.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { EXPOSED, ourName, SERVERS, SETUP } from './fixtures.ts'
import { NOT_APPLICABLE } from './not-applicable.ts'
import { SERVER_SCENARIOS } from './required-scenarios.ts'
import { type ChecksOf, missing, runSuite, scenariosOf, SUITE_TIMEOUT_MS } from './suite.ts'
import { serveWithoutToken } from './without-token.ts'

/** Beside those that the revision requires. */
const MORE: Record<string, string[]> = {
  '2025-11-25': ['server-session-lifecycle'],
  '2026-07-28': ['http-header-validation'],
}
const OUR_URI: Record<string, string> = {
  'test://static-text': artifactUri('static.txt'),
  'test://static-binary': artifactUri('static.png'),
}

const ends: (() => Promise<void> | void)[] = []
let url: string

beforeAll(async () => {
  if (missing !== undefined) return
  const options = { servers: SERVERS, env: { MCP_BRIDGE_EXPOSE: EXPOSED } }
  const bridge = await startHttpBridge(options, (end) => void ends.push(end))
  // Servers that start for it learn what the suite's clients can be asked.
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }
  const client = await bridge.connect('legacy', { capabilities, atEnd: (end) => void ends.push(end) })
  for (const code of SETUP) {
    const { isError, text } = await client.call({ code, timeout: 120 })
    expect(isError, text).toBe(false)
  }
  const names = { toolOf: ourName, uriOf: (uri: string) => OUR_URI[uri] ?? uri }
  url = await serveWithoutToken(bridge, names, (end) => void ends.push(end))
}, 300_000)
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

describe.each(Object.entries(SERVER_SCENARIOS))('revision %s', (revision, required) => {
  const notApplicable = NOT_APPLICABLE[revision]!
  it('the suite requires the scenarios that are tested, and those that do not apply are among them', () => {
    if (missing !== undefined) skip(missing)
    expect(scenariosOf(revision, 'server')).toEqual(required)
    expect(Object.keys(notApplicable).filter((scenario) => !required.includes(scenario))).toEqual([])
  })

  let checksOf: ChecksOf
  beforeAll(async () => {
    if (missing === undefined) checksOf = await runSuite(['server', '--url', url, '--requirements', revision])
  }, SUITE_TIMEOUT_MS + 5_000)
  const failuresOf = (scenario: string) => checksOf(scenario).filter(({ status }) => status === 'FAILURE')

  it.for([...required, ...MORE[revision]!].filter((scenario) => !Object.hasOwn(notApplicable, scenario)))(
    'the bridge passes the server scenario %s',
    (scenario) => {
      if (missing !== undefined) skip(missing)
      expect(failuresOf(scenario)).toEqual([])
      // A suite that checks nothing must not pass.
      expect(checksOf(scenario).map(({ status }) => status)).toContain('SUCCESS')
    },
  )

  it.for(Object.entries(notApplicable))('the server scenario %s still does not apply, because %s', ([scenario]) => {
    if (missing !== undefined) skip(missing)
    expect(failuresOf(scenario)).not.toEqual([])
  })
})
