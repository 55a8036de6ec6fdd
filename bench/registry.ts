// Finding servers: a search in the copy of a registry of ten thousand, with the registry gone.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SILENT } from '../src/log.ts'
import { Registries } from '../src/registry/registries.ts'
import { FakeRegistry, listed } from '../test/support/fake-registry.ts'
import { median, ms, samples, timed } from './measure.ts'
import type { BenchRow } from './row.ts'

const SERVERS = 10_000
const GOAL_MS = 50
const THINGS = ['issues', 'calendars', 'weather', 'invoices', 'databases', 'mail', 'notes', 'maps', 'charts', 'code']
const ACTS = ['search', 'create', 'read', 'list', 'update', 'delete', 'export', 'import', 'share', 'watch']

export async function registryRows(): Promise<BenchRow[]> {
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
  ]
}
