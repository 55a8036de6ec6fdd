// This file verifies settings.json: how it is read and checked, and what stands in its place.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { plugIn } from '../../src/serve/cli/package.ts'
import { loadSettings } from '../../src/config/settings/file/load-settings.ts'
import { loadLiveSettings } from '../../src/config/settings/file/live-settings.ts'
import { parse } from '../../src/config/settings/setting-kinds.ts'
import { namedSettings, settingContext } from '../../src/config/settings/settings.ts'
import { BridgeError } from '../../src/errors.ts'
import { PACKAGES } from '@sandbridge/sandbridge/packages.ts'
import { settingsHome } from '../support/machine/settings-home.ts'
import { needsPosix } from '../support/suite/needs.ts'

plugIn(PACKAGES)

const SECRET = 'hunter2-hunter2-hunter2-hunter2-x'

async function problemOf(home: string, env = {}): Promise<string> {
  const error: unknown = await loadSettings(env, { home }).catch((thrown: unknown) => thrown)
  if (!BridgeError.isInstance(error)) throw new Error('The settings were accepted')
  expect(error.code).toBe('CONFIG_INVALID')
  return error.message
}

describe('settings.json', () => {
  it('gives settings of every kind, with comments, and a variable wins', async () => {
    const { home, file } = settingsHome(`{
\u00A0 # Mine.
  "$schema": "./x.json",
  "sandbox": { "runtime": "podman", "memory": "1g", "pool": 0, "cpus": 1.5, "packages": ["numpy", "pandas>=2"] },
  "cells": { "timeout": 2.5, "languages": ["bash"], "projects": false, },
  "servers": { "sources": ["-cursor"], "config": ["~/a b.json", "/c.json"] },
  "permissions": { "preset": "careful" },
  "registries": { "addresses": ["https://r.example"] },
}`)
    const settings = await loadSettings({ MCP_BRIDGE_MEMORY: '2g', MCP_BRIDGE_POOL: ' ' }, { home })
    expect(settings).toMatchObject({
      runtime: 'podman',
      memoryBytes: 2 * 2 ** 30,
      poolCount: 0,
      cpus: 1.5,
      packages: ['numpy', 'pandas>=2'],
      timeoutMs: 2500,
      languages: ['bash'],
      projects: false,
      sources: ['-cursor'],
      serversConfig: [path.join(home, 'a b.json'), path.resolve('/c.json')],
      permissions: 'careful',
      registries: ['https://r.example'],
      warnings: [],
    })
    expect(settings.setBy).toMatchObject({
      MCP_BRIDGE_MEMORY: 'MCP_BRIDGE_MEMORY',
      MCP_BRIDGE_POOL: `${file}:4:53: sandbox.pool`,
    })
  })

  it('may have each value as its variable has it', async () => {
    const { home } = settingsHome({
      sandbox: { pool: '3', memory: '1 GB', cpus: '0.5', packages: 'numpy pandas', containerUser: 1000 },
      cells: { timeout: '1.5 min', projects: 'off', languages: 'bash' },
      servers: { sources: ['cursor,vscode'] },
      observability: { audit: false },
    })
    expect(await loadSettings({}, { home })).toMatchObject({
      poolCount: 3,
      memoryBytes: 2 ** 30,
      cpus: 0.5,
      packages: ['numpy', 'pandas'],
      containerUser: '1000',
      timeoutMs: 90_000,
      projects: false,
      languages: ['bash'],
      sources: ['cursor', 'vscode'],
      audit: 'off',
    })
  })

  it('is optional, may be blank, and may start with a byte order mark', async () => {
    expect((await loadSettings({}, settingsHome())).setBy).toEqual({})
    expect((await loadSettings({}, settingsHome(' \n'))).setBy).toEqual({})
    expect(await loadSettings({}, settingsHome('\uFEFF{"sandbox": {"pool": 3}}'))).toMatchObject({ poolCount: 3 })
  })

  it('is not read from the folder of a project', async () => {
    const { home } = settingsHome()
    const project = settingsHome({ sandbox: { pool: 9 } })
    const before = process.cwd()
    process.chdir(path.dirname(project.file))
    onTestFinished(() => process.chdir(before))
    expect(await loadSettings({}, { home })).toMatchObject({ poolCount: 1 })
    // The same file counts where it is the user's own.
    expect(await loadSettings({ MCP_BRIDGE_STATE_DIR: '.' }, { home })).toMatchObject({ poolCount: 9 })
  })

  it.each([
    ['{\n  "sandbox": { "memroy": "1g" }\n}', ':2:16: sandbox.memroy: is not a setting. Did you mean memory?'],
    ['{"sandbx": {}}', ':1:2: sandbx is not a group of settings. Did you mean sandbox?'],
    ['{"memory": "1g"}', ':1:2: memory is written as "sandbox": {"memory": …}'],
    ['{"MCP_BRIDGE_MEMORY": "1g"}', ':1:2: MCP_BRIDGE_MEMORY is written as "sandbox": {"memory": …}'],
    ['{"cells": {"tokens": 1}}', ':1:12: cells.tokens: is not a setting. It is output.tokens.'],
    ['{"output": {"token": 1}}', ':1:13: output.token: is not a setting. Did you mean tokens?'],
    ['{"sandbox": []}', ':1:2: sandbox: is not an object with settings'],
    ['{"sandbox": {"memory": "63m"}}', ':1:14: sandbox.memory: "63m" is not allowed. Allowed: a size'],
    ['{"sandbox": {"pool": "x"}}', ':1:14: sandbox.pool: "x" is not allowed. Allowed: a whole number, 0 to 16.'],
    ['{"sandbox": {"pool": 1.5}}', 'sandbox.pool: "1.5" is not allowed'],
    ['{"sandbox": {"pool": null}}', 'sandbox.pool: "null" is not allowed'],
    ['{"cells": {"timeout": 1e9}}', 'cells.timeout: "1000000000" is not allowed. Allowed: seconds, 1 to 86400'],
    ['{"cells": {"projects": 2}}', 'cells.projects: "2" is not allowed. Allowed: 1, true'],
    ['{"servers": {"sources": {}}}', 'servers.sources: "[object Object]" is not allowed. Allowed: all'],
    ['{"servers": {"sources": []}}', 'servers.sources: is empty'],
    ['{"servers": {"sources": ["notepad"]}}', 'servers.sources: "notepad" is not allowed'],
    ['{"sandbox": {"image": ""}}', 'sandbox.image: is empty'],
    ['{"http": {"stateDir": "/x"}}', 'http.stateDir: is set by MCP_BRIDGE_STATE_DIR only'],
    ['{"mcpServers": {}}', 'servers belong into another file'],
    ['[]', ':1:1: holds a list or a single value'],
    ['{"sandbox": {', 'a closing } is missing'],
    ['{"sandbox": {"pool": 1, "pool": 2}}', 'twice'],
    ['{"__proto__": {"sandbox": {"pool": 0}}}', ':1:2: __proto__ is not a group of settings'],
    ['{"sandbox": {"__proto__": {"pool": 0}}}', ':1:14: sandbox.__proto__: is not a setting'],
    ['{"constructor": {"pool": 0}}', 'constructor is not a group of settings'],
    ['{"a\\u001b[2Jb": {}}', '"a\\u001b[2Jb" is not a group'],
  ])('%s is refused', async (content, problem) => {
    const { home, file } = settingsHome(content)
    const message = await problemOf(home)
    expect(message).toContain(problem)
    expect(message.startsWith(file)).toBe(true)
    expect(({} as { pool?: unknown }).pool).toBeUndefined()
  })

  it('reports all problems of the file and of variables at once', async () => {
    const { home } = settingsHome({ sandbox: { pool: 99, cpus: -1 } })
    expect((await problemOf(home, { MCP_BRIDGE_PIDS: 'x' })).split('\n')).toHaveLength(3)
  })

  it('refuses a value that a variable overrides', async () => {
    const { home } = settingsHome({ sandbox: { pool: 99 } })
    expect(await problemOf(home, { MCP_BRIDGE_POOL: '1' })).toContain('sandbox.pool')
  })

  it.each([
    [{ http: { token: SECRET.slice(0, 12) } }],
    [{ http: { token: [SECRET] } }],
    [{ http: { tokn: SECRET } }],
    [{ http: { storage: `mysql://ann:${SECRET}@db/x` } }],
    [{ sandbox: { pool: SECRET } }],
    [{ sandbox: { packages: [`https://ann:${SECRET}@h/x.whl`] } }],
    [{ token: SECRET }],
    [{ signIn: { key: `${SECRET} ${SECRET}` } }],
  ])('no error repeats a secret: %j', async (content) => {
    const { home } = settingsHome(content)
    expect(await problemOf(home)).not.toContain('hunter2')
  })

  it('warns of a file that other users can change, or whose secrets they can read', async () => {
    needsPosix('Windows has no modes, and links take a privilege')
    const { home, file } = settingsHome({ http: { token: SECRET } })
    expect((await loadSettings({}, { home })).warnings).toEqual([])
    chmodSync(file, 0o644)
    expect((await loadSettings({}, { home })).warnings).toEqual([
      expect.stringMatching(/can read http\.token .*chmod 600/),
    ])
    chmodSync(file, 0o602)
    expect((await loadSettings({}, { home })).warnings).toEqual([expect.stringMatching(/Every user .* can change/)])
    const harmless = settingsHome({ sandbox: { pool: 2 } })
    chmodSync(harmless.file, 0o644)
    expect((await loadSettings({}, harmless)).warnings).toEqual([])
  })
})

