// This file verifies that recorded replies are checked against the tools' current output schemas.
import { expect, it } from 'vitest'
import { CatalogTool } from '../../../core/src/calls/catalog/model/catalog-tool.ts'
import { BridgeError } from '../../../core/src/errors.ts'
import { outdatedReplies } from './run-workflow.ts'

const catalogOf = (outputSchema?: unknown) => ({
  findTool: async (server: string, name: string) => {
    if (name === 'gone') throw new BridgeError('STATE_NOT_FOUND', 'There is no such tool')
    return new CatalogTool(server, server, name, {
      name,
      inputSchema: { type: 'object' },
      ...(outputSchema !== undefined && { outputSchema }),
    })
  },
})
const fixtureOf = (...results: unknown[]) => ({
  version: 1,
  args: {},
  calls: results.map((result) => ({ server: 'ledger', tool: 'add', args: {}, result })),
})
const NUMBER = { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] }

it('recorded replies that fit the output schema of today, or have none to fit, are not outdated', async () => {
  const good = fixtureOf({ content: [], structuredContent: { number: 4 } }, { content: [], isError: true }, 'odd')
  expect(await outdatedReplies(good, catalogOf(NUMBER))).toEqual([])
  expect(await outdatedReplies(fixtureOf({ content: [] }), catalogOf())).toEqual([])
  const gone = { ...good, calls: [{ ...good.calls[0]!, tool: 'gone' }] }
  expect(await outdatedReplies(gone, catalogOf(NUMBER))).toEqual([])
})

it('recorded replies that no longer fit the output schema are outdated, each tool once', async () => {
  const wrong = fixtureOf({ content: [], structuredContent: { number: 'x' } }, { content: [], structuredContent: {} })
  expect(await outdatedReplies(wrong, catalogOf(NUMBER))).toEqual([
    expect.stringMatching(
      /^A recorded reply of ledger\.add does not fit what it returns today: result\['number'\] must be int.*\.$/,
    ),
  ])
  expect(await outdatedReplies(fixtureOf({ content: [] }), catalogOf(NUMBER))).toEqual([
    expect.stringContaining('it has no structured content'),
  ])
})
