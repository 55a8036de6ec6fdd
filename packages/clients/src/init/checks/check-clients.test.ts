import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { discoverServers } from '../../../../core/src/config/discover.ts'
import { readSettings } from '../../../../core/src/config/settings/settings.ts'
import { checkClients } from './check-clients.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('doctor advises to move servers out of a client that starts the bridge, or names the file that init does not change; the folder of the bridge is left alone', async () => {
  const home = newFolder()
  const self = { command: 'npx', args: ['-y', 'sandbridge'] }
  const files = { 'MCPs/servers.json': 'notes', '.cursor/mcp.json': 'jira', 'project/.cursor/mcp.json': 'wiki' }
  for (const [file, name] of Object.entries(files)) {
    mkdirSync(path.join(home, path.dirname(file)), { recursive: true })
    const mcpServers = { sandbridge: self, [name]: { command: name } }
    writeFileSync(path.join(home, file), JSON.stringify({ mcpServers }))
  }
  const settings = readSettings({}, { home })
  const context = { home, cwd: path.join(home, 'project'), env: {}, ownPaths: [] }
  const discovered = await discoverServers({ ...context, settings })
  expect(discovered.skipped.map(({ kind }) => kind)).toEqual(['self', 'self', 'self'])
  const findings = checkClients({ discovered, settings, catalog: { of: () => ({ tools: [] }) } }, context)
  expect(findings.map(({ advice }) => advice)).toEqual([
    'sandbridge init --move --client cursor',
    `Take them out of ${path.join(home, 'project/.cursor/mcp.json')}.`,
  ])
})
