import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { needsRoot } from '../../../test/support/suite/needs.ts'
import { letOthersRead, makeReadableFolder } from './let-others-through.ts'
import { isRealRoot } from './real-root.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

it("root's sandboxes can read what root makes for them, whatever the umask", async () => {
  needsRoot('the sandboxes of other users run as these users')
  const outer = newFolder()
  const before = process.umask(0o077)
  onTestFinished(() => void process.umask(before))
  const folder = path.join(outer, 'a/b')
  await makeReadableFolder(folder)
  mkdirSync(path.join(folder, 'package'))
  for (const name of ['module.py', 'program']) writeFileSync(path.join(folder, 'package', name), '')
  chmodSync(path.join(folder, 'package/program'), 0o700)
  const modes = (): number[] =>
    ['', 'a', 'a/b', 'a/b/package', 'a/b/package/module.py', 'a/b/package/program'].map(
      (name) => statSync(path.join(outer, name)).mode & 0o777,
    )
  expect(modes()).toEqual([0o700, 0o755, 0o755, 0o700, 0o600, 0o700])
  await letOthersRead(folder)
  expect(modes()).toEqual([0o700, 0o755, 0o755, 0o755, 0o644, 0o755])
})

it.each([
  ['the machine', '0 0 4294967295', true],
  ['a namespace that root made', '0 0 1', true],
  ['a namespace with other users', '0 1000 1\n1 100000 65536', true],
  ['a namespace that a user made for itself', '0 1000 1', false],
])('root of %s is root with other users to become, or it is not', (_, map, is) => {
  needsRoot('others are never root')
  const file = path.join(newFolder(), 'uid_map')
  writeFileSync(file, `         ${map}\n`)
  expect(isRealRoot(file)).toBe(is)
})
