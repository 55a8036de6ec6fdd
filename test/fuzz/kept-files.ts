// Fuzzes files in the bridge's state folder: it opens any content of one of them, and loses nothing else.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { shapes } from '../../packages/learned/src/learned-types.ts'
import { Bridge } from '../../packages/core/src/bridge/bridge.ts'
import { type OpenTenant, openTenant } from '../../packages/core/src/bridge/tenants/open-tenant.ts'
import { createTrustStore } from '../../packages/core/src/config/trust.ts'
import { BridgeError } from '../../packages/core/src/errors.ts'
import { readSettings } from '../../packages/core/src/config/settings/settings.ts'
import { createLog } from '../../packages/core/src/util/log.ts'
import { settingsEnv } from '../faults/kept.ts'
import { assertHolds, assertUnpolluted, type Family } from './family.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

const home = newFolder()
const env = settingsEnv(home)

async function withBridge<T>(work: (bridge: OpenTenant) => Promise<T>): Promise<T> {
  const made = await Bridge.open(
    readSettings(env, { home }),
    createLog('error', () => {}),
  )
  const bridge = await openTenant(made, made.tenants.of(), () => made.close())
  try {
    return await work(bridge)
  } finally {
    await bridge.close()
  }
}

const TOOL = { imports: [], servers: [], signature: '() -> int', description: 'Counts', isAsync: false }
const SERVER_URL = 'http://127.0.0.1:9/mcp'

/** One of every kind of file, written by the bridge itself. */
async function fill(): Promise<void> {
  mkdirSync(env.MCP_BRIDGE_STATE_DIR, { recursive: true })
  const definition = { mcpServers: { known: { command: 'node', args: ['known.mjs'] } } }
  writeFileSync(path.join(env.MCP_BRIDGE_STATE_DIR, 'servers.json'), JSON.stringify(definition))
  await createTrustStore(env.MCP_BRIDGE_STATE_DIR).trust(path.join(home, 'project/.mcp.json'), 'hash')
  await withBridge(async (bridge) => {
    for (const name of ['first', 'second']) {
      await savedOf(bridge.own).artifacts.save(name, Buffer.from(`the ${name} artifact`))
      await savedOf(bridge.own).tools.save({ ...TOOL, name, source: `def ${name}():\n    return 1\n` }, async () => {})
    }
    await bridge.set.connected.tokenStore.update({ name: 's', url: SERVER_URL }, (grants) => {
      grants.byIssuer['http://127.0.0.1:9'] = { tokens: { access_token: 'secret' } }
    })
    bridge.catalog.toolsChanged('known', {
      tools: [{ name: 'one_tool', inputSchema: { type: 'object' } }],
      instructions: 'Instructions',
    })
    bridge.catalog.learn(shapes, 'known', 'one_tool', { structuredContent: { answer: 1 } })
  })
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))

export async function keptFiles(): Promise<Family> {
  await fill()
  const files = filesBelow(path.join(home, 'MCPs/.sandbridge'))
  return {
    name: 'kept-files',
    seeds: files.map((file) => Buffer.concat([Buffer.from(`${path.relative(home, file)}\n`), readFileSync(file)])),
    shortRuns: 150,
    async attempt(input) {
      const [name] = input.toString('utf8').split('\n', 1)
      const file = files.find((one) => path.relative(home, one) === name) ?? files[0]!
      const before = readFileSync(file)
      writeFileSync(file, input.subarray(Buffer.byteLength(name!) + 1))
      try {
        await withBridge(async (bridge) => {
          const other = path.relative(home, file).includes('first') ? 'second' : 'first'
          const artifacts = await savedOf(bridge.own).artifacts.list()
          assertHolds(
            artifacts.some(({ name: kept }) => kept === other),
            'a broken file costs no other artifact',
          )
          const { tools } = await savedOf(bridge.own).tools.list()
          assertHolds(
            tools.some(({ name: kept }) => kept === other),
            'a broken file costs no other saved tool',
          )
          await bridge.catalog.readAhead()
          assertHolds(bridge.catalog.servers().length === 1, 'no kept file takes a configured server away')
          await bridge.set.connected.tokenStore.read({ name: 's', url: SERVER_URL }).catch((error: unknown) => {
            assertHolds(BridgeError.isInstance(error), 'a damaged token file is said in words')
          })
        })
        assertUnpolluted()
      } finally {
        writeFileSync(file, before)
      }
    },
    close: async () => rmSync(home, { recursive: true, force: true }),
  }
}
