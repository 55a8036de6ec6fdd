// This file verifies requests that an upstream sends during a call: the client answers if it can, otherwise they are declined at once.
import { describe, expect, it } from 'vitest'
import { fixtureServer, published } from '../support/bridge-process.ts'
import { startBridge } from '../support/start-bridge.ts'

const asks = (method: string) => fixtureServer('raw.mjs', 'asks', method)
const question = 'answer = await mcp_asker.echo(text="x")\nanswer'

describe.each(['legacy', 'modern'] as const)('with a client of the %s era', (era) => {
  it(`a client of the ${era} era gets an elicitation that names the server, and its answer goes back`, async () => {
    const messages: string[] = []
    const bridge = await startBridge({
      era,
      servers: { asker: asks('elicitation/create') },
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', ({ params }) => {
          messages.push(params.message)
          return { action: 'accept', content: { choice: 'blue' } }
        }),
    })
    expect(await bridge.run(question)).toMatch(/'action': 'accept'.*'choice': 'blue'/)
    expect(messages).toEqual(["MCP server 'asker' asks: Which one?"])
  })

  it(`a client of the ${era} era gets several questions of one cell, each in its turn`, async () => {
    let count = 0
    const bridge = await startBridge({
      era,
      servers: { asker: asks('elicitation/create') },
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { count: (count += 1) } })),
    })
    const code = 'sorted([(await mcp_asker.echo(text="x")).content.count for _ in range(3)])'
    expect(await bridge.run(code)).toBe('[1, 2, 3]')
  })

  it(`a client of the ${era} era gets a sampling request, and its user sees which server asks`, async () => {
    let systemPrompt: string | undefined
    const bridge = await startBridge({
      era,
      servers: { asker: asks('sampling/createMessage') },
      capabilities: { sampling: {} },
      prepare: (client) =>
        client.setRequestHandler('sampling/createMessage', ({ params }) => {
          systemPrompt = params.systemPrompt
          return { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } }
        }),
    })
    expect(await bridge.run(question)).toContain('sampled')
    expect(systemPrompt).toBe("This request comes from MCP server 'asker'.")
  })

  it(`a client of the ${era} era gives its roots to servers`, async () => {
    const bridge = await startBridge({
      era,
      servers: { asker: asks('roots/list') },
      capabilities: { roots: {} },
      prepare: (client) => client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///project' }] })),
    })
    expect(await bridge.run(question)).toContain('file:///project')
  })

  it.each(['elicitation/create', 'sampling/createMessage', 'roots/list'])(
    `a client of the ${era} era that cannot answer %s is not asked, and the server is told at once`,
    async (method) => {
      const bridge = await startBridge({ era, servers: { asker: asks(method) } })
      expect(await bridge.run(question)).toMatch(/is not supported: this client|decline/)
    },
  )

  it(`the time limit stands still while the user of a client of the ${era} era thinks`, async () => {
    const bridge = await startBridge({
      era,
      servers: { asker: asks('elicitation/create') },
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', async () => {
          await new Promise((resolve) => setTimeout(resolve, 2_500))
          return { action: 'decline' }
        }),
    })
    await bridge.run('await runtime.list_tools("asker")')
    expect(await bridge.run(question, { timeout: 2 })).toContain('decline')
  })
})

it('a published server learns that its client can be asked', async () => {
  const bridge = await startBridge({
    servers: { everything: published.everything() },
    capabilities: { elicitation: {}, roots: {} },
  })
  const tools = await bridge.run('[t["tool"] for t in await runtime.list_tools("everything")]')
  expect(tools).toMatch(/elicit/)
})
