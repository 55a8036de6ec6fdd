// @module-tag whole: it measures how good searches are
// This file verifies the goals of the search over recorded tools, the same that the benchmark prints.
import { expect, it } from 'vitest'
import { madeUpRows, recordedRows, serverName } from '../bench/catalog.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'

it('search meets its goals for recall, tokens and empty answers', async () => {
  const file = process.env['SANDBRIDGE_CATALOGUE'] ?? ''
  if (file === '') skip('only on request: SANDBRIDGE_CATALOGUE names a file of recorded tools')
  const rows = await recordedRows(file)
  expect(rows.length).toBeGreaterThan(8)
  expect(rows.filter((row) => row.ok === false)).toEqual([])
})

it('search meets its goals for recall, tokens and empty answers over servers that it was not tuned on', async () => {
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
])('the alias of the server of %s is %s', (packageName, expected) => {
  expect(serverName(packageName)).toBe(expected)
})
