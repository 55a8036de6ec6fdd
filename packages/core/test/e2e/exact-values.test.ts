// This file verifies that values reach servers and cells as they were sent, in the type that was promised.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeTestBridge, fixtureServer, openTestBridge, type TestBridge } from '../support/bridge-process.ts'

const ID = '7960607143101464577'

const tools = {
  echo: { inputSchema: { type: 'object', properties: { id: { type: 'integer' }, rank: { type: 'object' } } } },
}

describe('values of servers', () => {
  let bridge: TestBridge
  beforeAll(async () => {
    bridge = await openTestBridge({ servers: { t: fixtureServer('written.mjs', JSON.stringify(tools)) } })
  })
  afterAll(() => closeTestBridge(bridge))

  it('an argument beyond 2^53 arrives exactly, and keys in their order', async () => {
    const shown = async (args: string) => (await bridge.run(`print(await mcp_t.echo(${args}))`)).trim()
    expect(await shown(`id=${ID}`)).toBe(`got {"id":${ID}}`)
    expect(await shown('id=-2**64')).toBe('got {"id":-18446744073709551616}')
    expect(await shown('rank={"b": 9, "30": [2**53 + 1], "7": 2}')).toBe(
      'got {"rank":{"b":9,"30":[9007199254740993],"7":2}}',
    )
  })
})
