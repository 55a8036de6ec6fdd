// This file verifies resources and prompts of upstreams in Python, with the built bridge and published servers.
import path from 'node:path'
import { expect, it } from 'vitest'
import { fixtureServer, published } from '../support/bridges/bridge-process.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const shared = sharedBridge({
  servers: {
    docs: published.everything(),
    other: fixtureServer('raw.mjs'),
    own: fixtureServer('resources.mjs'),
    growing: fixtureServer('resources.mjs', 'grows'),
    endless: fixtureServer('resources.mjs', 'endless'),
    broken: fixtureServer('resources.mjs', 'broken'),
  },
})

it('the result of a cell says that a list is not whole', async () => {
  const told = await shared().run('print(len(await mcp_endless.resources()), len(await mcp_endless._prompts()))')
  expect(told).toContain("Server 'endless' has too many resources: its list was cut.")
  expect(told).toContain("Server 'endless' has too many prompts: its list was cut.")
})

it('resources and resource templates are listed', async () => {
  expect(await shared().run('rs = await mcp_docs.resources()\n[r.uri for r in rs if "uri" in r][0]')).toBe(
    "'demo://resource/static/document/architecture.md'",
  )
  expect(await shared().run('[r.uriTemplate for r in rs if "uriTemplate" in r][0]')).toBe(
    "'demo://resource/dynamic/text/{resourceId}'",
  )
  expect(await shared().run('sorted(await mcp_docs.resources(raw=True))')).toBe("['resourceTemplates', 'resources']")
})

