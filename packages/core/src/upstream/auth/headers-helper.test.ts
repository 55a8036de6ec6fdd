import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { needsPosix } from '../../../test/support/needs.ts'
import { HeldSecrets } from '../../config/secrets/held-secrets.ts'
import { helperAuth, withHelpersHeaders } from './headers-helper.ts'

const url = 'https://s.example/mcp'
const place = { env: { PATH: process.env['PATH'], OWN: 'own', MCP_BRIDGE_SIGN_IN_KEY: 'key' }, cwd: tmpdir() }
const serverWith = (headersHelper: string, headers: Record<string, string> = {}) => {
  return { type: 'http' as const, url, headers, headersHelper }
}
const headersOf = async (helper: string, headers?: Record<string, string>) =>
  (await withHelpersHeaders('s', serverWith(helper, headers), place)).headers

it('a headersHelper adds headers, which win over those of the entry, and knows the server', async () => {
  needsPosix('its command is for /bin/sh')
  const helper = `echo "{\\"authorization\\": \\"Bearer $CLAUDE_CODE_MCP_SERVER_NAME\\"}"`
  expect(await headersOf(helper, { Authorization: 'old', 'X-Kept': '1' })).toEqual({
    authorization: 'Bearer s',
    'X-Kept': '1',
  })
  expect(await headersOf('printf "\\357\\273\\277{}"', { 'X-Kept': '1' })).toEqual({ 'X-Kept': '1' })
})

it.each([
  ['exit 3', /exited with code 3/],
  ['echo hello', /did not print a JSON object/],
  ['echo "{\\"a\\": 1}"', /did not print a JSON object/],
  ['echo "{\\"secret name\\": \\"x\\"}"', /a JSON object of valid headers/],
  [`printf '{"a": "secret\\\\nb: c"}'`, /a JSON object of valid headers/],
])('a headersHelper that runs %j fails the start, and nothing that it printed is quoted', async (helper, words) => {
  needsPosix('its command is for /bin/sh')
  await expect(headersOf(`echo secret >&2; ${helper}`)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(words),
  })
  await expect(headersOf(`echo secret >&2; ${helper}`)).rejects.not.toThrow(/secret/)
})

it('a headersHelper has the variables of its user, and no key of the bridge', async () => {
  needsPosix('its command is for /bin/sh')
  const printed = await headersOf(`echo "{\\"x\\": \\"$OWN-$MCP_BRIDGE_SIGN_IN_KEY-\${OWN:-other}\\"}"`)
  expect(printed).toEqual({ x: 'own--own' })
})

it('a headersHelper whose headers are refused runs once more for all requests, which are repeated', async () => {
  needsPosix('its command is for /bin/sh')
  const held = new HeldSecrets()
  const server = serverWith(`echo "{\\"Authorization\\": \\"Bearer new-$OWN\\"}"`, { Authorization: 'Bearer old' })
  const seen: (string | null)[] = []
  const send = helperAuth('s', server, place, held).through((to, init) => {
    const given = new Headers(init?.headers).get('authorization')
    seen.push(`${new URL(to).host} ${given}`)
    return Promise.resolve(new Response(null, { status: given === 'Bearer new-own' ? 200 : 401 }))
  })
  const ask = async (to: string) => (await send(to, { headers: server.headers })).status
  expect(await Promise.all([ask(url), ask(url), ask('https://other.example/')])).toEqual([200, 200, 401])
  expect(await ask(url)).toBe(200)
  expect(seen.filter((one) => one === 's.example Bearer new-own')).toHaveLength(3)
  expect(seen.filter((one) => one?.startsWith('other'))).toEqual(['other.example Bearer old'])
  expect([...held.values]).toContain('new-own')
})
