// This file verifies how `sandbridge config` changes settings.json, and how the list of settings is made.
import { chmodSync, existsSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { plugIn } from '@sandbridge/core/serve/cli/package.ts'
import { settingsHome } from '@sandbridge/core/test/support/machine/settings-home.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { describeSettings } from '@sandbridge/shared/describe-settings.ts'
import { loadSettings } from '../../../core/src/config/settings/file/load-settings.ts'
import { settingContext } from '../../../core/src/config/settings/settings.ts'
import { editSetting, findSetting } from '../../src/settings/edit-settings.ts'
import { settingsJsonSchema } from '../../src/settings/settings-schema.ts'

plugIn(PACKAGES)

const SECRET = 'hunter2-hunter2-hunter2-hunter2-x'

it('the list names each source and shows no secret', async () => {
  const { home, file } = settingsHome({
    http: { token: SECRET },
    sandbox: { packages: [`./https://ann:${SECRET}@h/x.whl`] },
  })
  const described = await describeSettings({ MCP_BRIDGE_SIGN_IN_KEY: 'a'.repeat(64), MCP_BRIDGE_POOL: '2' }, { home })
  expect(JSON.stringify(described)).not.toMatch(/hunter2|aaaa/)
  const of = (name: string) => described.settings.find((one) => one.name === name)
  expect(of('http.token')).toMatchObject({ source: 'file', place: `${file}:3:5`, value: '(set, not shown)' })
  expect(of('sandbox.packages')).toMatchObject({ value: './https://[redacted]@h/x.whl' })
  expect(of('signIn.key')).toMatchObject({ source: 'variable', place: 'MCP_BRIDGE_SIGN_IN_KEY' })
  expect(of('sandbox.pool')).toMatchObject({ source: 'variable', value: '2' })
  // Because of the packages.
  expect(of('sandbox.memory')).toMatchObject({ source: 'default', value: '1g (cells have packages)' })
})

describe('editSetting', () => {
  const edit = (home: string, name: string, text: string | undefined) =>
    editSetting(findSetting(name), text, settingContext({}, { home }))

  it.each(['"x"', '["x"]'])(
    'a group that is %s is told when one of its settings is changed, and kept',
    async (group) => {
      const { home, file } = settingsHome(`{"permissions": ${group}}`)
      await expect(edit(home, 'permissions.preset', 'careful')).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: `${file} has no object as permissions; edit it by hand`,
      })
      expect(readFileSync(file, 'utf8')).toBe(`{"permissions": ${group}}`)
    },
  )

  it('keeps comments, order and what the file has besides', async () => {
    const { home, file } = settingsHome('{\n  // Mine.\n  "sandbox": {\n    "pool": 2, // two\n  },\n}\n')
    await edit(home, 'sandbox.memory', '1g')
    await edit(home, 'MCP_BRIDGE_POOL', '3')
    expect(readFileSync(file, 'utf8')).toBe(
      '{\n  // Mine.\n  "sandbox": {\n    "pool": 3, // two\n    "memory": "1g",\n  },\n}\n',
    )
    await edit(home, 'sandbox.pool', undefined)
    expect(await loadSettings({}, { home })).toMatchObject({ poolCount: 1, memoryBytes: 2 ** 30 })
  })

  it('writes every kind so that it is read again, and creates a private file with a schema', async () => {
    const { home, file } = settingsHome()
    for (const [name, text] of [
      ['cells.projects', 'off'],
      ['cells.timeout', '2.5'],
      ['sandbox.memory', '1.5g'],
      ['output.tokens', '700'],
      ['servers.sources', 'mcps, -cursor'],
      ['sandbox.runtime', 'Podman'],
      ['http.token', SECRET],
    ] as const)
      await edit(home, name, text)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      $schema: './.sandbridge/settings.schema.json',
      cells: { projects: false, timeout: 2.5 },
      sandbox: { memory: '1.5g', runtime: 'podman' },
      output: { tokens: 700 },
      servers: { sources: ['mcps', '-cursor'] },
      http: { token: SECRET },
    })
    expect(JSON.parse(readFileSync(path.join(home, 'MCPs', '.sandbridge', 'settings.schema.json'), 'utf8'))).toEqual(
      settingsJsonSchema(),
    )
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await loadSettings({}, { home })).toMatchObject({ projects: false, httpToken: SECRET, warnings: [] })
  })

  it('gives an empty file its schema, and makes none to remove a setting', async () => {
    const { home, file } = settingsHome()
    await edit(home, 'sandbox.pool', undefined)
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, '\n')
    await edit(home, 'sandbox.pool', '2')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      $schema: './.sandbridge/settings.schema.json',
      sandbox: { pool: 2 },
    })
  })

  it('follows a link, and keeps the mode unless a secret is set', async () => {
    needsPosix('Windows has no modes, and links take a privilege')
    const { home, file } = settingsHome()
    const elsewhere = path.join(home, 'dotfiles.json')
    writeFileSync(elsewhere, '{}')
    chmodSync(elsewhere, 0o644)
    symlinkSync(elsewhere, file)
    await edit(home, 'sandbox.pool', '2')
    expect(statSync(elsewhere).mode & 0o777).toBe(0o644)
    expect(readFileSync(elsewhere, 'utf8')).toContain('"pool": 2')
    await edit(home, 'http.token', SECRET)
    expect(statSync(elsewhere).mode & 0o777).toBe(0o600)
  })

  it.each([
    ['sandbox.memroy', '1g', 'Did you mean sandbox.memory?'],
    ['tokens', '800', 'Did you mean output.tokens?'],
    ['resident', 'off', 'Did you mean resident.mode, resident.idle?'],
    ['__proto__', '1', 'is not a setting'],
    ['http.stateDir', '/x', 'MCP_BRIDGE_STATE_DIR only'],
    ['sandbox.pool', '99', 'a whole number, 0 to 16'],
    ['sandbox.pool', ' ', 'is not allowed'],
  ])('%s=%s is refused, and no file is written', async (name, text, reason) => {
    const { home, file } = settingsHome()
    await expect(async () => edit(home, name, text)).rejects.toThrow(reason)
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('does not repeat a refused secret, and leaves a file with a mistake as it is', async () => {
    const { home, file } = settingsHome('{"sandbox": {')
    await expect(edit(home, 'http.token', 'hunter2')).rejects.not.toThrow('hunter2')
    await expect(edit(home, 'sandbox.pool', '2')).rejects.toThrow(file)
    expect(readFileSync(file, 'utf8')).toBe('{"sandbox": {')
  })

  it('leaves a broken link as it is', async () => {
    needsPosix('Windows has no modes, and links take a privilege')
    const { home, file } = settingsHome()
    symlinkSync('gone.json', file)
    await expect(edit(home, 'output.tokens', '7000')).rejects.toThrow('broken symbolic link')
    expect(readlinkSync(file)).toBe('gone.json')
  })

  it('two edits at once both stay', async () => {
    const { home } = settingsHome()
    await Promise.all([edit(home, 'sandbox.pool', '2'), edit(home, 'output.tokens', '700')])
    expect(await loadSettings({}, { home })).toMatchObject({ poolCount: 2, outputTokenCount: 700 })
  })
})
