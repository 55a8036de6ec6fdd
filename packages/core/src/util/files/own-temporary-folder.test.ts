import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { ownTemporaryFolder } from './private-folder.ts'
import { needsPosix } from '../../../test/support/suite/needs.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

function emptyTemporary(): string {
  needsPosix('Windows has no modes')
  const folder = newFolder()
  vi.stubEnv('TMPDIR', folder)
  return folder
}

it('the folder is made for this user alone, and is the same the next time', () => {
  emptyTemporary()
  const folder = ownTemporaryFolder('x')!
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(ownTemporaryFolder('x')).toBe(folder)
})

it('a folder that others can write to, or a link, is not used', () => {
  const root = emptyTemporary()
  const folder = ownTemporaryFolder('x')!
  chmodSync(folder, 0o777)
  expect(ownTemporaryFolder('x')).toBeUndefined()
  rmSync(folder, { recursive: true })
  mkdirSync(path.join(root, 'elsewhere'), { mode: 0o700 })
  symlinkSync(path.join(root, 'elsewhere'), folder)
  expect(ownTemporaryFolder('x')).toBeUndefined()
})
