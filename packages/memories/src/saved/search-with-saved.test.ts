import { beforeEach, expect, it } from 'vitest'
import { asked, beginCatalogs, catalog } from '@sandbridge/core/test/support/servers/catalog-tools.ts'
import type { SavedTool } from './saved-tool.ts'
import type { LoadableTools } from './loadable-tools.ts'
import { searchWithSaved } from './search-with-saved.ts'

beforeEach(beginCatalogs)

const saved = (name: string, description: string): SavedTool => ({
  name,
  description,
  signature: '()',
  source: '',
  imports: [],
  servers: [],
  isAsync: false,
  version: 1,
  createdAt: '2026-11-28T00:00:00.000Z',
})

/** The saved tools of one user. */
const ofUser = (...tools: SavedTool[]): LoadableTools =>
  ({ list: () => Promise.resolve({ tools, broken: [] }) }) as unknown as LoadableTools

it('each of several users finds only their own saved tools, although they search at the same time', async () => {
  const known = catalog()
  const [ann, bob] = [ofUser(saved('plan_of_ann', 'Buys a company')), ofUser(saved('plan_of_bob', 'Sells a company'))]
  const search = async (whose: LoadableTools) => (await searchWithSaved('plan company', {}, known, whose)).docs
  const both = await Promise.all([search(ann), search(bob)])
  expect(both.map((docs) => docs.map(({ tool }) => tool))).toEqual([['plan_of_ann'], ['plan_of_bob']])
  expect(both.flat().map(({ line }) => line)).toEqual([
    expect.stringContaining('Buys a company'),
    expect.stringContaining('Sells a company'),
  ])
  expect(asked).toHaveLength(2)
})

it('saved tools are ranked among the tools of servers', async () => {
  const known = catalog()
  const mine = ofUser(saved('close_issue', 'Close an issue that is done'), saved('weekly_report', 'Report of the week'))
  const find = async (query: string) => {
    const { docs, saved: used } = await searchWithSaved(query, { limit: 10 }, known, mine)
    expect(used.map(({ name }) => name)).toEqual(
      docs.flatMap(({ server, tool }) => (server === 'user_tools' ? tool : [])),
    )
    return docs.map(({ tool }) => tool)
  }
  expect((await find('close an issue'))[0]).toBe('close_issue')
  expect((await find('create an issue')).slice(0, 2)).toEqual(['create-issue', 'close_issue'])
  expect((await find('weekly report'))[0]).toBe('weekly_report')
  expect((await find('read a file'))[0]).toBe('read_file')
  // Where no word is known, tools with a similar name are shown, whoever made them.
  expect(await find('weeklyreprt xyz')).toContain('weekly_report')
})

it('a search does not say that no tool fits when a saved one does', async () => {
  const { docs } = await searchWithSaved('book a flight', {}, catalog(), ofUser(saved('book_flight', 'Book a flight')))
  expect(docs[0]).toMatchObject({ server: 'user_tools', tool: 'book_flight' })
  expect(docs[0]).not.toHaveProperty('weak')
})
