// @module-tag whole: a bridge over HTTP for each test; attacks/tasks.test.ts has the wall between users
// This file verifies that each user of a shared bridge has separate files, rules and limits, and cannot reach another
// user's.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtureServer, makeHome, PROJECTS } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type HttpClient, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { connectAs, give, tokenFor } from '@sandbridge/core/test/support/bridges/http-users.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { FakeRegistry, listed } from '@sandbridge/core/test/support/servers/fake-registry.ts'
import { startIssuer } from '../support/token-issuer.ts'

const handleIn = (text: string): string => /session="([\w-]+)"/.exec(text)![1]!

/** A home with a server that logs its calls, and how many those are. */
function homeWithHub() {
  const home = makeHome()
  const journal = path.join(home, 'journal')
  const hub = fixtureServer('ruled.mjs', journal, path.join(home, 'listing.json'))
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { hub } }))
  const reached = () => (existsSync(journal) ? readFileSync(journal, 'utf8').trim().split('\n').length : 0)
  return { home, journal, reached }
}

const rules = (permissions: object): string => JSON.stringify({ permissions })
const caught = (call: string) =>
  `try:\n    ${call}\n    print("called")\nexcept runtime.MCPError as error:\n    print(error.code, error)`

const KEEP = `
def secret_of(who: str) -> str:
    "What is kept for somebody."
    return who
runtime.save_tool(secret_of)
runtime.save_artifact("report.txt", "kept-by-OWNER")
runtime.save_memory("last", "kept-by-OWNER")
with open(${PROJECTS} + "/plan.txt", "w") as file:
    file.write("kept-by-OWNER")`

/** Everything stored that a cell can see, by all ways. */
const LOOK = `
import os
def tried(look):
    try:
        return look()
    except Exception as error:
        return type(error).__name__
seen = [
    [artifact.name for artifact in runtime.artifacts()],
    tried(lambda: runtime.load_artifact("report.txt")),
    tried(lambda: runtime.load_artifact("../../ann/.sandbridge/artifacts/report.txt")),
    tried(lambda: runtime.load_memory("last", None)),
    tried(lambda: os.listdir(${PROJECTS})),
    tried(lambda: open(${PROJECTS} + "/plan.txt").read()),
    [str(tool) for tool in runtime.list_saved_tools()],
    tried(lambda: runtime.show_tool("secret_of")),
    [str(one) for one in await runtime.search_tool_docs("what is kept for somebody")],
]
print(seen)`

