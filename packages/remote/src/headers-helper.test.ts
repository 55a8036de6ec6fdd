import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { HeldSecrets } from '@sandbridge/core/config/secrets'
import { helperAuth, withHelpersHeaders } from './headers-helper.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const url = 'https://s.example/mcp'
const place = { env: { PATH: process.env['PATH'], OWN: 'own', MCP_BRIDGE_SIGN_IN_KEY: 'key' }, cwd: tmpdir() }
const serverWith = (headersHelper: string, headers: Record<string, string> = {}) => {
  return { type: 'http' as const, url, headers, headersHelper }
}
/** A command, for any system's shell, that runs this. */
function command(source: string): string {
  const folder = newFolder()
  writeFileSync(path.join(folder, 'helper.cjs'), source)
  return `"${process.execPath}" "${path.join(folder, 'helper.cjs')}"`
}
const printing = (expression: string): string => command(`console.log(JSON.stringify(${expression}))`)
const headersOf = async (helper: string, headers?: Record<string, string>) =>
  (await withHelpersHeaders('s', serverWith(helper, headers), place)).headers

it('a headersHelper adds headers, which win over those of the entry, and knows the server', async () => {
  const helper = printing('{ authorization: "Bearer " + process.env.CLAUDE_CODE_MCP_SERVER_NAME }')
  expect(await headersOf(helper, { Authorization: 'old', 'X-Kept': '1' })).toEqual({
    authorization: 'Bearer s',
    'X-Kept': '1',
  })
  expect(await headersOf(command("console.log('\\uFEFF{}')"), { 'X-Kept': '1' })).toEqual({ 'X-Kept': '1' })
})

it.each([
  ['process.exit(3)', /exited with code 3/],
  ["console.log('hello')", /did not print a JSON object/],
  [`console.log('{"a": 1}')`, /did not print a JSON object/],
  [`console.log('{"secret name": "x"}')`, /a JSON object of valid headers/],
  [String.raw`console.log('{"a": "secret\\nb: c"}')`, /a JSON object of valid headers/],
])('a headersHelper that runs %j fails the start, and nothing that it printed is quoted', async (helper, words) => {
  const line = command(`console.error('secret'); ${helper}`)
  await expect(headersOf(line)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(words),
  })
  await expect(headersOf(line)).rejects.not.toThrow(/secret/)
})

it('a headersHelper has the variables of its user, and no key of the bridge', async () => {
  const printed = await headersOf(printing('{ x: process.env.OWN + process.env.MCP_BRIDGE_SIGN_IN_KEY }'))
  expect(printed).toEqual({ x: 'ownundefined' })
})

it('a headersHelper whose headers are refused runs once more for all requests, which are repeated', async () => {
  const held = new HeldSecrets()
  const server = serverWith(printing('{ Authorization: "Bearer new-" + process.env.OWN }'), {
    Authorization: 'Bearer old',
  })
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
