// This file verifies Agent Skills over MCP (SEP-2640) in both directions: a client of the extension lists, gets, reads
// and checks an exposed workflow as a skill, and a search in a cell finds the skills of servers.
import { cpSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { beforeAll, expect, it, vi } from 'vitest'
import { fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { sharedBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

vi.setConfig({ testTimeout: 180_000 })

const SAVE = `
async def refund(order: int, why: str = "late") -> str:
    """Gives "money" back: 100 %. Then says so."""
    return f"{order} {why}"
runtime.save_workflow("refund", refund)
def odd(): return 1
runtime.save_workflow("odd--name", odd)
def hidden(): return 1
runtime.save_workflow("hidden", hidden)`

const author = sharedBridge()
beforeAll(() => author().run(SAVE))

it.each(['legacy', 'modern'] as const)('an exposed workflow is a skill for a %s client', async (era) => {
  const home = makeHome()
  const tools = 'MCPs/.sandbridge/tools'
  cpSync(path.join(author().home, tools), path.join(home, tools), { recursive: true })
  const { client } = await startBridge({ home, era, env: { MCP_BRIDGE_EXPOSE: 'refund,odd--name,gone' } })
  const skills = new SkillsClient(client)
  expect(skills.supported).toBe(true)
  expect(skills.directoryRead).toBe(false)
  // The package checks every entry's shape, and what it reads against digest, size and frontmatter. A name with two
  // hyphens is not a skill's.
  const { skills: listed } = await skills.list()
  expect(listed).toEqual([
    {
      uri: 'skill://refund/SKILL.md',
      frontmatter: { name: 'refund', description: 'Gives "money" back: 100 %. Then says so.' },
      resources: [
        {
          uri: 'skill://refund/SKILL.md',
          digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
          size: expect.any(Number) as number,
        },
      ],
    },
  ])
  expect((await skills.get('skill://refund/SKILL.md')).skill).toEqual(listed[0])
  const file = await skills.read(listed[0]!)
  expect(file).toMatchObject({ verified: true, mimeType: 'text/markdown' })
  expect(file.body).toContain("await workflows.refund(order: int, why: str='late') -> str")
  const { resources } = await client.listResources()
  expect(resources).toContainEqual(
    expect.objectContaining({ uri: 'skill://refund/SKILL.md', name: 'refund', mimeType: 'text/markdown' }),
  )
  for (const uri of ['skill://hidden/SKILL.md', 'skill://refund', 'skill://refund/../hidden/SKILL.md']) {
    await expect(skills.get(uri)).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 })
  }
})

it(
  'masked values of an exposed workflow do not reach the model in its tool, prompt and skill',
  { tags: ['whole'] },
  async () => {
    const env = { MCP_BRIDGE_EXPOSE: 'report,notify', MCP_BRIDGE_MASK: 'email,secret' }
    const first = await startBridge({ env })
    expect(await first.run('print("bob" + "@acme.example")')).toBe('[EMAIL_1]')
    await first.run(`
async def report(to: str = "[EMAIL_1]", password="hunter22xx", week: int = 7, more=["[EMAIL_1]"]) -> int:
    """Report to [EMAIL_1].

    Ask [EMAIL_1] first."""
    return to.count("b")
def notify():
    """Mails [EMAIL_1]."""
runtime.save_workflow("report", report)
runtime.save_tool(notify)`)
    const second = await startBridge({ home: first.home, env })
    for (const { client } of [first, second]) {
      const { tools } = await client.listTools()
      const { prompts } = await client.listPrompts()
      const texts = [
        tools,
        prompts,
        await client.getPrompt({ name: 'report' }),
        await client.getPrompt({ name: 'notify' }),
        (await client.listResources()).resources,
      ]
      expect(JSON.stringify(texts)).not.toMatch(/acme|hunter22/)
      // A default that the model may not see is left out: without the argument, the workflow takes it.
      expect(tools.find(({ name }) => name === 'report')).toMatchObject({
        description: 'Report to [EMAIL_1].\n\nAsk [EMAIL_1] first.',
        inputSchema: { properties: { to: { type: 'string' }, password: {}, week: { type: 'integer', default: 7 } } },
      })
      expect(prompts.map(({ description }) => description)).toEqual([
        'Report to [EMAIL_1]. Ask [EMAIL_1] first.',
        'Mails [EMAIL_1].',
      ])
      const skills = new SkillsClient(client)
      const { skills: listed } = await skills.list()
      const { verified, body } = await skills.read(listed[0]!)
      expect(verified).toBe(true)
      expect(body).toContain('Ask [EMAIL_1] first.')
      expect(body).not.toMatch(/acme|hunter22/)
      expect(JSON.stringify(listed)).not.toContain('acme')
      const answer = JSON.stringify(await client.callTool({ name: 'report', arguments: {} }))
      expect(answer).toContain('"2"')
    }
  },
)

it('skills are not offered where no workflow is exposed', async () => {
  const { client } = await startBridge()
  expect(new SkillsClient(client).supported).toBe(false)
  expect(client.getServerCapabilities()).not.toHaveProperty('extensions')
})

it(
  'a search finds the skills of a server beside its tools, and they are read like a resource',
  { tags: ['whole'] },
  async () => {
    const home = makeHome()
    const mcpServers = { shop: fixtureServer('resources.mjs', 'skills') }
    writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers }))
    const search = 'print(await runtime.search_tool_docs("give money back to customers", limit=1))'
    const line = "await mcp_shop.read_resource('skill://refunds/SKILL.md')  # skill: Gives customers their money back"
    const first = await startBridge({ home })
    await first.run('await mcp_shop.resources()')
    await expect.poll(() => first.run(search)).toContain(line)
    expect(await first.run("(await mcp_shop.read_resource('skill://refunds/SKILL.md'))[0]")).toContain('one')
    await first.client.close()
    // The next bridge knows it before it has started the server.
    const second = await startBridge({ home })
    expect(await second.run(search)).toContain(line)
  },
)
