// Runs the client scenarios of the MCP conformance suite that each revision requires, against our upstream side:
// client.ts is the client. Installed apart:
//   npm ci --prefix test/conformance --ignore-scripts
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { skip } from '../support/needs.ts'
import { CLIENT_SCENARIOS } from './required-scenarios.ts'
import { missing, node, runSuite, SCENARIO_TIMEOUT_MS, scenariosOf } from './suite.ts'

const CLIENT = path.join(import.meta.dirname, 'client.ts')

describe.each(Object.entries(CLIENT_SCENARIOS))('revision %s', (revision, scenarios) => {
  it('the conformance suite requires the scenarios of clients that are tested', () => {
    if (missing !== undefined) skip(missing)
    expect(scenariosOf(revision, 'client')).toEqual(scenarios)
  })

  it.concurrent.for(scenarios)(
    'the bridge passes the client scenario %s',
    { timeout: SCENARIO_TIMEOUT_MS + 5_000 },
    async (scenario, ctx) => {
      // Which of several tests at once runs is known by its context alone.
      if (missing !== undefined) ctx.skip(missing)
      const command = `"${node}" "${CLIENT}"`
      const { passed, end } = await runSuite([
        'client',
        '--command',
        command,
        '--scenario',
        scenario,
        '--spec-version',
        revision,
      ])
      expect(end).toContain('OVERALL: PASSED')
      expect(passed, end).toBe(true)
      // A client that does nothing fails no check of some scenarios.
      expect(end).toMatch(/Passed: [1-9]/)
    },
  )
})
