import { expect, it } from 'vitest'
import type { ServerDefinition } from '../../config/entries/server-definition.ts'
import { fileStore } from '../../util/stores/open-stores.ts'
import { createLog } from '../../util/log.ts'
import { toolbookOf } from './toolbook.ts'
import { ServerRecord } from './server-record.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

const OPTIONS = { abilities: () => '', now: Date.now, inputs: () => '', isShown: () => true, home: '/' }

it('describes a server of several clients by its name and the tools that rules allow each of them', () => {
  const folder = newFolder()
  const book = toolbookOf(fileStore(folder), 'key', createLog('error'))
  const recordOf = (name: string, hidden = ''): ServerRecord => {
    const definition: ServerDefinition = {
      name,
      transport: { type: 'stdio', command: 'issues', args: [], env: {} },
      source: { client: 'c', file: 'f' },
    }
    const isShown = (tool: { name: string }): boolean => tool.name !== hidden
    return new ServerRecord(definition, name, { ...OPTIONS, book, isShown })
  }
  const tools = ['create_issue', 'list_issues'].map((name) => ({ name, inputSchema: {} }))
  const ann = recordOf('ann')
  ann.update(tools, 'Tracks bugs.')
  const described = (): string[] => [recordOf('ann'), recordOf('ann', 'list_issues')].map((one) => one.description)
  // Each by its name: what the instructions say beside that is the purpose.
  expect([recordOf('ann').description, recordOf('tracks').description]).toEqual([
    'Tracks bugs',
    '2 tools: create_issue, list_issues',
  ])
  ann.update(tools, undefined)
  expect(described()).toEqual(['2 tools: create_issue, list_issues', '1 tool: create_issue'])
  ann.update(tools, 'Keeps the issues of a team.')
  expect(described()).toEqual(['Keeps the issues of a team', 'Keeps the issues of a team'])
})

it('a list that was read again and stayed the same is not saved each time', () => {
  const folder = newFolder()
  const book = toolbookOf(fileStore(folder), 'key', createLog('error'))
  const saved: number[] = []
  const keep = book.keepListing.bind(book)
  book.keepListing = (listing) => {
    saved.push(listing.fetchedAt)
    return keep(listing)
  }
  let now = 1_000
  const definition: ServerDefinition = {
    name: 'issues',
    transport: { type: 'stdio', command: 'issues', args: [], env: {} },
    source: { client: 'c', file: 'f' },
  }
  const record = new ServerRecord(definition, 'issues', { ...OPTIONS, book, now: () => now })
  const update = (...names: string[]): void => {
    const tools = names.map((name) => ({ name }))
    record.update(tools, undefined)
  }
  update('a')
  now += 1
  update('a')
  expect(saved).toEqual([1_000])
  expect(record.fetchedAt).toBe(1_001)
  update('a', 'b')
  record.fail({ reason: 'broken' })
  update('a', 'b')
  expect(saved).toHaveLength(3)
  expect(record.failure).toBeUndefined()
  // Its date says for how long the list counts.
  now += 60 * 60 * 1_000
  update('a', 'b')
  expect(saved.at(-1)).toBe(now)
})

it('a failure of a server that was renamed since names it as it is called now', async () => {
  const folder = newFolder()
  const recordOf = (name: string): ServerRecord => {
    const definition: ServerDefinition = {
      name,
      transport: { type: 'stdio', command: 'issues', args: [], env: {} },
      source: { client: 'c', file: 'f' },
    }
    const book = toolbookOf(fileStore(folder), 'key', createLog('error'))
    return new ServerRecord(definition, name, { ...OPTIONS, book, now: () => 1, inputs: () => 'x' })
  }
  const old = recordOf('old')
  const hint = 'Read its full output with `sandbridge servers old --log`.'
  old.fail({ reason: "Server 'old' could not be started: Server 'old' is gone", hint })
  old.erred({ reason: "Server 'old' exited with code 1", hint })
  await old.flush()
  const asNew = 'Read its full output with `sandbridge servers "a new" --log`.'
  expect(recordOf('a new').failure).toMatchObject({
    // What the server itself wrote stays as it is.
    reason: "Server 'a new' could not be started: Server 'old' is gone",
    hint: asNew,
  })
  expect(recordOf('a new').lastError).toMatchObject({ reason: "Server 'a new' exited with code 1", hint: asNew })
  expect(recordOf('old').failure?.hint).toBe(hint)
})
