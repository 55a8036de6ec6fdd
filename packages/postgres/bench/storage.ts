// Stored state in files and in PostgreSQL. An HTTP request waits for the look-up of its token, a cell for what it
// saves; nothing else is on a hot path.
import { rm } from 'node:fs/promises'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { recordIn } from '@sandbridge/record/audit/other-files.ts'
import { RECORD_LIMITS, RecordFile } from '@sandbridge/record/audit/record-file.ts'
import { NamedTokens } from '@sandbridge/http/access/named-tokens.ts'
import { ArtifactStore } from '@sandbridge/memories/saved/artifact-store.ts'
import { openStores } from '../../core/src/util/stores/open-stores.ts'
import { SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import type { SavedToolContent } from '@sandbridge/memories/saved/saved-tool.ts'
import type { Store } from '../../core/src/util/stores/store.ts'
import { NO_POSTGRES, TestPostgres } from '@sandbridge/postgres/test/support/postgres.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const LARGE_MIB = 20
const TOOLS = 100
const LINES = 1_000

export default async function storageRows(): Promise<BenchRow[]> {
  const stateDir = mkdtempSync(path.join(tmpdir(), 'sb-storage-'))
  const postgres = NO_POSTGRES === undefined ? await TestPostgres.start() : undefined
  try {
    const files = await rowsOf('files', stateDir, undefined)
    return postgres ? [...files, ...(await rowsOf('PostgreSQL', stateDir, await postgres.database()))] : files
  } finally {
    await postgres?.remove()
    await rm(stateDir, { recursive: true, force: true })
  }
}

async function rowsOf(kind: string, stateDir: string, storage: string | undefined): Promise<BenchRow[]> {
  const stores = await openStores({ stateDir, storage })
  const store = stores.of(undefined)
  const rows = [await tokenRow(store), ...(await artifactRows(store)), await toolsRow(store), await recordRow(store)]
  await stores.close()
  return rows.map(({ name, value }) => ({ name: `${kind}: ${name}`, value, goal: '', ok: null }))
}

async function tokenRow(store: Store) {
  const tokens = new NamedTokens(store)
  for (let index = 0; index < 20; index += 1) await tokens.create(`user-${index}`)
  const times = await samples(50, () => timed(() => tokens.list()))
  return { name: 'the look-up of a token for a request', value: ms(median(times)) }
}

async function artifactRows(store: Store) {
  const artifacts = new ArtifactStore(store)
  let index = 0
  const small = await samples(20, () =>
    timed(() => artifacts.save('small.txt', Buffer.from(`content ${(index += 1)}`))),
  )
  const data = Buffer.alloc(LARGE_MIB << 20, 'x')
  const saving = await timed(() => artifacts.save('large.bin', data))
  const opening = await timed(() => artifacts.read('large.bin'))
  const rate = (time: number) => `${((LARGE_MIB * 1000) / time).toFixed(0)} MiB/s`
  return [
    { name: 'a small artifact saved', value: ms(median(small)) },
    { name: `an artifact of ${LARGE_MIB} MiB saved, and read`, value: `${rate(saving)}, ${rate(opening)}` },
  ]
}

async function toolsRow(store: Store) {
  const saved = new SavedToolStore(store)
  for (let index = 0; index < TOOLS; index += 1) await saved.save(toolNamed(`tool_${index}`), () => Promise.resolve())
  const first = await timed(() => new SavedToolStore(store).list())
  const again = median(await samples(10, () => timed(() => saved.list())))
  return { name: `${TOOLS} saved functions listed first, and again`, value: `${ms(first)}, ${ms(again)}` }
}

function toolNamed(name: string): SavedToolContent {
  return {
    name,
    source: `def ${name}() -> int:\n    return 1\n`,
    imports: [],
    servers: [],
    signature: '() -> int',
    description: 'One.',
    isAsync: false,
  }
}

async function recordRow(store: Store) {
  const record = new RecordFile({ logs: recordIn(store), about: {}, sync: false, limits: RECORD_LIMITS })
  const line = { time: new Date().toISOString(), type: 'call', server: 'hub', text: 'x'.repeat(300) }
  await record.flush()
  const times = await samples(10, () => {
    for (let index = 0; index < LINES; index += 1) record.add(line)
    return timed(() => record.flush())
  })
  await record.close()
  return { name: `${LINES} lines of the record written`, value: ms(median(times)) }
}
