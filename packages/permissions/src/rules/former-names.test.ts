// This file verifies that an entry which is renamed keeps its former names, and that no other entry gets them.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import type { DiscoveredServers, ServerDefinition } from '@sandbridge/core/config/entries'
import { FormerNames } from './former-names.ts'
import { withFileLock } from '@sandbridge/core/util/files'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const entry = (name: string, command = 'github-server', env = {}): ServerDefinition => ({
  name,
  transport: { type: 'stdio', command, args: ['--x'], env },
  source: { client: 'mcps', file: 'servers.json' },
})

function setUp(stateDir = newFolder()) {
  return async (...servers: ServerDefinition[]): Promise<Record<string, readonly string[] | undefined>> => {
    const found = servers.map((definition) => ({ definition, name: definition.name, isDouble: false }))
    const discovered: DiscoveredServers = { servers, found, untrusted: [], skipped: [], files: [] }
    // Each with a record of its own, as bridges one after the other have.
    const added = await new FormerNames(stateDir).added(discovered)
    return Object.fromEntries(added.servers.map(({ name, otherNames }) => [name, otherNames]))
  }
}

it('an entry that was renamed keeps its former names, also after another token and several renames', async () => {
  const read = setUp()
  expect(await read(entry('github'))).toEqual({ github: undefined })
  expect(await read(entry('gh', 'github-server', { TOKEN: 'new' }))).toEqual({ gh: ['github'] })
  expect(await read(entry('git-hub'))).toEqual({ 'git-hub': ['github', 'gh'] })
  expect(await read(entry('git-hub'))).toEqual({ 'git-hub': ['github', 'gh'] })
})

it('an entry that was removed before it came under another name keeps its former name', async () => {
  const read = setUp()
  await read(entry('github'))
  expect(await read()).toEqual({})
  expect(await read(entry('gh'))).toEqual({ gh: ['github'] })
})

it('a start goes on while another process keeps the names locked', async () => {
  const stateDir = newFolder()
  const file = path.join(stateDir, '.sandbridge', 'server-names.json')
  let release = (): void => {}
  const held = withFileLock(`${file}.lock`, () => new Promise<void>((resolve) => (release = resolve)))
  expect(await setUp(stateDir)(entry('github'))).toEqual({ github: undefined })
  release()
  await held
  await vi.waitUntil(() => existsSync(file))
})

it('entries with the same command that are there together do not get the names of each other', async () => {
  const read = setUp()
  const both = { work: undefined, home: undefined }
  expect(await read(entry('work', 'x', { A: '1' }), entry('home', 'x', { A: '2' }))).toEqual(both)
  expect(await read(entry('home', 'x', { A: '2' }))).toEqual({ home: undefined })
  expect(await read(entry('work', 'x'), entry('home', 'x'), entry('more', 'x'))).toEqual({ ...both, more: undefined })
})

it('another command under a name, or another name, gets no former name', async () => {
  const read = setUp()
  await read(entry('github'))
  expect(await read(entry('github', 'other-server'))).toEqual({ github: undefined })
  expect(await read(entry('gitlab', 'gitlab-server'))).toEqual({ gitlab: undefined })
  expect(await read(entry('constructor', 'gitlab-server'))).toEqual({ constructor: ['gitlab'] })
})
