// This file verifies requests that an upstream sends during a call: the client answers if it can, otherwise they are
// declined at once.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client'
import { beforeEach, describe, expect, it } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome, published } from '../support/bridges/bridge-process.ts'
import { runCommand } from '../support/machine/run-program.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const asks = (method: string) => fixtureServer('raw.mjs', 'asks', method)
const TOOLS = [{ name: 'look_up', inputSchema: { type: 'object' as const } }]
const withTools = JSON.stringify({ messages: [], maxTokens: 5, tools: TOOLS })
const SERVERS = {
  asker: asks('elicitation/create'),
  sampler: asks('sampling/createMessage'),
  rooted: asks('roots/list'),
  tooled: fixtureServer('raw.mjs', 'asks', 'sampling/createMessage', withTools),
}
const ask = (server: string) => `answer = await mcp_${server}.echo(text="x")\nanswer`

describe.each(['legacy', 'modern'] as const)('with a client of the %s era', (era) => {
  let client: Client
  const able = sharedBridge({
    era,
    servers: { ...SERVERS, everything: published.everything() },
    capabilities: { elicitation: { form: {} }, sampling: { tools: {} }, roots: {} },
    prepare: (one) => (client = one),
  })

  /** Each test says what the client answers; without that, a question fails. */
  beforeEach(() => {
    for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'])
      client.removeRequestHandler(method)
  })

  it(`a client of the ${era} era gets an elicitation that names the server, and its answer goes back`, async () => {
    const messages: string[] = []
    client.setRequestHandler('elicitation/create', ({ params }) => {
      messages.push(params.message)
      return { action: 'accept', content: { choice: 'blue' } }
    })
    expect(await able().run(ask('asker'))).toMatch(/'action': 'accept'.*'choice': 'blue'/)
    expect(messages).toEqual(["MCP server 'asker' asks: Which one?"])
  })

  it(`a client of the ${era} era gets several questions of one cell, each in its turn`, async () => {
    let count = 0
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { count: (count += 1) } }))
    const code = 'sorted([(await mcp_asker.echo(text="x")).content.count for _ in range(3)])'
    expect(await able().run(code)).toBe('[1, 2, 3]')
  })

  it(`a client of the ${era} era gets a sampling request, and its user sees which server asks`, async () => {
    let systemPrompt: string | undefined
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      systemPrompt = params.systemPrompt
      return { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } }
    })
    expect(await able().run(ask('sampler'))).toContain('sampled')
    expect(systemPrompt).toBe("This request comes from MCP server 'sampler'.")
  })

  it(`the model of a client of the ${era} era is given a server's tools, and its use of one goes back`, async () => {
    let tools: unknown
    client.setRequestHandler('sampling/createMessage', ({ params }) => {
      tools = params.tools
      const content = { type: 'tool_use' as const, id: 'u1', name: 'look_up', input: { city: 'Rome' } }
      return { model: 'm', role: 'assistant', content: [content], stopReason: 'toolUse' }
    })
    expect(await able().run(ask('tooled'))).toMatch(/'type': 'tool_use'.*'city': 'Rome'/)
    expect(tools).toEqual(TOOLS)
    const told = await able().run('runtime.describe_server("tooled")["instructions"]')
    expect(told).toContain('"sampling":{"tools":{}}')
  })

  it(`a client of the ${era} era gives its roots to servers`, async () => {
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///project' }] }))
    expect(await able().run(ask('rooted'))).toContain('file:///project')
  })

  it(
    `the time limit stands still while the user of a client of the ${era} era thinks`,
    { tags: era === 'legacy' ? ['whole'] : [] },
    async () => {
      client.setRequestHandler('elicitation/create', async () => {
        await new Promise((resolve) => setTimeout(resolve, 3_000))
        return { action: 'decline' }
      })
      await able().run('await runtime.list_tools("asker")')
      expect(await able().run(ask('asker'), { timeout: 2 })).toContain('decline')
    },
  )

  it(`a published server learns that its client of the ${era} era can be asked`, async () => {
    const tools = () => able().run('[t["tool"] for t in await runtime.list_tools("everything")]')
    // The server tells of those tools once it has learnt it, maybe after its first list.
    await expect.poll(tools).toMatch(/elicit/)
  })
})

// One bridge for what a client cannot do: it can sample, without tools.
describe.each(['legacy', 'modern'] as const)('with a client of the %s era that can do little', (era) => {
  const { asker, rooted, tooled } = SERVERS
  const unable = sharedBridge({ era, servers: { asker, rooted, tooled }, capabilities: { sampling: {} } })

  it(`a client of the ${era} era that declares no tools in sampling is not sent any`, async () => {
    expect(await unable().run(ask('tooled'))).toContain("the cell's client does not support this request")
    const told = await unable().run('runtime.describe_server("tooled")["instructions"]')
    expect(told).toContain('"sampling":{}')
  })

  it.each(['asker', 'rooted'])(
    `a client of the ${era} era that cannot answer is not asked by %s, and the server is told at once`,
    async (server) => {
      expect(await unable().run(ask(server))).toMatch(/is not supported: this client|decline/)
    },
  )
})

// whole: a client that cannot sample is as one that cannot be asked.
describe.each(['legacy', 'modern'] as const)('with a client of the %s era that can do nothing', (era) => {
  const { sampler, tooled } = SERVERS
  const unable = sharedBridge({ era, servers: { sampler, tooled } })

  it.each(['sampler', 'tooled'])(
    `a client of the ${era} era that cannot answer is not asked by %s, and the server is told at once`,
    { tags: ['whole'] },
    async (server) => {
      expect(await unable().run(ask(server))).toMatch(/is not supported: this client|decline/)
    },
  )
})

it(
  'what a server lists for clients that can be asked is not told to others, and each finds its own list kept',
  { tags: ['whole'] },
  async () => {
    const home = makeHome({ everything: published.everything() })
    const tools = async (capabilities: ClientCapabilities) => {
      const bridge = await startBridge({ home, capabilities })
      await bridge.client.listTools()
      const names = await bridge.run('[t["tool"] for t in await runtime.list_tools("everything")]')
      await bridge.client.close()
      return names
    }
    const able = { elicitation: { form: {} } }
    expect(await tools(able)).toMatch(/elicit/)
    expect(await tools({})).not.toMatch(/elicit/)
    // A command knows what there is without starting anything, from whichever client has seen it.
    const { stdout } = await runCommand(['tools', 'everything'], bridgeEnv(home))
    expect(stdout).toContain('echo')
    const [book, ...others] = readdirSync(path.join(home, 'MCPs/.sandbridge/toolbooks'))
    const { listings } = JSON.parse(readFileSync(path.join(home, 'MCPs/.sandbridge/toolbooks', book!), 'utf8')) as {
      listings: { abilities: string }[]
    }
    expect([listings.map(({ abilities }) => abilities).toSorted(), others]).toEqual([['', 'elicitation'], []])
  },
)
