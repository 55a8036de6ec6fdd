import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'
import { newContainerName } from './owner.ts'
import { folderFor, profileFile, seccompProfileFile, visibleFolder } from './seccomp-file.ts'
import { seccompProfile } from './seccomp-profile.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('the seccomp file differs where memory is not counted', () => {
  expect(readFileSync(seccompProfileFile(false), 'utf8')).toBe(seccompProfile(false))
  expect(seccompProfile(false)).not.toBe(seccompProfile(true))
})

it('the seccomp file is written once, and again when something has removed it', () => {
  const file = seccompProfileFile(true)
  expect(readFileSync(file, 'utf8')).toBe(seccompProfile(true))
  expect(seccompProfileFile(true)).toBe(file)
  rmSync(path.dirname(file), { recursive: true })
  expect(readFileSync(seccompProfileFile(true), 'utf8')).toBe(seccompProfile(true))
  rmSync(seccompProfileFile(true))
  expect(readFileSync(seccompProfileFile(true), 'utf8')).toBe(seccompProfile(true))
})

it('the seccomp file of a dead bridge is removed, and that of a living one is not', async () => {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  const [dead, alive] = [`sandbridge-${child.pid}-12345-abcdef`, newContainerName()].map((name) =>
    path.join(visibleFolder(), name),
  )
  for (const folder of [dead!, alive!]) mkdirSync(folder)
  onTestFinished(() => [dead!, alive!].forEach((folder) => rmSync(folder, { recursive: true, force: true })))
  rmSync(seccompProfileFile(true))
  seccompProfileFile(true)
  expect([existsSync(dead!), existsSync(alive!)]).toEqual([false, true])
})

it('the error for a missing temporary folder names the seccomp file', () => {
  rmSync(seccompProfileFile(true))
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, '/nonexistent')
  expect(() => seccompProfileFile(true)).toThrow(/nonexistent is not writable/)
})

it('an engine of snap gets its files where it sees them', () => {
  const home = newFolder()
  const temporary = realpathSync(tmpdir())
  expect(visibleFolder('/snap/bin/docker', home, 'linux')).toBe(temporary)
  mkdirSync(path.join(home, 'snap/docker/common'), { recursive: true })
  expect(visibleFolder('/snap/bin/docker', home)).toBe(path.join(home, 'snap/docker/common'))
  expect(visibleFolder('/usr/bin/docker', home, 'linux')).toBe(temporary)
  const link = path.join(home, 'link')
  symlinkSync(temporary, link)
  vi.stubEnv('TMPDIR', link)
  expect(visibleFolder('/usr/bin/docker', home, 'linux')).toBe(temporary)
  const caches = path.join(realpathSync(home), 'Library/Caches/sandbridge')
  expect(visibleFolder('/opt/podman/bin/podman', home, 'darwin')).toBe(caches)
  expect(existsSync(caches)).toBe(true)
})

it('two engines that see other folders have a profile each, below the one that each sees', () => {
  needsLinux('a home of macOS is simulated where it is none')
  const home = realpathSync(newFolder())
  const ofLinux = profileFile('seccomp-x.json', () => 'x', 'podman')
  const { platform } = process
  vi.stubEnv('HOME', home)
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }))
  const ofMac = profileFile('seccomp-x.json', () => 'x', 'podman')
  expect(ofMac).toMatch(`${home}/Library/Caches/sandbridge/`)
  expect(folderFor('docker')).toBe(`${home}/Library/Caches/sandbridge`)
  expect(ofLinux.startsWith(home)).toBe(false)
})