describe('what cells of a user keep', () => {
  const shared = sharedHttpBridge()

  it('what cells of a user keep is seen by that user alone', async () => {
    const bridge = shared()
    const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
    const owner = await bridge.connect('legacy')
    expect(await ann!.run(KEEP.replaceAll('OWNER', 'ann'))).not.toMatch(/Error/)
    const [hers, ...theirs] = await Promise.all([ann!, ben!, owner].map((client) => client.run(LOOK)))
    expect(hers).toMatch(/report\.txt[^]*kept-by-ann[^]*plan\.txt[^]*secret_of/)
    for (const seen of theirs) {
      expect(seen).toContain('[[], ')
      expect(seen).not.toMatch(/kept-by|plan\.txt|report\.txt|def secret_of|secret_of\(/)
    }
    // Another session of hers still has it.
    const again = await bridge.connect('legacy', { token: ann!.token })
    expect(await again.run(LOOK)).toContain('kept-by-ann')
    expect(existsSync(path.join(bridge.home, 'MCPs/users/ann/.sandbridge/artifacts'))).toBe(true)
  })

  it('what cells of a user keep is listed and read as a resource by that user alone', async () => {
    const bridge = shared()
    const [cyd, dan] = await connectAs(bridge, 'cyd', 'dan')
    await cyd!.run(KEEP.replaceAll('OWNER', 'cyd'))
    const uri = 'sandbridge://artifact/report.txt'
    expect(JSON.stringify(await cyd!.client.readResource({ uri }))).toContain('kept-by-cyd')
    const owner = await bridge.connect('legacy')
    for (const other of [dan!, owner]) {
      const { resources } = await other.client.listResources()
      expect(resources.map((one) => one.uri)).toEqual(['resource://mcp-server-code-execution-mode/capabilities'])
      await expect(other.client.readResource({ uri })).rejects.toThrow(/report\.txt/)
      const { contents } = await other.client.readResource({ uri: resources[0]!.uri })
      expect((contents[0] as { text: string }).text).not.toContain('secret_of')
    }
  })

  it('what cells of two users keep under one name stays apart, also when someone signs in under the name of a token', async () => {
    const issuer = await startIssuer()
    const bridge = await startHttpBridge({ env: { MCP_BRIDGE_OAUTH: `issuer=${issuer.issuer}` } })
    const [ann] = await connectAs(bridge, 'ann')
    const namesake = await bridge.connect('legacy', { token: await issuer.sign({ aud: bridge.url, sub: 'ann' }) })
    await ann!.run('runtime.save_memory("last", "of-ann")')
    expect(await namesake.run('runtime.load_memory("last", None)')).not.toContain('of-ann')
    await namesake.run('runtime.save_memory("last", "of-the-other")')
    expect(await ann!.run('runtime.load_memory("last", None)')).toContain('of-ann')
    expect(await namesake.run('runtime.load_memory("last", None)')).toContain('of-the-other')
  })
})

describe('rules in a folder of a user', () => {
  const call = caught('await mcp_hub.delete_repo(id=1)')
  const { home, journal, reached } = homeWithHub()
  const shared = sharedHttpBridge({ home })
  const rulesOfAll = path.join(home, 'MCPs/permissions.json')

  /** Each test has its own users, rules and calls. */
  function begin(permissions: object = {}) {
    rmSync(journal, { force: true })
    writeFileSync(rulesOfAll, rules(permissions))
    return shared()
  }

  it('rules in a folder of a user apply to that user alone, and can only make things stricter', async () => {
    const bridge = begin({ deny: ['hub__create_issue'] })
    const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
    give(bridge, 'ann', 'permissions.json', rules({ deny: ['hub__delete_*'], allow: ['hub__create_issue'] }))
    expect(await ann!.run(call)).toMatch(/PERMISSION_DENIED .*\(permissions\.json of this user, line 1\)/)
    expect(await ann!.run(caught('await mcp_hub.create_issue(title="x")'))).toContain('PERMISSION_DENIED')
    expect(reached()).toBe(0)
    expect(await ben!.run(call)).toBe('called')
    expect(await (await bridge.connect('legacy')).run(call)).toBe('called')
    give(bridge, 'ann', 'permissions.json', rules({}))
    expect(await ann!.run(call)).toBe('called')
    expect(reached()).toBe(3)
  })

  it('rules in a folder of a user with a mistake stop that user alone', async () => {
    const bridge = begin()
    const [cyd, dan] = await connectAs(bridge, 'cyd', 'dan')
    give(bridge, 'cyd', 'permissions.json', '{"permissions": {"deny": 7}}')
    expect(await cyd!.run('1 + 1')).toMatch(/permissions\.json/)
    expect(await dan!.run('1 + 1')).toBe('2')
    give(bridge, 'cyd', 'permissions.json', rules({ deny: ['hub'] }))
    expect(await cyd!.run('1 + 1')).toBe('2')
    expect(await cyd!.run(call)).toContain('PERMISSION_DENIED')
  })

  it('rules in a folder of a user are the only ones that apply to one user, and their answers are no rule for the others', async () => {
    const bridge = begin({ ask: ['hub__delete_repo'] })
    const capabilities = { elicitation: { form: {} } }
    const answering = async (name: string, answer: string) =>
      bridge.connect('legacy', {
        token: tokenFor(bridge, name),
        capabilities,
        prepare: (client) =>
          client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: { answer } })),
      })
    const eve = await answering('eve', 'yes, this tool always')
    const fay = await answering('fay', 'no')
    expect(await eve.run(call)).toBe('called')
    expect(await eve.run(call)).toBe('called')
    expect(await fay.run(call)).toContain('PERMISSION_DENIED')
    expect(reached()).toBe(2)
    expect(readFileSync(rulesOfAll, 'utf8')).toBe(rules({ ask: ['hub__delete_repo'] }))
  })
})

