import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { needsPosix } from '../../../test/support/needs.ts'
import { withHelpersHeaders } from './headers-helper.ts'

const headersOf = async (headersHelper: string | undefined, headers: Record<string, string> = {}) => {
  const transport = {
    type: 'http' as const,
    url: 'https://s.example/mcp',
    headers,
    ...(headersHelper && { headersHelper }),
  }
  const definition = { name: 's', transport, source: { client: 'mcps', file: '' } }
  const place = { env: { PATH: process.env['PATH'] }, cwd: tmpdir() }
  return (await withHelpersHeaders(definition, transport, place)).headers
}

it('a headersHelper adds headers, which win over those of the entry, and knows the server', async () => {
  needsPosix('its command is for /bin/sh')
  const helper = `echo "{\\"authorization\\": \\"Bearer $CLAUDE_CODE_MCP_SERVER_NAME\\"}"`
  expect(await headersOf(helper, { Authorization: 'old', 'X-Kept': '1' })).toEqual({
    authorization: 'Bearer s',
    'X-Kept': '1',
  })
  expect(await headersOf(undefined, { 'X-Kept': '1' })).toEqual({ 'X-Kept': '1' })
})

it.each([
  ['exit 3', /exited with code 3/],
  ['echo hello', /did not print a JSON object/],
  ['echo "{\\"a\\": 1}"', /did not print a JSON object/],
])('a headersHelper that runs %j fails the start, and nothing that it printed is quoted', async (helper, words) => {
  needsPosix('its command is for /bin/sh')
  await expect(headersOf(`echo secret >&2; ${helper}`)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(words),
  })
  await expect(headersOf(`echo secret >&2; ${helper}`)).rejects.not.toThrow(/secret/)
})
