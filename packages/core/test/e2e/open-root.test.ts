// @module-tag whole: it starts bridges on machines that lack programs
// This file verifies the embedded sandbox of a bridge that runs as root where bubblewrap cannot run.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { findPrograms } from '../../src/util/process/find-program.ts'
import { bridgeEnv, BUILT_CLI, makeHome } from '../support/bridges/bridge-process.ts'
import { needsBubblewrap, needsRoot } from '../support/suite/needs.ts'
import { runProgram } from '../support/machine/run-program.ts'

/** Runs a cell on a machine without these programs: each of them is a file that cannot be started. */
async function cellWithout(missing: readonly string[], runtime: string) {
  const home = makeHome({})
  const file = path.join(home, 'cell.py')
  writeFileSync(file, 'print(40 + 2)')
  const masks = missing.flatMap((name) => findPrograms(name)).flatMap((one) => ['--ro-bind', '/dev/null', one])
  const command = [process.execPath, BUILT_CLI, '--verbose', 'exec', file]
  const env = { ...bridgeEnv(home), MCP_BRIDGE_RUNTIME: runtime }
  return runProgram('bwrap', ['--dev-bind', '/', '/', ...masks, '--', ...command], env)
}

const ENGINES = ['podman', 'docker', 'bwrap']

it('root gets the embedded sandbox without an outer wall by name only', async () => {
  needsRoot('other users have no rights to drop')
  needsBubblewrap()
  const refused = await cellWithout([...ENGINES, 'unshare'], 'auto')
  expect(refused.stderr).toMatch(
    /runs as root, and the embedded sandbox is open: it has no outer wall here: bubblewrap/,
  )
  expect(refused.stderr).toContain('MCP_BRIDGE_RUNTIME=pyodide')
  expect([refused.code, refused.stdout]).toEqual([expect.any(Number), ''])
  expect(refused.code).not.toBe(0)
  const accepted = await cellWithout([...ENGINES, 'unshare'], 'pyodide')
  expect([accepted.stdout, accepted.stderr]).toEqual(['42\n', expect.stringContaining('weaker than it could be')])
  const walled = await cellWithout(ENGINES, 'auto')
  expect([walled.stdout, walled.stderr]).toEqual(['42\n', expect.not.stringContaining('weaker')])
})
