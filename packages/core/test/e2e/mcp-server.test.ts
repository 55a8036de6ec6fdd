// This file verifies what a client sees before any Python runs, in both protocol eras.
import { readdirSync, readFileSync } from 'node:fs'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { fixtureServer } from '../support/bridges/bridge-process.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { needsLinux } from '../support/suite/needs.ts'

const CAPABILITIES = 'resource://mcp-server-code-execution-mode/capabilities'

/** The process ids of a process's children; Linux only. */
function childrenOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  )
}

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  const shared = sharedBridge({
    era,
    servers: { files: { ...fixtureServer('raw.mjs'), description: 'My files' } },
  })

  it(`a client of the ${era} era gets one tool, for at most 150 tokens`, async () => {
    const { client } = shared()
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(['run_python'])
    expect(tools[0]!.inputSchema.required).toEqual(['code'])
    expect(Object.keys(tools[0]!.inputSchema.properties!)).toEqual(['code', 'servers', 'timeout'])
    expect(encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(150)
  })

  it(`a client of the ${era} era that searches for tools always loads the tool, and gets words to find it by`, async () => {
    const { client } = shared()
    const { tools } = await client.listTools()
    expect(tools[0]!._meta).toEqual({ 'anthropic/alwaysLoad': true })
    expect(client.getInstructions()).toMatch(/^run_python [^\n]*tools of every MCP server[^\n]*$/)
  })

  it(`a client of the ${era} era reads in the definition how to call tools, what is kept, and where files are`, async () => {
    const { client } = shared()
    const { tools } = await client.listTools()
    for (const said of ['await', 'keyword arguments', 'variables persist', 'host files only through tools']) {
      expect(tools[0]!.description).toContain(said)
    }
  })

  it(`a client of the ${era} era reads the capabilities`, async () => {
    const { client } = shared()
    const { resources } = await client.listResources()
    expect(resources.map((resource) => resource.uri)).toEqual([CAPABILITIES])
    const { contents } = await client.readResource({ uri: CAPABILITIES })
    expect(contents[0]).toMatchObject({
      mimeType: 'text/markdown',
      text: expect.stringContaining('- mcp_files: My files'),
    })
  })

  it(`a client of the ${era} era gets an error for another tool or resource`, async () => {
    const { client } = shared()
    await expect(client.callTool({ name: 'rm', arguments: {} })).rejects.toThrow(/Unknown tool 'rm'/)
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow()
  })

  // whole: in the legacy era, nearly all other tests do.
  it(`a client of the ${era} era runs a cell`, { tags: era === 'legacy' ? ['whole'] : [] }, async () => {
    expect(await shared().run('6 * 7')).toBe('42')
  })
})

it('the bridge lists the same bytes with no upstream tools and with 300', async () => {
  const [none, all] = [
    await startBridge(),
    await startBridge({ servers: { many: fixtureServer('raw.mjs', 'many', '300') } }),
  ]
  expect(await all.run('len(await runtime.list_tools("many")), await runtime.list_servers()')).toBe("(300, ['many'])")
  const list = async (bridge: typeof none) => JSON.stringify(await bridge.client.listTools())
  expect(await list(all)).toBe(await list(none))
})

it('the bridge answers initialize and tools/list while no sandbox can start', async () => {
  const { client } = await startBridge({ env: { MCP_BRIDGE_RUNTIME: 'podman', PATH: '/nonexistent' } })
  expect((await client.listTools()).tools).toHaveLength(1)
})

it('the bridge starts no sandbox before the client asks for the tools', async () => {
  needsLinux('children are read from /proc')
  const bridge = await startBridge({ ownProcess: true, servers: { good: fixtureServer('raw.mjs') } })
  expect(childrenOf(bridge.servingPid)).toEqual([])
})
