import { chmodSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { findPlaces, findPrograms, isStub, withUsualFolders } from './find-program.ts'
import { needsLinux, needsPosix } from '../../../test/support/suite/needs.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

it('programs are found in the order of PATH, each once', () => {
  needsPosix('Windows finds programs by their extension')
  const root = realpathSync(newFolder())
  for (const folder of ['one', 'two', 'none']) mkdirSync(path.join(root, folder))
  symlinkSync('two', path.join(root, 'two-again'))
  for (const folder of ['one', 'two']) {
    writeFileSync(path.join(root, folder, 'no-such-program-elsewhere'), '')
    chmodSync(path.join(root, folder, 'no-such-program-elsewhere'), 0o755)
  }
  const folders = ['none', 'two', 'relative', 'two-again', 'one', 'missing'].map((name) => path.join(root, name))
  vi.stubEnv('PATH', ['two', ...folders].join(':'))
  expect(findPrograms('no-such-program-elsewhere')).toEqual([
    path.join(root, 'two/no-such-program-elsewhere'),
    path.join(root, 'one/no-such-program-elsewhere'),
  ])
})

it('programs of Windows have an extension, and PATH other separators', () => {
  needsPosix('folders of Windows begin with a letter and a colon')
  const root = realpathSync(newFolder())
  for (const name of ['no-such-program', 'no-such-program.exe'])
    writeFileSync(path.join(root, name), '', { mode: 0o755 })
  vi.stubEnv('PATH', `relative;${root}/missing;${root}`)
  expect(findPrograms('no-such-program', 'win32')).toEqual([`${root}/no-such-program.exe`])
})

it.each(['.docker/bin', '.orbstack/bin', '.rd/bin', '.local/bin'])('an engine of macOS is found in ~/%s', (folder) => {
  needsPosix('the home folder is named by HOME')
  const home = realpathSync(newFolder())
  const bin = path.join(home, folder)
  mkdirSync(bin, { recursive: true })
  writeFileSync(path.join(bin, 'no-such-engine'), '', { mode: 0o755 })
  vi.stubEnv('HOME', home)
  vi.stubEnv('PATH', '/usr/bin:/bin:/usr/sbin:/sbin')
  expect(findPrograms('no-such-engine', 'darwin')).toEqual([path.join(bin, 'no-such-engine')])
})

it('what starts on macOS finds the programs of installers and of other package managers', () => {
  const { platform } = process
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  const folders = withUsualFolders('/usr/bin').split(path.delimiter)
  expect(folders).toEqual(expect.arrayContaining(['/opt/homebrew/bin', '/opt/podman/bin', '/opt/local/bin']))
})

it('a program of macOS that would ask for developer tools counts only where they are', () => {
  needsLinux('a machine without those tools')
  const found = (platform: NodeJS.Platform): string[] => [...findPlaces('git', '/usr/bin', platform).values()]
  expect(found('darwin')).not.toContain('/usr/bin/git')
  if (existsSync('/usr/bin/git')) expect(found('linux')).toContain('/usr/bin/git')
  expect(['/usr/bin/git', '/opt/homebrew/bin/git', '/usr/bin/env'].map((file) => isStub(file))).toEqual([
    true,
    false,
    false,
  ])
  expect(isStub('/usr/bin/git', ['/nowhere', '/usr'])).toBe(false)
})
