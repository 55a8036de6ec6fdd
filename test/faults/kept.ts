// Where a bridge of these tests stores its files, and how they are read again.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Bridge } from '../../packages/core/src/bridge/bridge.ts'
import { openTenant } from '../../packages/core/src/bridge/tenants/open-tenant.ts'
import { readSettings } from '../../packages/core/src/config/settings/settings.ts'
import { createTrustStore } from '../../packages/core/src/config/trust.ts'
import { createLog } from '../../packages/core/src/util/log.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

export const settingsEnv = (home: string) => ({
  MCP_BRIDGE_STATE_DIR: path.join(home, 'MCPs'),
  MCP_BRIDGE_CACHE_DIR: path.join(home, 'cache'),
  MCP_BRIDGE_SOURCES: 'mcps',
  MCP_BRIDGE_POOL: '0',
  MCP_BRIDGE_RUNTIME: 'pyodide',
  MCP_BRIDGE_SIGN_IN_KEY: 'none',
})

/** A home with one server, `known`, that is never started. */
export function makeKeptHome(): string {
  const home = newFolder()
  mkdirSync(path.join(home, 'MCPs'))
  writeFileSync(
    path.join(home, 'MCPs/servers.json'),
    '{"mcpServers": {"known": {"command": "node", "args": ["known.mjs"]}}}',
  )
  return home
}

/** What a new bridge finds. `warnings` are those of the log. */
export async function readKept(home: string) {
  const warnings: string[] = []
  const settings = readSettings(settingsEnv(home), { home })
  const made = await Bridge.open(
    settings,
    createLog('warning', (line) => warnings.push(line)),
  )
  const bridge = await openTenant(made, made.tenants.of(), () => made.close())
  try {
    const artifacts = await savedOf(bridge.own).artifacts.list()
    for (const { name } of artifacts) await savedOf(bridge.own).artifacts.read(name)
    const { tools, broken } = await savedOf(bridge.own).tools.list()
    const trusted = await createTrustStore(settings.stateDir).list()
    const tokenOf = async (name: string) =>
      (await bridge.set.connected.tokenStore.read({ name, url: 'http://127.0.0.1/' })).byIssuer['http://127.0.0.1']
        ?.tokens?.access_token
    await bridge.catalog.readAhead()
    return {
      artifacts: artifacts.map(({ name }) => name),
      tools: tools.map(({ name }) => name),
      broken,
      trusted,
      tokenOf,
      warnings,
    }
  } finally {
    await bridge.close()
  }
}
