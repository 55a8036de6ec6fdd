// This file verifies that a command says when its runs and calls are not in the record.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

it('exec prints its result, and says on stderr that the record cannot be written', async () => {
  const home = makeHome()
  const exec = () => runCommand(['exec', '-c', '1 + 1'], bridgeEnv(home))
  const state = path.join(home, 'MCPs/.sandbridge')
  mkdirSync(state)
  // A file in place of the folder: nothing can be written there, not even by root.
  writeFileSync(path.join(state, 'audit'), '')
  const { code, stdout, stderr } = await exec()
  expect([code, stdout]).toEqual([0, '2\n'])
  expect(stderr).toMatch(
    process.platform === 'win32'
      ? /^sandbridge: The audit log cannot be written: E[A-Z]+: .*\nFree space on the disk/
      : /^sandbridge: The audit log cannot be written: ENOTDIR.*\nFree space on the disk/,
  )
  expect(stderr.split('\n')).toHaveLength(3)
})