it('resources are read as text, as bytes, or untouched', async () => {
  expect(
    await shared().run('t = await mcp_docs.read_resource("demo://resource/dynamic/text/1")\ntype(t), t[:10]'),
  ).toMatch(/\(<class 'str'>, 'Resource 1/)
  expect(await shared().run('type(await mcp_docs.read_resource(uri="demo://resource/dynamic/blob/2"))')).toBe(
    "<class 'bytes'>",
  )
  expect(
    await shared().run(
      'r = await mcp_docs.read_resource("demo://resource/dynamic/text/1", raw=True)\nr["contents"][0].uri',
    ),
  ).toBe("'demo://resource/dynamic/text/1'")
  expect(await shared().run('await mcp_own.read_resource("own://many")')).toBe("['one', b'two']")
})

it('a missing resource raises the error of its server', async () => {
  const code = 'try:\n    await mcp_docs.read_resource("demo://nope")\nexcept runtime.ToolError as e:\n    print(e)'
  expect(await shared().run(code)).toMatch(/refused the reading of 'demo:\/\/nope'/)
})

it('the address of a resource and the name of a prompt have limits: the record and the metrics keep them', async () => {
  const tried = (call: string) =>
    shared().run(`try:\n    await ${call}\nexcept runtime.ArgumentsError as e:\n    print(e)`)
  expect(await tried('mcp_own.read_resource("own://" + "x" * 9_000)')).toContain(
    'uri has 9006 characters, at most 8192',
  )
  expect(await tried('mcp_own.get_prompt("x" * 9_000)')).toContain('name has 9000 characters, at most 8192')
  // Control: the server's own answer.
  expect(await shared().run('await mcp_own.read_resource("own://" + "x" * 8_000)')).not.toContain('at most')
})

it('prompts are listed with their arguments', async () => {
  const code = 'ps = await mcp_docs.prompts()\n[a.name for p in ps if p.name == "args-prompt" for a in p.arguments]'
  expect(await shared().run(code)).toBe("['city', 'state']")
})

it('prompts are returned as messages', async () => {
  const code = 'ms = await mcp_docs.get_prompt("args-prompt", city="Oslo")\nms[0].role, ms[0].content.text'
  expect(await shared().run(code)).toMatch(/\('user', ".*Oslo/)
  expect(await shared().run('(await mcp_docs.get_prompt(name="simple-prompt", raw=True))["messages"][0]["role"]')).toBe(
    "'user'",
  )
})

it('a prompt may have an argument called name, and gets texts', async () => {
  const code = '"Alice" in str(await mcp_docs.get_prompt("completable-prompt", department="Sales", name="Alice"))'
  expect(await shared().run(code)).toBe('True')
  expect(await shared().run('(await mcp_own.get_prompt("echo", what=12))[0].content.text')).toBe('\'{"what":"12"}\'')
})

it('prompts are not requested with wrong arguments', async () => {
  const wrong = (call: string) => shared().run(`f = getattr(mcp_docs, "get_prompt")\nawait f(${call})`)
  expect(await wrong('"args-prompt", town="Oslo"')).toMatch(/city is missing/)
  expect(await wrong('"args-prompt", city="Oslo", sate="x"')).toMatch(/Did you mean state\?/)
  expect(await wrong('')).toMatch(/name is missing/)
})

it('a search marks resources and prompts as what they are, and their lines can be called', async () => {
  const found = await shared().run('print(await runtime.search_tool_docs("architecture document", limit=5))')
  expect(found).toMatch(
    /await mcp_docs\.read_resource\('demo:\/\/resource\/static\/document\/architecture\.md'\) {2}# resource: /,
  )
  const prompt = await shared().run('print(await runtime.search_tool_docs("prompt two arguments city", limit=5))')
  expect(prompt).toMatch(/await mcp_docs\.get_prompt\('args-prompt', city: str, state: str = None\) {2}# prompt: /)
  const doc =
    'd = [d for d in await runtime.search_tool_docs("architecture document") if "kind" in d][0]\nd.kind, d.server, (await runtime.call_tool(d.server, d.tool, {"uri": d.target}))[:1]'
  expect(await shared().run(doc)).toBe("('resource', 'docs', '#')")
})

it('a search knows resources and prompts from disk, and shows them only to cells that may reach the server', async () => {
  const search = '[d.get("kind") for d in await runtime.search_tool_docs("architecture document")]'
  await shared().run(search)
  await shared().hasKept(6)
  const second = await startBridge({ env: { MCP_BRIDGE_STATE_DIR: path.join(shared().home, 'MCPs') } })
  expect(await second.run(search)).toContain("'resource'")
  expect(await second.run('[s.name for s in runtime.discovered_servers(True) if s.state == "running"]')).toBe('[]')
  expect(await second.run(search, { servers: ['other'] })).not.toContain('resource')
  const { text } = await second.call({ code: 'await mcp_servers["docs"].resources()', servers: ['other'] })
  expect(text).toContain("Server 'docs' is not available")
})

it('resources that a server adds while it runs are found', async () => {
  const search = '[d.target for d in await runtime.search_tool_docs("fresh", servers=["growing"]) if "kind" in d]'
  expect(await shared().run(search)).not.toContain('fresh')
  await shared().run('await mcp_growing.prompts()') // the tool of that name, which adds a resource and a prompt
  await expect.poll(() => shared().run(search), { timeout: 20_000 }).toContain('fresh')
})

it('a tool with the name of a way to reach resources wins, and the other is reached with an underscore', async () => {
  expect(await shared().run('await mcp_own.read_resource("own://many")')).toBe("['one', b'two']")
  expect(await shared().run('await mcp_own.prompts()')).toBe("'the tool'")
  expect(await shared().run('[p.name for p in await mcp_own._prompts()]')).toBe("['echo']")
  expect(await shared().run('[d.line for d in await runtime.query_tool_docs("own", "_prompts")]')).toContain(
    'mcp_own._prompts()',
  )
})

it('help and signatures include resources and prompts', async () => {
  expect(await shared().run('import inspect\nstr(inspect.signature(mcp_docs.read_resource))')).toBe("'(uri: str)'")
  expect(await shared().run('help(mcp_docs.get_prompt)')).toMatch(/messages of a prompt/)
})

it('a server whose lists of resources fail keeps its tools', async () => {
  expect(await shared().run('print(await runtime.search_tool_docs("anything", servers=["broken"]))')).toContain(
    'mcp_broken.prompts(**arguments)',
  )
  const { text } = await shared().call({ code: 'await mcp_broken.resources()' })
  expect(text).toMatch(/refused the listing of its resources/)
})