it('a folder is an error', async () => {
  const { home, file } = settingsHome()
  mkdirSync(file)
  expect(await problemOf(home)).toContain('is a folder, not a file')
})

it('a named pipe is an error at once', async () => {
  needsPosix('named pipes that are files')
  const { home, file } = settingsHome()
  execFileSync('mkfifo', [file])
  expect(await problemOf(home)).toContain('is not an ordinary file')
})

it('a broken link is an error', async () => {
  needsPosix('Windows has no modes, and links take a privilege')
  const { home, file } = settingsHome()
  symlinkSync('gone.json', file)
  expect(await problemOf(home)).toContain(`${file} is a broken symbolic link`)
  rmSync(path.dirname(file), { recursive: true })
  symlinkSync('gone', path.dirname(file))
  expect(await problemOf(home)).toContain(`${file} cannot be reached: ${path.dirname(file)} is a broken symbolic link`)
})

it('a link to itself and a device are errors', async () => {
  needsPosix('Windows has no modes, and links take a privilege')
  const { home, file } = settingsHome()
  symlinkSync(file, file)
  expect(await problemOf(home)).toContain('leads back to itself')
  rmSync(file)
  symlinkSync('/dev/zero', file)
  expect(await problemOf(home)).toContain('is not an ordinary file')
})

