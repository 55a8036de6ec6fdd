// Rows of stored artifacts and saved tools.
import { ArtifactStore } from '@sandbridge/memories/saved/artifact-store.ts'
import { SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import type { SavedToolContent } from '@sandbridge/memories/saved/saved-tool.ts'
import type { Store } from '../../core/src/util/stores/store.ts'
import { rowsInStores } from '../../../bench/in-stores.ts'
import { median, ms, samples, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const LARGE_MIB = 20
const TOOLS = 100

export default (): Promise<BenchRow[]> =>
  rowsInStores(async (store) => [...(await artifactRows(store)), await toolsRow(store)])

async function artifactRows(store: Store): Promise<[string, string][]> {
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
    ['a small artifact saved', ms(median(small))],
    [`an artifact of ${LARGE_MIB} MiB saved, and read`, `${rate(saving)}, ${rate(opening)}`],
  ]
}

async function toolsRow(store: Store): Promise<[string, string]> {
  const saved = new SavedToolStore(store)
  for (let index = 0; index < TOOLS; index += 1) await saved.save(toolNamed(`tool_${index}`), () => Promise.resolve())
  const first = await timed(() => new SavedToolStore(store).list())
  const again = median(await samples(10, () => timed(() => saved.list())))
  return [`${TOOLS} saved functions listed first, and again`, `${ms(first)}, ${ms(again)}`]
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
