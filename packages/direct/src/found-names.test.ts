import { expect, it } from 'vitest'
import { DirectTools } from './direct-tools.ts'
import { foundTools } from './search-tools.ts'

/** What a client calls of servers with these tools. */
function toolsOf(tools: Record<string, string[]>): DirectTools {
  const shownNow = (server: string) => {
    if (tools[server]!.length === 0) throw new Error(`${server} is down`)
    return tools[server]!.map((name) => ({
      server,
      name,
      alias: name,
      signature: { parameters: [{ trueName: 'ref', schema: { $ref: '#/$defs/R' }, required: false }] },
      inputSchema: { $defs: { R: { type: 'object', properties: { k: { type: 'integer' } } } } },
    }))
  }
  const catalog = {
    of: (server: string) => ({ tools: tools[server]!.length === 0 ? undefined : shownNow(server) }),
    shownNow,
    shownTools: async (server: string) => shownNow(server),
  }
  const connected = { catalog, upstreams: { definitions: Object.keys(tools).map((name) => ({ name })) } }
  return new DirectTools(
    true,
    () => Promise.resolve(connected as never),
    () => {},
  )
}

/** The name by which a search finds a tool. */
async function foundName(tools: DirectTools, server: string, tool: string): Promise<string> {
  const { content } = foundTools([{ server, tool }], await tools.named())
  return (JSON.parse((content[0] as { text: string }).text) as { name: string }).name
}

it('two tools whose names look alike are found and called by names of their own', async () => {
  // One is named as if it were of another server.
  const tools = toolsOf({ hub: ['get', 'mine__get'], hub__mine: ['get', 'put'] })
  const calls: unknown[] = []
  for (const [server, name] of [
    ['hub', 'mine__get'],
    ['hub__mine', 'get'],
    ['hub__mine', 'put'],
  ] as const) {
    const found = await foundName(tools, server, name)
    calls.push([found === `${server}__${name}`, tools.call(found, {}).params])
  }
  const params = (server: string, tool: string) => expect.objectContaining({ server, tool })
  expect(calls).toEqual([
    [false, params('hub', 'mine__get')],
    [false, params('hub__mine', 'get')],
    [true, params('hub__mine', 'put')],
  ])
  expect(await tools.has('hub__mine__get', [])).toBe(false)
  expect(() => tools.call('hub__mine__get', {})).toThrow(/No server has the tool/)
})

it('a call keeps its name when the tool that looked alike is gone', async () => {
  const all = { hub: ['mine__get'], hub__mine: ['get', 'put'] }
  const tools = toolsOf(all)
  const found = await foundName(tools, 'hub', 'mine__get')
  all.hub__mine = ['put']
  expect(await foundName(tools, 'hub', 'mine__get')).toBe('hub__mine__get')
  expect(tools.call(found, {}).params).toMatchObject({ server: 'hub', tool: 'mine__get' })
})

it('an argument that its client encoded twice is read by the schema that a reference leads to', async () => {
  const tools = toolsOf({ hub: ['get'] })
  await tools.named()
  expect(tools.call('hub__get', { ref: '{"k": "1"}' }).params).toMatchObject({ kwargs: { ref: { k: 1 } } })
})

it('only servers that may have a tool are asked for it, and one that fails says why', async () => {
  const tools = toolsOf({ hub: ['get'], down: [] })
  expect(await tools.has('hub__get', [])).toBe(true)
  expect(await tools.has('other__get', [])).toBe(false)
  await expect(tools.has('down__get', [])).rejects.toThrow('down is down')
})

it('a search leaves out what only code can call', async () => {
  const docs = [{ server: 'user_tools', tool: 'saved' }]
  expect(foundTools(docs, await toolsOf({ hub: ['get'] }).named()).content).toMatchObject([
    { text: 'No tool was found.' },
  ])
})

it('no name is longer than 64 signs with what a client writes before it, or has other signs', async () => {
  for (const name of ['x'.repeat(100), 'get/it.now', 'größe', '日本', 'y'.repeat(38)]) {
    const found = await foundName(toolsOf({ hub: [name] }), 'hub', name)
    expect(`mcp__sandbridge__${found}`).toMatch(/^[\w-]{1,64}$/)
  }
})
