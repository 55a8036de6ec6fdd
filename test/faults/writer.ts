// A bridge that only writes each kind of file it stores: writer.ts HOME PREFIX COUNT. Prints `ready`, `wrote` after the
// first of each kind, and `done`.
import path from 'node:path'
import { Bridge } from '../../packages/core/src/bridge/bridge.ts'
import { openTenant } from '../../packages/core/src/bridge/tenants/open-tenant.ts'
import { readSettings } from '../../packages/core/src/config/settings/settings.ts'
import { createTrustStore } from '../../packages/core/src/config/trust.ts'
import { createLog } from '../../packages/core/src/util/log.ts'
import { settingsEnv } from './kept.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'

await import('@sandbridge/sandbridge/packages.ts')
const [home, prefix, count] = [process.argv[2]!, process.argv[3]!, Number(process.argv[4])]
const settings = readSettings(settingsEnv(home), { home })
const made = await Bridge.open(
  settings,
  createLog('error', () => {}),
)
const bridge = await openTenant(made, made.tenants.of(), () => made.close())
const trust = createTrustStore(settings.stateDir)
const TOOL = { imports: [], servers: [], signature: '() -> int', description: '', isAsync: false }

process.stdout.write('ready\n')
for (let index = 0; index < count; index += 1) {
  const name = `${prefix}${index}`
  await Promise.all([
    savedOf(bridge.own).artifacts.save(name, Buffer.from(`artifact ${name} ${'x'.repeat(20_000)}`)),
    savedOf(bridge.own).tools.save({ ...TOOL, name, source: `def ${name}():\n    return ${index}\n` }, async () => {}),
    bridge.set.connected.tokenStore.update({ name, url: 'http://127.0.0.1/' }, (grants) => {
      grants.byIssuer['http://127.0.0.1'] = { tokens: { access_token: name } }
    }),
    trust.trust(path.join(home, name), name),
  ])
  bridge.catalog.toolsChanged('known', { tools: [{ name, inputSchema: { type: 'object' } }] })
  if (index === 0) process.stdout.write('wrote\n')
}
await bridge.close()
process.stdout.write('done\n')
