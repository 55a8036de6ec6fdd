// Finding servers: a search in the copy of a registry of ten thousand, while the registry is down. Adding one: until a
// running bridge has called it.
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SILENT } from '../../core/src/util/log.ts'
import { Registries } from '@sandbridge/registry/directory/registries.ts'
import { bridgeEnv, CLI, closeTestBridge, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeHome, openTestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { FakeRegistry, listed } from '@sandbridge/core/test/support/servers/fake-registry.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const SERVERS = 10_000
const GOAL_MS = 50
const ADD_GOAL_MS = 3_000
const ADD_ROUNDS = 5
const THINGS = ['issues', 'calendars', 'weather', 'invoices', 'databases', 'mail', 'notes', 'maps', 'charts', 'code']
const ACTS = ['search', 'create', 'read', 'list', 'update', 'delete', 'export', 'import', 'share', 'watch']

/** From `sandbridge add` to the response of the server's first call, with a package that is already installed. */
async function addRow(): Promise<BenchRow> {
  const home = makeHome()
  const packages = [{ registryType: 'npm', identifier: 'tools', version: '1.0.0', transport: { type: 'stdio' } }]
  const registry = await FakeRegistry.start([listed({ name: 'io.example/tools', packages })])
  const { command, args = [] } = fixtureServer('documented.mjs', 'github')
  const bin = path.join(home, 'bin')
  await mkdir(bin)
  await writeFile(path.join(bin, 'npx'), `#!/bin/sh\nexec '${command}' ${args.map((arg) => `'${arg}'`).join(' ')}\n`)
  await chmod(path.join(bin, 'npx'), 0o755)
  const env = { MCP_BRIDGE_REGISTRIES: registry.address, PATH: `${bin}:${process.env['PATH']}` }
  const bridge = await openTestBridge({ home, env })
  await bridge.run('1')
  const times: number[] = []
  let right = true
  for (let round = 0; round < ADD_ROUNDS; round += 1) {
    const name = `tools${round}`
    times.push(
      await timed(async () => {
        await runProgram(process.execPath, [CLI, 'add', 'tools', '--name', name, '--yes'], bridgeEnv(home, env))
        right &&= (await bridge.run(`(await mcp_${name}.get_me())["login"]`)).includes('octo')
      }),
    )
  }
  await closeTestBridge(bridge)
  await registry.close()
  return {
    name: 'add to the answer of the first call, without the package’s own install',
    value: right ? ms(median(times)) : 'wrong answer',
    goal: `≤ ${ADD_GOAL_MS} ms`,
    ok: right && median(times) <= ADD_GOAL_MS,
  }
}

export default async function registryRows(): Promise<BenchRow[]> {
  const servers = Array.from({ length: SERVERS }, (_, index) =>
    listed({
      name: `io.example/server-${index}`,
      description: `Lets a model ${ACTS[index % 10]} ${THINGS[(index >> 4) % 10]} and ${ACTS[(index >> 2) % 10]} them`,
      packages: [{ registryType: 'npm', identifier: `s-${index}`, version: '1.0.0', transport: { type: 'stdio' } }],
    }),
  )
  const stateDir = await mkdtemp(path.join(tmpdir(), 'bench-registry-'))
  const registry = await FakeRegistry.start(servers)
  const addresses = [registry.address]
  const open = () => new Registries({ addresses, stateDir, env: {}, log: SILENT })
  await open().find('weather', { limit: 1 })
  await registry.close()
  let found = 0
  const times = await samples(15, (index) =>
    timed(async () => {
      const query = `${ACTS[index % 10]} ${THINGS[(index * 3) % 10]}`
      found += (await open().find(query, { limit: 10, offline: true })).servers.length
    }),
  )
  await rm(stateDir, { recursive: true })
  const right = found === 10 * times.length
  return [
    {
      name: `find in the copy of a registry of ${SERVERS.toLocaleString('en')} servers, read from disk`,
      value: right ? ms(median(times)) : `${found} found`,
      goal: `≤ ${GOAL_MS} ms`,
      ok: right && median(times) <= GOAL_MS,
    },
    await addRow(),
  ]
}
