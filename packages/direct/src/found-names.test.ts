import { expect, it } from 'vitest'
import { callOfAny, foundName } from './direct-tools.ts'
import { foundTools } from './search-tools.ts'

/** Servers and their tools, one of which is named as if it were of another server. */
const TOOLS: Record<string, string[]> = { hub: ['get', 'mine__get'], hub__mine: ['get', 'put'] }
const shown = (server: string) =>
  TOOLS[server]!.map((name) => ({
    server,
    serverAlias: server,
    name,
    alias: name,
    signature: { parameters: [], closed: false },
  }))
const catalog = {
  servers: () => Object.keys(TOOLS).map((name) => ({ name })),
  shownNow: shown,
  shownTools: (server: string) => Promise.resolve(shown(server)),
} as unknown as Parameters<typeof callOfAny>[0]

it('two tools whose names look alike are found and called by names of their own', async () => {
  const calls: unknown[] = []
  for (const [server, name] of [
    ['hub', 'mine__get'],
    ['hub__mine', 'get'],
    ['hub__mine', 'put'],
  ] as const) {
    const found = foundName(catalog, { server, name })
    calls.push([found === `${server}__${name}`, (await callOfAny(catalog, found, {})).params])
  }
  const params = (server: string, tool: string) => expect.objectContaining({ server, tool })
  expect(calls).toEqual([
    [false, params('hub', 'mine__get')],
    [false, params('hub__mine', 'get')],
    [true, params('hub__mine', 'put')],
  ])
  await expect(callOfAny(catalog, 'hub__mine__get', {})).rejects.toThrow(/No server has the tool/)
})

it('a search without code leaves out what cells have saved', () => {
  const docs = [
    { server: 'user_tools', tool: 'saved' },
    { server: 'hub', tool: 'get' },
  ]
  const seenTool = (server: string) => shown(server)[0]
  const found = JSON.stringify(foundTools(docs, { ...catalog, seenTool } as unknown as typeof catalog))
  expect(found).toContain('hub__get')
  expect(found).not.toContain('saved')
})

it('no name is longer than 64 signs with what a client writes before it, or has other signs', () => {
  for (const name of ['x'.repeat(100), 'get/it.now', 'größe', '日本', 'y'.repeat(38)]) {
    const found = foundName(catalog, { server: 'hub', name })
    expect(`mcp__sandbridge__${found}`).toMatch(/^[\w-]{1,64}$/)
  }
})