it('a user cannot add a server', async () => {
  const weather = listed({
    name: 'io.example/weather',
    description: 'Forecasts',
    remotes: [{ type: 'streamable-http', url: 'https://weather.example/mcp' }],
  })
  const registry = await FakeRegistry.start([weather])
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_REGISTRIES: registry.address } })
  let asked = 0
  const options = {
    capabilities: { elicitation: { form: {} } },
    prepare: (client: HttpClient['client']) =>
      client.setRequestHandler('elicitation/create', () => {
        asked += 1
        return { action: 'decline' as const }
      }),
  }
  const ask = caught('await runtime.request_server("io.example/weather")')
  const ann = await bridge.connect('legacy', { token: tokenFor(bridge, 'ann'), ...options })
  expect(await ann.run(ask)).toMatch(/SERVER_REFUSED .*only the owner of this bridge can add servers/)
  expect(asked).toBe(0)
  // The control: the owner is asked.
  expect(await (await bridge.connect('legacy', options)).run(ask)).toMatch(/SERVER_REFUSED .*the user said no/)
  expect(asked).toBe(1)
  await registry.close()
})

it('limits of calls of a user are counted over sessions, and their error says when they end', async () => {
  const { home, reached } = homeWithHub()
  const bridge = await startHttpBridge({ home, env: { MCP_BRIDGE_HTTP_LIMITS: 'userCalls=3' } })
  const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
  const twice = caught('await mcp_hub.delete_repo(id=1); await mcp_hub.delete_repo(id=2)')
  expect(await ann!.run(twice)).toBe('called')
  const other = await bridge.connect('legacy', { token: ann!.token })
  expect(await other.run(twice)).toMatch(
    /QUOTA_EXCEEDED You have reached a limit .* 3 calls per hour\. The call was not made/,
  )
  expect(reached()).toBe(3)
  expect(await other.run('await mcp_hub.delete_repo(id=3)')).toMatch(/Retry in 6[01] min, after 20\d\d-\S+Z\./)
  expect(await ben!.run(twice)).toBe('called')
  const owner = await bridge.connect('legacy')
  expect([await owner.run(twice), await owner.run(twice)]).toEqual(['called', 'called'])
})

it('limits of cell time of a user count how long cells ran', async () => {
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_HTTP_LIMITS: 'userSeconds=1' } })
  const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
  expect(await ann!.run('import time; time.sleep(1.1); 1')).toBe('1')
  const refused = await ann!.call({ code: 'print("ran")' })
  expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/1 s of cells per hour\. No code ran/) })
  expect(refused.text).toMatch(/Retry in 6[01] min/)
  expect(await ben!.run('1')).toBe('1')
})

it('limits of sessions of a user take no place from others, and never end a session with variables', async () => {
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_HTTP_LIMITS: 'userSessions=1' } })
  const [annsToken, bensToken] = [tokenFor(bridge, 'ann'), tokenFor(bridge, 'ben')]
  const ann = await bridge.connect('modern', { token: annsToken })
  const session = handleIn(await ann.run('x = 42'))
  expect(await ann.run('x', { session })).toBe('42')
  const second = await ann.call({ code: 'y = 1' })
  expect(second).toMatchObject({ isError: true, text: expect.stringMatching(/You have 1 sessions open, the most/) })
  expect(await ann.run('x', { session })).toBe('42')
  const ben = await bridge.connect('modern', { token: bensToken })
  expect(await ben.run('1')).toMatch(/^1/)
  const owner = await bridge.connect('modern')
  for (const _ of [1, 2]) expect(await owner.run('z = 1; z')).toMatch(/^1/)
})
