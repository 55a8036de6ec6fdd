import { chmodSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsPosix } from '../../../test/support/suite/needs.ts'
import { processContext } from './client-context.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

it('a folder that this user may not enter, such as the one of root after su, is no project: the home folder is', () => {
  needsPosix('Windows has no modes')
  const before = process.cwd()
  const all = newFolder()
  const folder = path.join(all, 'closed')
  mkdirSync(folder)
  chmodSync(all, 0o755)
  process.chdir(folder)
  const isRoot = process.getuid!() === 0
  onTestFinished(() => {
    if (isRoot) process.seteuid!(0)
    process.chdir(before)
  })
  expect(processContext().cwd).toBe(process.cwd())
  chmodSync(folder, 0)
  if (isRoot) process.seteuid!(65_534)
  expect(processContext().cwd).toBe(homedir())
})
