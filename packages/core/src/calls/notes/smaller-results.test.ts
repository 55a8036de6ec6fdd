import { expect, it } from 'vitest'
import { BridgeError } from '../../errors.ts'
import { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { smallerResults } from './smaller-results.ts'

const properties = { path: {}, head: {}, tail: {}, maxResults: {}, per_page: {} }
const tool = new CatalogTool('my files', 'my_files', 'read', {
  name: 'read',
  inputSchema: { type: 'object', properties },
})
const catalog = { resolveServer: () => 'my files', seenTool: () => tool as CatalogTool | undefined }
const call = { method: 'call_tool', params: { server: 'my files', tool: 'read' } }
const tooLarge = new BridgeError('FRAME_TOO_LARGE', 'too large')

it('the error about a result that is too large names the parameters of its tool that make it smaller', () => {
  expect(smallerResults(tooLarge, call, catalog)).toBe(
    'Parameters of mcp_my_files.read that may make it smaller: head, tail, maxResults, per_page.',
  )
})

it.each([
  ['another error', new BridgeError('TOOL_FAILED', 'no'), call, catalog],
  ['another method', tooLarge, { ...call, method: 'list_tools' }, catalog],
  ['a tool that is not known', tooLarge, call, { ...catalog, seenTool: () => undefined }],
])('nothing is named for %s', (_, error, of, known) => {
  expect(smallerResults(error, of, known)).toBeUndefined()
})
