import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsPosix } from '../../../test/support/needs.ts'
import { processContext } from './client-context.ts'

it('a folder that this user may not enter, such as the one of root after su, is no project: the home folder is', () => {
  needsPosix('Windows has no modes')
  const before = process.cwd()
  const all = mkdtempSync(path.join(tmpdir(), 'sb-'))
  const folder = path.join(all, 'closed')
  mkdirSync(folder)
  chmodSync(all, 0o755)
  process.chdir(folder)
  const isRoot = process.getuid!() === 0
  onTestFinished(() => {
    if (isRoot) process.seteuid!(0)
    process.chdir(before)
    rmSync(all, { recursive: true })
  })
  expect(processContext().cwd).toBe(process.cwd())
  chmodSync(folder, 0)
  if (isRoot) process.seteuid!(65_534)
  expect(processContext().cwd).toBe(homedir())
})
