import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { PermissionFiles } from '@sandbridge/core/config'
import { rememberRules } from './remember-rule.ts'
import { UserRules } from '../../../core/src/config/permission-files.ts'
import { needsLinks, needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A project and a state folder. */
function setUp(profile?: string) {
  const folder = newFolder()
  const [project, stateDir] = ['project/.sandbridge', 'state'].map((name) => path.join(folder, name)) as [
    string,
    string,
  ]
  for (const one of [project, stateDir]) mkdirSync(one, { recursive: true })
  const warnings: string[] = []
  const files = new PermissionFiles(
    { stateDir, permissions: 'open', flow: 'off', profile },
    path.dirname(project),
    (message) => warnings.push(message),
  )
  return { files, warnings, stateDir, rules: path.join(project, 'permissions.json') }
}

it('a named pipe as the rules of a project is skipped with a warning', async () => {
  needsPosix('Windows has no such files')
  const { files, warnings, rules, stateDir } = setUp()
  execFileSync('mkfifo', [rules])
  expect(await files.read()).toBeUndefined()
  expect(warnings).toEqual([`${rules} is not an ordinary file. Its rules are skipped.`])
  // The user's own file is an error that only they can correct.
  execFileSync('mkfifo', [path.join(stateDir, 'permissions.json')])
  await expect(files.read()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

it('invalid rules of a project are an error, since skipping them would allow more', async () => {
  const { files, rules } = setUp()
  writeFileSync(rules, '{')
  await expect(files.read()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

it('rules behind a broken symbolic link are an error, of every file and of a folder above it', async () => {
  needsLinks()
  const { files, rules, stateDir } = setUp('work')
  const own = path.join(stateDir, 'permissions.json')
  for (const place of [own, path.join(stateDir, 'permissions-work.json'), rules]) {
    symlinkSync('gone.json', place)
    await expect(files.read()).rejects.toThrow(`${place}: is a broken symbolic link`)
    expect(files.hasChanged()).toBe(true)
    rmSync(place)
  }
  expect(await files.read()).toBeUndefined()

  symlinkSync('gone.json', own)
  await expect(new UserRules(stateDir).read()).rejects.toThrow(`${own}: is a broken symbolic link`)
  await expect(rememberRules(stateDir, [{ verdict: 'allow', rule: 'a__b' }])).rejects.toThrow('broken symbolic link')
  rmSync(own)

  renameSync(stateDir, `${stateDir}-away`)
  symlinkSync('state-gone', stateDir)
  await expect(files.read()).rejects.toThrow(`${own}: cannot be reached: ${stateDir} is a broken symbolic link`)
  rmSync(stateDir)
  symlinkSync('state-away', stateDir)
  expect(await files.read()).toBeUndefined()
})

it('an answer that is remembered goes into the file that a link leads to', async () => {
  needsLinks()
  const { stateDir } = setUp()
  const [own, target] = ['permissions.json', 'kept.json'].map((name) => path.join(stateDir, name)) as [string, string]
  writeFileSync(target, '{"permissions": {"deny": ["a__b"]}}')
  symlinkSync('kept.json', own)
  await rememberRules(stateDir, [{ verdict: 'allow', rule: 'a__c' }])
  expect(readlinkSync(own)).toBe('kept.json')
  expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({ permissions: { deny: ['a__b'], allow: ['a__c'] } })
})

it('a running bridge notices that the target of its rules is gone, and that it is back', async () => {
  needsLinks()
  const { files, stateDir } = setUp()
  const target = path.join(stateDir, '..', 'kept.json')
  writeFileSync(target, '{"permissions": {"deny": ["a__b"]}}')
  symlinkSync(target, path.join(stateDir, 'permissions.json'))
  expect(await files.read()).toBeDefined()
  renameSync(target, `${target}.away`)
  expect(files.hasChanged()).toBe(true)
  await expect(files.read()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  renameSync(`${target}.away`, target)
  expect(await files.read()).toBeDefined()
})

it('a profile trusts no text, because --distrust could not take that back', async () => {
  const { files, stateDir } = setUp('work')
  const trust = '{"trust": [{"server": "notes", "definition": "x"}]}'
  writeFileSync(path.join(stateDir, 'permissions-work.json'), trust)
  await expect(files.read()).rejects.toThrow('permissions-work.json: trust is for your own permissions.json')
  // The control: the same in the user's own file.
  rmSync(path.join(stateDir, 'permissions-work.json'))
  writeFileSync(path.join(stateDir, 'permissions.json'), trust)
  await files.read()
  expect(files.trust).toEqual([{ server: 'notes', definition: 'x' }])
})

it('rules are read again once a setting that they depend on has changed, however much later than its file', async () => {
  const { stateDir } = setUp()
  const settings: ConstructorParameters<typeof PermissionFiles>[0] = {
    stateDir,
    permissions: 'open',
    flow: 'off',
    profile: undefined,
  }
  const files = new PermissionFiles(settings, stateDir)
  expect([await files.read(), files.hasChanged()]).toEqual([undefined, false])
  Object.assign(settings, { permissions: 'readonly' })
  expect(files.hasChanged()).toBe(true)
  expect(await files.read()).toBeDefined()
  expect(files.hasChanged()).toBe(false)
})
