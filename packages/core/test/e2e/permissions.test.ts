// This file verifies that rules apply to every way in which a cell can reach a server, with the built bridge and a
// server that logs its calls.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome } from '../support/bridges/bridge-process.ts'
import { PROVIDER_NAMES, providerOrSkip, runtimeEnv } from '../support/sandboxes/engines.ts'
import { until } from '../support/machine/processes.ts'
import { ruledBridge, sharedRuledBridge, writePermissions } from '../support/bridges/ruled-bridge.ts'
import { runCommand } from '../support/machine/run-program.ts'

const caught = (call: string) => `
try:
    ${call}
    print("called")
except runtime.PermissionDenied as error:
    print(type(error).__name__, isinstance(error, runtime.MCPError), error.code, error)
`

/** Writes to the kernel's own channel, without the API around it. */
const FORGED = `
    from sandbridge_kernel.api import bridge
    await bridge.ask("call_tool", server="hub", tool="delete_repo", args=[], kwargs={}, permissions=None, scope="all")`.trim()

/** A server whose own definition has a rule. */
const ruledHome = makeHome()
const mine = { ...fixtureServer('ruled.mjs', path.join(ruledHome, 'j2')), permissions: { deny: ['delete_repo'] } }
const ruled = sharedRuledBridge({ home: ruledHome, servers: { mine, docs: fixtureServer('resources.mjs') } })

it('a denied call does not reach the server, and its error names the rule and what is allowed', async () => {
  const { bridge, reached } = ruled({ deny: ['hub__delete_*'] })
  const text = await bridge.run(caught('await mcp_hub.delete_repo(id=1)'))
  expect(text).toMatch(/PermissionDenied True PERMISSION_DENIED/)
  expect(text).toContain('deny "hub__delete_*" (permissions.json, line 1)')
  expect(text).toContain('Allowed of this server: get_issue, create_issue')
  expect(await bridge.run('await mcp_hub.create_issue(title="x")')).toContain('did create_issue')
  expect(reached()).toEqual([['create_issue', { title: 'x' }]])
})

it('a denied call does not reach the server, whichever way it is made', async () => {
  const { bridge, reached } = ruled({ deny: ['hub__delete_*'] })
  const saved = await bridge.run(
    'import asyncio\nasync def wipe():\n    "Wipe."\n    return await getattr(mcp_hub, "delete_repo")()\nruntime.save_tool(wipe)',
  )
  expect(saved).toContain('wipe')
  for (const [way, call] of Object.entries({
    'by name': 'await runtime.call_tool("hub", "delete_repo", {"id": 1})',
    'in another spelling': 'await runtime.call_tool("HUB", "Delete-Repo", {})',
    untouched: 'await mcp_hub.delete_repo.raw(id=1)',
    'without await': 'runtime.call_tool_sync("hub", "delete_repo", {})',
    'in a task': 'await asyncio.gather(mcp_hub.delete_repo())',
    'made up': 'await getattr(mcp_hub, "delete" + "_repo")()',
    'in a saved tool': 'from user_tools import wipe; await wipe()',
    'by a frame of its own': FORGED,
  })) {
    expect(await bridge.run(caught(call)), way).toContain('PERMISSION_DENIED')
  }
  await bridge.run('try:\n    1 / 0\nfinally:\n    await mcp_hub.delete_repo(id=2)')
  await bridge.run('await mcp_hub.get_issue(id=1)')
  expect(reached(), 'the same ways lead to the server').toEqual([['get_issue', { id: 1 }]])
})

it.for(PROVIDER_NAMES)('a denied call does not reach the server from a thread in %s', async (name) => {
  await providerOrSkip(name)
  const { bridge, reached } = await ruledBridge({
    permissions: { deny: ['hub__delete_*'], ask: ['hub__create_issue'] },
    env: runtimeEnv(name),
    answer: 'no',
  })
  const thread = (tool: string) => `
outcome = []
def work():
    try:
        runtime.call_tool_sync("hub", "${tool}", {})
        outcome.append("called")
    except BaseException as error:
        outcome.append(getattr(error, "code", repr(error)))
import threading
one = threading.Thread(target=work)
try:
    one.start()
    while not outcome: await __import__("asyncio").sleep(0.05)
except RuntimeError as error:
    outcome.append(str(error))
outcome`
  // WebAssembly has no threads.
  const started = name !== 'pyodide'
  const refused = started ? 'PERMISSION_DENIED' : "can't start new thread"
  for (const tool of ['delete_repo', 'create_issue']) expect(await bridge.run(thread(tool))).toContain(refused)
  expect(await bridge.run(thread('get_issue'))).toContain(started ? 'called' : refused)
  expect(reached()).toEqual(started ? [['get_issue', {}]] : [])
})