it('a huge or deeply nested file is an error', async () => {
  const comment = `/*${' '.repeat(2 ** 20)}*/`
  expect(await problemOf(settingsHome(`${comment}{}`).home)).toContain('is larger than 1 MiB')
  expect(await problemOf(settingsHome(' '.repeat(6 * 2 ** 20)).home)).toContain('is too large')
  expect(await problemOf(settingsHome('['.repeat(500_000)).home)).toMatch(/nested too deeply|is not valid JSON/)
})

it('a file with thousands of problems names twenty', async () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`a${index}`, {}]))
  expect((await problemOf(settingsHome(many).home)).split('\n')).toHaveLength(20)
})

describe('loadLiveSettings', () => {
  it('applies live settings, tells of others once, and a variable still wins', async () => {
    const { home, file } = settingsHome()
    const live = await loadLiveSettings({ MCP_BRIDGE_LOAD: 'explicit' }, { home })
    expect(await live.refresh()).toEqual([])
    writeFileSync(file, '{"permissions": {"preset": "readonly"}, "servers": {"load": "lazy"}, "sandbox": {"pool": 3}}')
    expect(await live.refresh()).toEqual([expect.stringMatching(/^sandbox\.pool has changed in .* started again\.$/)])
    expect(await live.refresh()).toEqual([])
    expect(live.settings).toMatchObject({ permissions: 'readonly', load: 'explicit', poolCount: 1 })
    rmSync(file)
    await live.refresh()
    expect(live.settings.permissions).toBe('open')
  })

  it('refuses while the file is invalid, and keeps the settings from before', async () => {
    const { home, file } = settingsHome({ permissions: { preset: 'careful' } })
    const live = await loadLiveSettings({}, { home })
    writeFileSync(file, '{"permissions": {"preset": "opne"}}')
    await expect(live.refresh()).rejects.toThrow('permissions.preset: "opne" is not allowed')
    await expect(live.refresh()).rejects.toThrow('permissions.preset')
    expect(live.settings.permissions).toBe('careful')
    writeFileSync(file, '{}')
    expect(await live.refresh()).toEqual([])
    expect(live.settings.permissions).toBe('open')
  })
})

it('the settings.json of the documentation is accepted', async () => {
  const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8')
  const [, block] = /^```jsonc\n([^]*?)^```$/m.exec(page) ?? []
  const settings = await loadSettings({}, settingsHome(block))
  expect(Object.keys(settings.setBy)).toHaveLength(4)
})

describe('declarations', () => {
  const all = namedSettings()

  it('names are unique, and each sample of a schema is accepted by the parser', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    const context = settingContext({}, { home: '/home/ann' })
    for (const one of all) {
      const { enum: choices, minimum, maximum } = z.toJSONSchema(one.type(context), { io: 'input' })
      const samples = [...(choices ?? []), minimum, maximum].filter((sample) => sample !== undefined)
      for (const sample of samples)
        expect(parse(one, String(sample), context), `${one.name}: ${String(sample)}`).toBeDefined()
    }
  })
})
