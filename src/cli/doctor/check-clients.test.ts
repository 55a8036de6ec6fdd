import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { discoverServers } from '../../config/discover.ts'
import { readSettings } from '../../config/settings/settings.ts'
import { checkClients } from './check-clients.ts'

it('doctor advises to move servers out of a client that starts the bridge, and not out of the folder of the bridge', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'check-clients-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const self = { command: 'npx', args: ['-y', 'sandbridge'] }
  for (const [file, name] of Object.entries({ 'MCPs/servers.json': 'notes', '.cursor/mcp.json': 'jira' })) {
    mkdirSync(path.join(home, path.dirname(file)))
    const mcpServers = { sandbridge: self, [name]: { command: name } }
    writeFileSync(path.join(home, file), JSON.stringify({ mcpServers }))
  }
  const settings = readSettings({}, { home })
  const discovered = await discoverServers({ settings, home, cwd: home, env: {} })
  expect(discovered.skipped.map(({ kind }) => kind)).toEqual(['self', 'self'])
  const findings = checkClients({ discovered, catalog: { knownTools: () => [] } })
  expect(findings.map(({ advice }) => advice)).toEqual(['sandbridge init --move --client cursor'])
})
