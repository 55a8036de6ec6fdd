import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PermissionFiles } from './permission-files.ts'
import { needsPosix } from '../../test/support/needs.ts'

/** A project and a state folder. */
function setUp(profile?: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'rules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
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
