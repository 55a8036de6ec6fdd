import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'
import { isInProfile } from '../../../core/src/util/files/private-folder.ts'
import { isKeptOut } from './run-folder.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('a process that may not write to a folder of its user is kept out, and one that may leaves nothing there', () => {
  needsLinux('/sys is a folder of root that not even root can write to')
  const folder = newFolder()
  const keptOut = (where: string, log: string): boolean => isKeptOut({ folder: where, log: path.join(where, log) })
  expect([keptOut('/sys', 'no.log'), keptOut(folder, 'no.log')]).toEqual([true, false])
  expect(readdirSync(folder)).toEqual([])
  writeFileSync(path.join(folder, 'a.log'), 'line')
  // A file of root that not even root can write to.
  expect([keptOut('/sys', 'kernel/notes'), keptOut(folder, 'a.log')]).toEqual([true, false])
  expect(readFileSync(path.join(folder, 'a.log'), 'utf8')).toBe('line')
  execFileSync('mkfifo', [path.join(folder, 'pipe.log')])
  expect(keptOut(folder, 'pipe.log')).toBe(false)
})

it("a folder is in a user's profile only where no link leads out of it", () => {
  const root = newFolder()
  const at = (...names: string[]): string => path.join(root, ...names)
  for (const folder of ['user/MCPs/run', 'user-two', 'shared/MCPs/run']) mkdirSync(at(folder), { recursive: true })
  symlinkSync(at('shared/MCPs'), at('user/linked'), 'junction')
  symlinkSync(at('user'), at('alias'), 'junction')
  const isIn = (folder: string): boolean => isInProfile(folder, at('user'))
  expect([at('user/MCPs/run'), at('alias/MCPs/run')].map(isIn)).toEqual([true, true])
  const others = [at('user/linked/run'), at('shared/MCPs/run'), at('user-two'), root, at('user'), at('user/missing')]
  expect(others.map(isIn)).toEqual(others.map(() => false))
})

it('what is in the place of a log, and may be written to, lets nobody in', () => {
  needsLinux('/sys is a folder of root that not even root can write to')
  const folder = newFolder()
  const at = (name: string): string => path.join(folder, name)
  writeFileSync(at('a.log'), '')
  symlinkSync(at('a.log'), at('link.log'))
  symlinkSync('/dev/null', at('null.log'))
  mkdirSync(at('folder.log'))
  const keptOut = (where: string) => (name: string) => isKeptOut({ folder: where, log: at(name) })
  const others = ['link.log', 'null.log', 'folder.log']
  // Controls: a log of its own, and a folder that may be written to.
  expect(keptOut('/sys')('a.log')).toBe(false)
  expect(others.map(keptOut(folder))).toEqual([false, false, false])
  expect(others.map(keptOut('/sys'))).toEqual([true, true, true])
})
