import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsLinux } from '../../../test/support/needs.ts'
import { isKeptOut } from './run-folder.ts'

it('a process that may not write to a folder of its user is kept out, and one that may leaves nothing there', () => {
  needsLinux('/sys is a folder of root that not even root can write to')
  const folder = mkdtempSync(path.join(tmpdir(), 'sb-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
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
