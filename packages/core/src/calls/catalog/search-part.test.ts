import { afterEach, expect, it, vi } from 'vitest'
import type { CatalogTool } from './model/catalog-tool.ts'
import { createSearch, search } from './search-part.ts'
import type { ServerRecord } from './server-record.ts'

const tools = ['send_message', 'create_issue', 'create_issues', 'найти_файл'].map(
  (name) => ({ server: 'hub', name, alias: name, description: '' }) as CatalogTool,
)
const record = { tools } as ServerRecord
const names = (found: readonly CatalogTool[]) => found.map(({ name }) => name)

afterEach(() => vi.restoreAllMocks())

it('a core without the ranking counts words, in any script, and says when no tool has one', async () => {
  vi.spyOn(search, 'isHere', 'get').mockReturnValue(false)
  const plain = await createSearch(new Map(), () => true)
  const find = (query: string) => plain.find(query, [record], { limit: 1 })
  expect(await find('create an issue')).toMatchObject({ tools: [{ name: 'create_issue' }], weak: undefined })
  expect(await find('файл')).toMatchObject({ tools: [{ name: 'найти_файл' }], weak: undefined })
  expect(await find('weather')).toMatchObject({ weak: 'No tool has a word of this query.' })
  expect(names(await plain.likeTool(record, 'create_issuess'))).toEqual(['create_issues', 'create_issue'])
})
