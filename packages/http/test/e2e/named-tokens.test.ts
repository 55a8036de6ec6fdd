// @module-tag whole: it starts many bridges over HTTP
// This file verifies that what belongs to one token's name is inaccessible to all others, and that a running bridge
// applies `sandbridge token`.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bridgeEnv } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type Era, type HttpBridge, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'

const sandbridge = ({ home }: HttpBridge, ...args: string[]) => runCommand(['token', ...args], bridgeEnv(home))

async function newToken(bridge: HttpBridge, name: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await sandbridge(bridge, 'create', name, ...args)
  expect(stderr).toMatch(/not shown again/)
  return stdout.trim()
}

const handleIn = (text: string): string => /session="([\w-]+)"/.exec(text)![1]!

describe('what belongs to the name of one token', () => {
  const shared = sharedHttpBridge({ env: { MCP_BRIDGE_OUTPUT_TOKENS: '200' } })
  let ann: string
  let ben: string

  beforeAll(async () => {
    ann = await newToken(shared(), 'ann')
    ben = await newToken(shared(), 'ben')
  })

  it('a session handle works only with the token of its own name', async () => {
    const bridge = shared()
    const hers = await bridge.connect('modern', { token: ann })
    const session = handleIn(await hers.run('x = 42'))
    for (const token of [ben, bridge.token]) {
      const other = await bridge.connect('modern', { token })
      const stolen = await other.call({ code: 'print(x)', session })
      expect(stolen).toMatchObject({ isError: true, text: expect.stringMatching(/Unknown or expired session/) })
    }
    // The control: another connection with her token continues with it.
    const again = await bridge.connect('modern', { token: ann })
    expect(await again.run('x', { session })).toMatch(/^42/)
  })

  it('a session id of an older client works only with the token of its own name', async () => {
    const bridge = shared()
    const hers = await bridge.connect('legacy', { token: ann })
    const ping = async (token: string) => {
      const response = await fetch(bridge.url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-session-id': hers.transport.sessionId!,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' }),
      })
      await response.text()
      return response.status
    }
    expect([await ping(ben), await ping(bridge.token), await ping(ann)]).toEqual([404, 404, 200])
  })

  it.each<Era>(['legacy', 'modern'])('output can be read only with the token of its own name: %s', async (era) => {
    const bridge = shared()
    const hers = await bridge.connect(era, { token: ann })
    const uri = /sandbridge:\/\/output\/[\w-]+\/\d+/.exec(await hers.run('print("of-ann " * 2000)'))![0]
    for (const token of [ben, bridge.token]) {
      const other = await bridge.connect('modern', { token })
      await expect(other.client.readResource({ uri })).rejects.toThrow(/Unknown output|no output/)
    }
    expect(JSON.stringify(await hers.client.readResource({ uri }))).toContain('of-ann')
  })
})

it('a named token works from its creation until it expires, without a restart, and only in its header', async () => {
  const bridge = await startHttpBridge()
  const status = async (headers: Record<string, string>, query = '') => {
    const response = await fetch(bridge.url + query, { method: 'PUT', headers })
    await response.text()
    return response.status
  }
  const ann = await newToken(bridge, 'ann', '--expires', '90d')
  const bearer = { authorization: `Bearer ${ann}` }
  expect(await status(bearer)).toBe(405)
  for (const query of [`?token=${ann}`, `?access_token=${ann}`, `?authorization=Bearer%20${ann}`]) {
    expect(await status({}, query)).toBe(401)
  }
  expect(await status({ cookie: `token=${ann}`, 'x-api-key': ann })).toBe(401)
  const listed = await sandbridge(bridge, 'list', '--json')
  expect(JSON.parse(listed.stdout)).toEqual([
    { name: 'ann', created: expect.any(String), expires: expect.any(String), expired: false },
  ])
  expect((await sandbridge(bridge, 'list')).stdout).toMatch(/^ann  20\d\d-\S+  20\d\d-\S+\n$/)
  expect((await sandbridge(bridge, 'revoke', 'ann')).stdout).toBe('Revoked the token ann.\n')
  expect(await status(bearer)).toBe(401)
  expect(await status({ authorization: `Bearer ${bridge.token}` })).toBe(405)
  expect((await sandbridge(bridge, 'create', 'ann', '--expires', 'soon')).stderr).toMatch(/is not a duration/)
})

it('the record has the name of a token, and no file has the token', async () => {
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_LOG_LEVEL: 'debug' } })
  const ann = await newToken(bridge, 'ann')
  await (await bridge.connect('modern', { token: ann })).run('1')
  await (await bridge.connect('legacy', { token: ann })).run('2')
  await (await bridge.connect('modern')).run('3')
  const folder = path.join(bridge.home, 'MCPs/.sandbridge/audit')
  const record = () =>
    readdirSync(folder)
      .map((file) => readFileSync(path.join(folder, file), 'utf8'))
      .join('')
  const runs = () =>
    record()
      .split('\n')
      .filter((line) => line.includes('"type":"run"'))
      .map((line) => (JSON.parse(line) as Record<string, unknown>)['user'])
  await expect.poll(runs).toEqual(['ann', 'ann', undefined])
  expect(record() + bridge.stderr()).not.toContain(ann)
})
