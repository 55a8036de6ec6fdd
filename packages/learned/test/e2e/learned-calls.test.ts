// What the calls of a user teach later searches of the same user, and of no other.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { connectAs, tokenFor } from '@sandbridge/core/test/support/bridges/http-users.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

const servers = { hub: fixtureServer('documented.mjs', 'github') }
const learnedIn = (home: string): string => readFileSync(path.join(home, 'MCPs/.sandbridge/learned-calls.json'), 'utf8')
const QUERY = 'lodge complaints with the maintainers'
const LEARN = `
found = await runtime.search_tool_docs("${QUERY}")
try:
    await mcp_hub.create_issue(repo="archived", title="ghp_S3cretValue")
except runtime.ToolError:
    await mcp_hub.create_issue(owner="ada-lovelace", repo="r", title="ghp_S3cretValue")
print([doc.tool for doc in found])`
const LOOK = `
print(await runtime.search_tool_docs("${QUERY}"))
print(await runtime.search_tool_docs("create issue"))`
const WORKED = '# worked: create_issue(title=str, owner=str, repo=str)'

describe('users of one bridge', () => {
  const shared = sharedHttpBridge({ servers })

  it(
    'a later session of the same user profits, and another user reads nothing of it',
    { tags: ['whole'] },
    async () => {
      const bridge = shared()
      const token = tokenFor(bridge, 'ann')
      const [bob] = await connectAs(bridge, 'bob')
      expect(await (await bridge.connect('legacy', { token })).run(LEARN)).toContain('create_issue')
      const found = await (await bridge.connect('legacy', { token })).run(LOOK)
      expect(found).toContain(WORKED)
      expect(found).toMatch(/^await mcp_hub\.create_issue/)
      const other = await bob!.run(LOOK)
      expect(other).toContain('mcp_hub.create_issue')
      expect(other).not.toContain('worked')
    },
  )
})

it(
  'what was learned outlives the bridge without any value, is shown to JavaScript, too, and is forgotten with its server',
  { tags: ['whole'] },
  async () => {
    const home = makeHome(servers)
    const first = await startBridge({ home })
    await first.run(LEARN)
    await first.client.close()
    // Behind a relay, the resident writes it after the client has gone.
    await expect.poll(() => learnedIn(home)).toContain('create_issue')
    // A digest in hexadecimal digits may hold "ada".
    expect(learnedIn(home).replaceAll(/\b[0-9a-f]{16,}\b/g, '')).not.toMatch(/ghp|secret|ada|lovelace/i)
    // Several wordings on the command line, too; each line of stdout that calls a tool has its own.
    const { stdout } = await runProgram(
      process.execPath,
      [CLI, 'search', 'create an issue', 'lodge complaints'],
      bridgeEnv(home),
    )
    expect(stdout.split('\n').filter((line) => line.startsWith('await mcp_hub.create_issue'))).toHaveLength(1)
    expect(stdout).toContain(`\n  ${WORKED}\n`)
    const second = await startBridge({ home, env: { MCP_BRIDGE_LANGUAGES: 'python,javascript' } })
    expect(await second.run(LOOK)).toContain(WORKED)
    expect(await second.run('print(await runtime.query_tool_docs("hub", "create_issue"))')).toContain(WORKED)
    const { text: shown } = await second.callTool('run_javascript', { code: 'await tools.search("create issue")' })
    expect(shown).toContain('// worked: create_issue({ title: string, owner: string, repo: string })')
    writeFileSync(path.join(home, 'MCPs/servers.json'), '{"mcpServers": {}}')
    await second.run('1')
    await second.client.close()
    await expect.poll(() => JSON.parse(learnedIn(home)) as unknown).toEqual({ tools: [], days: {} })
  },
)
