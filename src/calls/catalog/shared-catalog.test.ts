// This file verifies that one bridge's knowledge of servers reaches the files of a bridge on another machine, and that
// the newer one wins.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { BridgeError } from '../../errors.ts'
import { createLog } from '../../util/log.ts'
import { fileStore } from '../../keep/files/file-store.ts'
import { type CachedServer, definitionKey, DiskCache, toolFingerprint } from './disk-cache.ts'
import { SharedCatalog } from './shared-catalog.ts'

const definition = {
  name: 'hub',
  transport: { type: 'stdio', command: 'hub', args: [], env: {} },
} as unknown as ServerDefinition
const KEY = definitionKey(definition)
const tool = (name: string, description = name) => ({ name, description, inputSchema: { type: 'object' as const } })
const learned = (one: ReturnType<typeof tool>, type: string) => ({
  [one.name]: { of: toolFingerprint(one), shape: { type: [type] } },
})

/** Bridges that share a store, each with its own cache folder. */
function bridges(count: number) {
  const root = mkdtempSync(path.join(tmpdir(), 'sb-catalog-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const store = fileStore(path.join(root, 'shared'))
  const lines: string[] = []
  const made = Array.from({ length: count }, (_, index) => {
    const folder = path.join(root, `cache-${index}`)
    const shared = new SharedCatalog(
      store,
      createLog('info', (line) => void lines.push(line)),
    )
    const files = new DiskCache(folder, undefined, (key, entry) => shared.push(key, entry))
    const write = async (entry: CachedServer) => {
      files.write(KEY, entry)
      await shared.settled()
    }
    return { write, read: () => files.read(KEY), pull: () => shared.pull([definition], folder) }
  })
  return { made, store, lines }
}

it('a bridge that starts knows the tools that another bridge has listed, and what these return', async () => {
  const [one, two] = bridges(2).made
  const list = tool('list')
  await one!.write({ tools: [list], instructions: 'Hub', fetchedAt: 1_000, learned: learned(list, 'string') })
  expect(two!.read()).toBeUndefined()
  await two!.pull()
  expect(two!.read()).toEqual(one!.read())
})

it('what was read from a server later wins, whichever bridge shares it last', async () => {
  const [one, two, three] = bridges(3).made
  await two!.write({ tools: [tool('new')], fetchedAt: 2_000 })
  await one!.write({ tools: [tool('old')], fetchedAt: 1_000 })
  await three!.pull()
  expect(three!.read()?.tools?.map(({ name }) => name)).toEqual(['new'])
  await one!.pull()
  expect(one!.read()?.tools?.map(({ name }) => name)).toEqual(['new'])
})

it('a bridge keeps its own newer knowledge when it starts', async () => {
  const [one, two] = bridges(2).made
  await one!.write({ tools: [tool('old')], fetchedAt: 1_000 })
  const { write, read, pull } = two!
  await write({ tools: [tool('new')], fetchedAt: 2_000 })
  await pull()
  expect(read()?.tools?.map(({ name }) => name)).toEqual(['new'])
})

it('bridges share what each has learned of tools, except of those that have changed since', async () => {
  const [one, two, three] = bridges(3).made
  const [list, changed] = [tool('list'), tool('get', 'changed')]
  await one!.write({
    tools: [list, tool('get')],
    fetchedAt: 1_000,
    learned: { ...learned(list, 'string'), ...learned(tool('get'), 'number') },
  })
  await two!.write({ tools: [list, changed], fetchedAt: 2_000 })
  await three!.pull()
  expect(Object.keys(three!.read()!.learned!)).toEqual(['list'])
})

it('a store that fails costs a bridge one warning and nothing else, and is caught up with when it works', async () => {
  const { made, store, lines } = bridges(2)
  const [one, two] = made
  const works = store.document.bind(store)
  store.document = () => {
    throw new BridgeError('STATE_UNWRITABLE', 'PostgreSQL cannot be reached')
  }
  await one!.pull()
  await one!.write({ tools: [tool('list')], fetchedAt: 1_000 })
  expect(one!.read()?.tools).toHaveLength(1)
  expect(lines).toHaveLength(1)
  store.document = works
  await one!.write({ tools: [tool('list'), tool('get')], fetchedAt: 2_000 })
  await two!.pull()
  expect(two!.read()?.tools).toHaveLength(2)
})
