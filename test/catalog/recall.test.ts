// Guards the goals of the search over recorded tools, the same that the benchmark prints.
import { expect, it } from 'vitest'
import { madeUpRows, recordedRows, serverName } from '../../bench/catalog/catalog-rows.ts'

it('recall, tokens and empty answers meet their goals', async (ctx) => {
  const file = process.env['SANDBRIDGE_CATALOGUE'] ?? ''
  if (file === '') ctx.skip('SANDBRIDGE_CATALOGUE does not name a file of recorded tools')
  const rows = await recordedRows(file)
  expect(rows.length).toBeGreaterThan(8)
  expect(rows.filter((row) => row.ok === false)).toEqual([])
})

it('recall, tokens and empty answers meet their goals over servers that the search was not written beside', async () => {
  const rows = await madeUpRows()
  expect(rows.length).toBeGreaterThan(8)
  expect(rows.filter((row) => row.ok === false)).toEqual([])
})

it.each([
  ['@modelcontextprotocol/server-github', 'github'],
  ['@playwright/mcp', 'playwright'],
  ['mcp-server-kubernetes', 'kubernetes'],
  ['exa-mcp-server', 'exa'],
  ['tavily-mcp', 'tavily'],
  ['@wonderwhy-er/desktop-commander', 'desktop-commander'],
])('the server of %s is called %s', (packageName, expected) => {
  expect(serverName(packageName)).toBe(expected)
})
