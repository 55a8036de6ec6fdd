import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { nodeFileSystem } from './config-file.ts'
import { Definitions } from './definitions.ts'
import type { DiscoveredServers } from './entries/server-definition.ts'
import { readSettings } from './settings/settings.ts'
import { newFolder } from '../../test/support/machine/new-folder.ts'

function setUp() {
  const home = newFolder()
  const file = path.join(home, 'servers.json')
  const write = (...names: string[]): void => {
    const entries = names.map((name) => [name, { command: 'true' }])
    writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(entries) }))
  }
  const env = {
    MCP_BRIDGE_STATE_DIR: path.join(home, 'state'),
    MCP_SERVERS_CONFIG: file,
    MCP_BRIDGE_SOURCES: 'servers-config',
  }
  const settings = { ...readSettings(env, { home }) }
  return { settings, write, definitions: new Definitions(settings, { env, home, cwd: home, ownPaths: [] }) }
}

const namesOf = ({ servers }: DiscoveredServers): string[] => servers.map(({ name }) => name)

it('the latest definitions are read again only when a file has changed', async () => {
  const { definitions, write } = setUp()
  write('one')
  const first = await definitions.latest()
  expect(namesOf(first)).toEqual(['one'])
  expect(await definitions.latest()).toBe(first)
  write('one', 'two')
  const second = await definitions.latest()
  expect(namesOf(second)).toEqual(['one', 'two'])
  expect(await definitions.latest()).toBe(second)
})

it('they are read again once a setting has changed, however much later than its file', async () => {
  const { definitions, settings, write } = setUp()
  write('one')
  expect(namesOf(await definitions.latest())).toEqual(['one'])
  Object.assign(settings, { sources: ['mcps'] })
  const changed = await definitions.latest()
  expect(namesOf(changed)).toEqual([])
  expect(await definitions.latest()).toBe(changed)
})

it('a read that ends after one that began later is not the latest', async () => {
  const { definitions, write } = setUp()
  write('one')
  let release: (() => void) | undefined
  const { ...real } = nodeFileSystem
  const slow = vi.spyOn(nodeFileSystem, 'readFile').mockImplementationOnce(async (file) => {
    const bytes = await real.readFile(file)
    await new Promise<void>((resolve) => (release = resolve))
    return bytes
  })
  onTestFinished(() => slow.mockRestore())
  // The client that asked is gone before it ends, and the next one of its place asks again.
  const early = definitions.latest()
  await expect.poll(() => release).toBeDefined()
  write('two')
  expect(namesOf(await definitions.latest())).toEqual(['two'])
  release!()
  // Control: it does end with what the file contained.
  expect(namesOf(await early)).toEqual(['one'])
  expect(namesOf(await definitions.latest())).toEqual(['two'])
})
