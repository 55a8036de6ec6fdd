import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsLinux } from '../../../test/support/needs.ts'
import { isKeptOut } from './run-folder.ts'

it('a process that may not write to a folder of its user is kept out, and one that may leaves nothing there', () => {
  needsLinux('/sys is a folder of root that not even root can write to')
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  expect([isKeptOut('/sys'), isKeptOut(folder)]).toEqual([true, false])
  expect(readdirSync(folder)).toEqual([])
})