it('a denied call may be for a resource or a prompt', async () => {
  const { bridge, reached } = ruled({
    deny: [{ tool: 'hub__read_resource', when: "args.uri.startsWith('memo:')" }, 'hub__get_prompt'],
  })
  expect(await bridge.run(caught('await mcp_hub.read_resource("memo:secret")'))).toContain('PERMISSION_DENIED')
  expect(await bridge.run(caught('await mcp_hub.get_prompt("greet")'))).toContain('PERMISSION_DENIED')
  expect(await bridge.run('await mcp_hub.read_resource("other:x")')).toContain('read')
  expect(reached()).toEqual([['read_resource', 'other:x']])
})

it('a call is judged by the arguments that are sent', async () => {
  const { bridge, reached } = ruled({
    deny: [{ tool: 'hub__create_issue', when: "args.owner != 'acme'", reason: 'Only ours.' }],
  })
  const text = await bridge.run(caught('owner = "evil"; await mcp_hub.create_issue(owner=owner)'))
  expect(text).toContain('Only ours.')
  expect(text).toContain("args.owner != 'acme'")
  expect(await bridge.run(caught('await mcp_hub.create_issue(title="x")'))).toContain('PERMISSION_DENIED')
  await bridge.run('await mcp_hub.create_issue("acme")')
  expect(reached()).toEqual([['create_issue', { owner: 'acme' }]])
})

it('a call over a limit is denied', async () => {
  const { bridge, reached } = ruled({ allow: [{ tool: 'hub__create_issue', perCell: 2, perSession: 3 }] })
  const loop = caught('for i in range(5): await mcp_hub.create_issue(id=i)')
  expect(await bridge.run(loop)).toMatch(/allows 2 per cell.*Allowed again in the next cell/)
  expect(await bridge.run(loop)).toMatch(/allows 3 per session/)
  expect(reached()).toHaveLength(3)
})

