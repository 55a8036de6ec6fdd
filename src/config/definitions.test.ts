import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { Definitions } from './definitions.ts'
import { readSettings } from './settings/settings.ts'

it('the latest definitions are read again only when a file has changed', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'sb-definitions-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const file = path.join(home, 'servers.json')
  const write = (...names: string[]): void => {
    const entries = names.map((name) => [name, { command: 'true' }])
    writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(entries) }))
  }
  const env = { MCP_BRIDGE_STATE_DIR: home, MCP_SERVERS_CONFIG: file, MCP_BRIDGE_SOURCES: 'servers-config' }
  const definitions = new Definitions(readSettings(env, { home }), { env, home, cwd: home, ownPaths: [] })
  write('one')
  const first = await definitions.latest()
  expect(first.servers.map(({ name }) => name)).toEqual(['one'])
  expect(await definitions.latest()).toBe(first)
  write('one', 'two')
  const second = await definitions.latest()
  expect(second.servers.map(({ name }) => name)).toEqual(['one', 'two'])
  expect(await definitions.latest()).toBe(second)
})
