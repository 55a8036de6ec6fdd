// Runs the client scenarios of the MCP conformance suite that each revision requires, against our upstream side:
// client.ts is the client. Installed apart:
//   npm ci --prefix test/conformance --ignore-scripts
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { skip } from '../support/needs.ts'
import { missing, node, runSuite, SCENARIO_TIMEOUT_MS, scenariosOf } from './suite.ts'

const CLIENT = path.join(import.meta.dirname, 'client.ts')

/** The number that each revision requires, so that a suite that runs nothing does not pass. */
const REQUIRED: Record<string, number> = { '2025-11-25': 18, '2026-07-28': 32 }

describe.each(Object.entries(REQUIRED))('revision %s', (revision, count) => {
  const scenarios = missing === undefined ? scenariosOf(revision, 'client') : []

  it(`the conformance suite requires ${count} scenarios of clients`, () => {
    if (missing !== undefined) skip(missing)
    expect(scenarios).toHaveLength(count)
  })

  it.concurrent.each(scenarios)(
    'the bridge passes the client scenario %s',
    { timeout: SCENARIO_TIMEOUT_MS + 5_000 },
    async (scenario) => {
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