it('denied tools are hidden, and tools that ask are marked', async () => {
  const { bridge } = ruled({ deny: ['hub__delete_*', 'mine__delete_*'], ask: ['hub__create_issue'] })
  const seen = await bridge.run(`
print(dir(mcp_hub), await runtime.query_tool_docs("hub"), await runtime.search_tool_docs("delete a repo", limit=50))
print([t["name"] for t in runtime.describe_server("hub")["tools"]], (await mcp_hub.list_tools.raw())["tools"])
print(mcp_hub, runtime.capability_summary(), runtime.complete("mcp_hub."))
`)
  expect(seen).not.toContain('delete')
  expect(seen).toMatch(/create_issue\(.*# asks the user/)
  expect(await bridge.run(caught('await runtime.query_tool_docs("hub", "delete_repo")'))).toContain('PERMISSION_DENIED')
  expect(await bridge.run('await mcp_hub.deleterepp()')).not.toContain('delete_repo')
})

it.each([
  ['of a denied server', ['docs'], ['docs.read_resource', 'docs.get_prompt']],
  ['that may not be listed', ['docs__resources', 'docs__prompts'], ['docs.resources', 'docs.prompts']],
])('resources and prompts %s are no completions of a text either', async (_which, deny, named) => {
  const { bridge } = ruled({ deny })
  for (const [index, [tool, argument]] of [
    ['read_resource', 'uri'],
    ['get_prompt', 'name'],
  ].entries()) {
    const asked = `b.ask_sync("complete_argument", server="docs", tool="${tool}", argument="${argument}", value="")`
    const text = await bridge.run(`from sandbridge_kernel.api import bridge as b\n${asked}`)
    expect(text).toContain(`PermissionDenied: ${named[index]} is denied`)
  }
})

it('control: resources and prompts that may be listed are completions of a text', async () => {
  const { bridge } = ruled({ deny: ['hub'] })
  const asked = 'b.ask_sync("complete_argument", server="docs", tool="get_prompt", argument="name", value="")'
  expect(await bridge.run(`from sandbridge_kernel.api import bridge as b\n${asked}`)).toMatch(/^\['/)
})

it('a denied call in a cell is found before the cell runs', async () => {
  const { bridge, reached } = ruled({ deny: ['hub__delete_repo'] })
  await bridge.run('await runtime.list_tools("hub"); ran = False')
  const text = await bridge.run('ran = True\nawait mcp_hub.create_issue(title="x")\nawait mcp_hub.delete_repo(id=1)')
  expect(text).toMatch(/Not run. Line 3: hub.delete_repo is denied by the rule/)
  expect(await bridge.run('ran')).toBe('False')
  expect(reached()).toEqual([])
})

it('a call with denied arguments is found before the cell runs', async () => {
  const { bridge } = ruled({ deny: [{ tool: 'hub__create_issue', when: 'args.id > 5' }] })
  await bridge.run('await runtime.list_tools("hub")')
  expect(await bridge.run('print("ran")\nawait mcp_hub.create_issue(id=6)')).toMatch(/^(?![^]*\nran)[^]*Not run/)
  expect(await bridge.run('await mcp_hub.create_issue(id=5)')).toContain('did')
})

it("rules in a server's own definition are enforced", async () => {
  const { bridge } = ruled({})
  expect(await bridge.run(caught('await mcp_mine.delete_repo()'))).toContain('the definition of mine')
  expect(await bridge.run(caught('await mcp_hub.delete_repo()'))).toContain('called')
})

it("rules in a project's file are enforced, and can only make things stricter", async () => {
  const { bridge, home, reached } = ruled({ deny: ['hub__delete_repo'] })
  const folder = path.join(home, '.sandbridge')
  mkdirSync(folder)
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const rules = { permissions: { allow: ['hub'], deny: ['hub__create_issue'] } }
  writeFileSync(path.join(folder, 'permissions.json'), JSON.stringify(rules))
  for (const tool of ['create_issue', 'delete_repo'])
    expect(await bridge.run(caught(`await mcp_hub.${tool}()`))).toContain('PERMISSION_DENIED')
  expect(reached()).toEqual([])
})

it('a change of rules counts from the next cell on, and no cell runs while the file has a mistake', async () => {
  const { bridge, home } = ruled({})
  expect(await bridge.run('await mcp_hub.delete_repo()')).toContain('did')
  writePermissions(home, '{"permissions": {"deny": ["hub__delete_repo"}}')
  for (const _ of [1, 2]) expect(await bridge.run('print("ran")')).toMatch(/permissions\.json:1:\d+: is not valid JSON/)
  writePermissions(home, { deny: ['hub__delete_repo'] })
  expect(await bridge.run(caught('await mcp_hub.delete_repo()'))).toContain('PERMISSION_DENIED')
})

it('a rule that matches no known tool is named in the log, with the nearest name', async () => {
  const { bridge } = ruled({ deny: ['hub__delte_repo', 'hub__delete_all'] })
  await bridge.run('await mcp_hub.get_issue()')
  await bridge.client.listTools()
  await until(() => bridge.stderr.includes('No known tool'))
  expect(bridge.stderr).toMatch(
    /deny \\"hub__delte_repo\\".*Did you mean hub__delete_repo|delte_repo.*Did you mean hub__delete_repo/,
  )
  expect(bridge.stderr).not.toContain('delete_all')
})

it('the first result that a rule without a tool would have been about names it, once', async () => {
  const { bridge, reached } = ruled({
    deny: ['mcp_hub.delete_repo', 'hub__deelte_repo', 'jira__drop'],
    allow: ['hub.x'],
  })
  const first = await bridge.run('await mcp_hub.get_issue(id=3)')
  expect(first).toMatch(/No known tool matches the rule deny "hub__deelte_repo".* Did you mean hub__delete_repo\?/)
  expect(first).toMatch(/No known tool matches the rule deny "jira__drop".* counts once there is such a server/)
  expect(first).toMatch(/No known tool matches the rule allow "hub.x"/)
  expect(await bridge.run('await mcp_hub.get_issue(id=4)')).not.toContain('No known tool')
  expect(await bridge.run(caught('await mcp_hub.delete_repo(id=1)'))).toContain('PERMISSION_DENIED')
  expect(reached()).toEqual([3, 4].map((id) => ['get_issue', { id }]))
  writePermissions(bridge.home, { deny: ['hub__deelte_repo', 'hub__craete_issue'] })
  const changed = await bridge.run('await mcp_hub.get_issue()')
  expect(changed).toContain('craete_issue')
})

it('a rule that denies holds after its server is renamed, and beside a second server of its name', async () => {
  const { bridge, home, reached } = await ruledBridge({ permissions: { deny: ['hub__delete_repo'] } })
  const file = path.join(home, 'MCPs/servers.json')
  const { hub } = (JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: Record<string, object> }).mcpServers
  const denied = async (server: string): Promise<void> =>
    expect(await bridge.run(caught(`await ${server}.delete_repo(id=1)`)), server).toContain('deny "hub__delete_repo"')
  await denied('mcp_hub')
  writeFileSync(file, JSON.stringify({ mcpServers: { renamed: hub } }))
  await denied('mcp_renamed')
  expect(await bridge.run('await mcp_renamed.get_issue()')).toContain('did get_issue')
  // The user's own folder comes before the files of other clients.
  const other = fixtureServer('ruled.mjs', path.join(home, 'other'))
  writeFileSync(file, JSON.stringify({ mcpServers: { hub: other } }))
  mkdirSync(path.join(home, '.cursor'))
  writeFileSync(path.join(home, '.cursor/mcp.json'), JSON.stringify({ mcpServers: { hub } }))
  await denied('mcp_hub')
  await denied('mcp_hub_cursor')
  expect(reached()).toEqual([['get_issue', {}]])
})

it('under readonly only tools marked read-only are called, and no deleting tool that is marked so', async () => {
  const { bridge, reached } = await ruledBridge({
    env: { MCP_BRIDGE_PERMISSIONS: 'readonly' },
    permissions: { allow: ['hub'] },
  })
  for (const tool of ['create_issue', 'delete_repo', 'delete_all'])
    expect(await bridge.run(caught(`await getattr(mcp_hub, "${tool}")()`))).toContain('PERMISSION_DENIED')
  expect(await bridge.run(caught('await mcp_hub.get_issue()'))).toContain('called')
  expect(reached()).toEqual([['get_issue', {}]])
})

it.each([
  ['that is a folder', (file: string) => mkdirSync(file)],
  ['that is a link in a circle', (file: string) => symlinkSync(file, file, 'junction')],
])('a bridge with a file of rules %s does not start', async (_, make) => {
  const home = makeHome()
  make(path.join(home, 'MCPs/permissions.json'))
  const command = ['exec', '-c', 'print("ran")']
  const { code, stdout, stderr } = await runCommand(command, bridgeEnv(home), { cwd: home })
  expect([code === 0, stdout]).toEqual([false, ''])
  expect(stderr).toContain('permissions.json')
})

it.each([
  ['with a mistake', '{"permissions": {\n  "denny": []}}', /permissions\.json:2:3: "denny" is not known here/],
  ['that is empty', '', /is empty/],
  ['of 10 MB', `{"permissions": {"deny": ["${'x'.repeat(10 * 2 ** 20)}"]}}`, /too large/],
  ['with a key twice', '{"permissions": {}, "permissions": {}}', /twice/],
])('a bridge with a file of rules %s does not start', async (_, text, expected) => {
  const home = makeHome()
  writePermissions(home, text)
  // Both read it at one place: the first mistake is tried with both.
  const exec = ['exec', '-c', 'print("ran")']
  for (const args of text.includes('denny') ? [['run'], exec] : [exec]) {
    const run = runCommand(args, bridgeEnv(home), { cwd: home })
    const { code, stdout, stderr } = await run
    expect(code).not.toBe(0)
    expect(stdout).toBe('')
    expect(stderr).toMatch(expected)
  }
})

it('the result of a cell that fails names the calls before that may have changed something, and no others', async () => {
  const { bridge } = ruled({ deny: ['hub__delete_repo'] })
  const DONE = 'Called before the error, and not undone: '
  const made = 'await mcp_hub.create_issue(title="x")\n'.repeat(2) + 'await mcp_hub.get_issue(id=1)\n'
  const text = await bridge.run(`${made}await mcp_hub.delete_all()\n1 / 0`)
  expect(text).toContain(`[sandbridge: ${DONE}hub.create_issue (2 times), hub.delete_all.]`)
  expect(text).not.toContain('get_issue,')
  // Controls: nothing failed; nothing was changed; the call was not made.
  expect(await bridge.run(made)).not.toContain(DONE)
  expect(await bridge.run('await mcp_hub.get_issue(id=1)\n1 / 0')).not.toContain(DONE)
  const denied = 'try:\n    await getattr(mcp_hub, "delete" + "_repo")()\nexcept runtime.PermissionDenied: pass\n'
  expect(await bridge.run(`${denied}1 / 0`)).not.toContain(DONE)
  const died = await bridge.run(`${made}import os\nos._exit(3)`)
  expect(died).toContain(DONE)
})
