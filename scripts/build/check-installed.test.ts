import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'

it('a build in a clone without its dependencies says what to do, in one line', async () => {
  const clone = mkdtempSync(path.join(tmpdir(), 'clone-'))
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }))
  cpSync(path.join(import.meta.dirname, 'check-installed.mjs'), path.join(clone, 'scripts/build/check-installed.mjs'))
  const { code, stderr } = await runProgram(
    process.execPath,
    [path.join(clone, 'scripts/build/check-installed.mjs')],
    {},
  )
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'The dependencies of the build are not installed. Run `npm ci --include=dev` first.\n',
  })
})
