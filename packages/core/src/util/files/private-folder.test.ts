// This file verifies that folders are private to their owner, that their parents get the usual permissions, and that
// failures are reported.
import { statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { isOwnFolderSync, makePrivateFolder } from './private-folder.ts'
import { needsLinux, needsPosix } from '../../../test/support/suite/needs.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

const modeOf = (folder: string): number => statSync(folder).mode & 0o777

describe('makePrivateFolder', () => {
  it('makes a folder for its owner, and those above it as usual', () => {
    needsPosix('Windows has no modes')
    const top = newFolder()
    const folder = path.join(top, 'a', 'b', 'c')
    makePrivateFolder(folder)
    makePrivateFolder(folder)
    expect(modeOf(folder)).toBe(0o700)
    expect(modeOf(path.dirname(folder))).toBe(0o755 & ~process.umask())
  })

  it('ends with an error in /proc, where a folder has a parent and cannot be made', () => {
    needsLinux('it needs /proc')
    expect(() => makePrivateFolder('/proc/nope/below')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })
})

it('a folder that cannot be looked at is none of this user’s, and no error', () => {
  needsPosix('links take a privilege on Windows, where every folder counts as private')
  const top = newFolder()
  writeFileSync(path.join(top, 'file'), '')
  symlinkSync('loop', path.join(top, 'loop'))
  for (const name of ['none', 'file/below', 'loop/below', 'x'.repeat(300)])
    expect(isOwnFolderSync(path.join(top, name)), name).toBe(false)
  expect(isOwnFolderSync(top)).toBe(true)
})
