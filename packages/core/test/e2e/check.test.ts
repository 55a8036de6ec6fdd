// This file verifies that wrong calls are found before a cell runs, from the catalog, with the built bridge and a
// published server.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { bridgeEnv, fixtureServer, makeHome, published } from '../support/bridges/bridge-process.ts'
import { runCommand } from '../support/machine/run-program.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

const shared = sharedBridge({
  servers: { everything: published.everything(), memory: published.memory('/dev/null') },
})
beforeAll(async () => {
  await shared().run('len(await runtime.query_tool_docs("everything"))')
})

/** A cell that leaves a trace in the session if any of it runs. */
async function check(code: string) {
  await shared().run('ran = False')
  const { text, isError } = await shared().call({ code: `ran = True\n${code}` })
  return { text, isError, ran: (await shared().run('ran')) === 'True' }
}

it.each([
  ['an unknown tool', 'await mcp_everything.ecko(message="x")', /line 2: .*no tool 'ecko'[\s\S]*Did you mean echo\?/i],
  ['an unknown argument', 'await mcp_everything.echo(mesage="x")', /line 2: echo: .*"mesage".*Did you mean message\?/i],
  ['a missing argument', 'await mcp_everything.get_sum(a=1)', /line 2: get_sum: b is missing/i],
  ['a literal of the wrong type', 'await mcp_everything.get_sum(a="1", b=2)', /a must be float, not '1'/],
  [
    'a literal that is not in an enum',
    'await mcp_everything.get_annotated_message(messageType="loud")',
    /messageType must be/,
  ],
  ['too many positions', 'await mcp_everything.echo("a", "b")', /at most 1 arguments/],
  [
    'an unknown server',
    'await mcp_everythin.echo(message="x")',
    /'everythin' is not available. Did you mean everything\?/,
  ],
  ['a server by subscript', 'await mcp_servers["everything"].echo()', /message is missing/],
  [
    'an import',
    'from mcp.servers.everything import echo as e\nawait e(1)',
    /line 3: echo: message must be str, not 1/i,
  ],
  ['call_tool', 'await runtime.call_tool("everything", "echo", {"msg": 1})', /"msg"/],
  ['an unknown server in call_tool', 'await runtime.call_tool("nope", "echo", {})', /Server 'nope' is not available/],
  ['a missing await', 'mcp_everything.echo(message="x")', /write `await mcp_everything\.echo\(…\)`/],
  ['a method of every server', 'await mcp_everything.read_resource(url="x")', /Did you mean|uri is missing/],
  ['a prompt without its argument', 'await mcp_everything.get_prompt("args-prompt")', /city is missing/],
])('a wrong call is refused before its cell runs: %s', async (_, code, expected) => {
  const { text, isError, ran } = await check(code)
  expect(text).toMatch(expected)
  expect({ isError, ran }).toEqual({ isError: true, ran: false })
})

it('wrong calls are refused before their cell runs, all in one error with the signature', async () => {
  const { text } = await check('await mcp_everything.echo()\nif ran:\n    await mcp_everything.get_sum(1)')
  expect(text).toContain('line 2: echo: message is missing. Signature: mcp_everything.echo(*, message: str)')
  expect(text).toMatch(/line 4: get_sum: b is missing/)
})

it.each([
  ['positional arguments, in the order of the signature', 'await mcp_everything.get_sum(2, 3)', /5/],
  ['another spelling', 'await mcp_everything.get_annotated_message(message_type="error")', /Error/],
  ['unpacking', 'await mcp_everything.echo(**{"message": "hi"})', /hi/],
  ['values of names', 'n = 4\nawait mcp_everything.get_sum(a=n, b=n)', /8/],
  ['raw', '(await mcp_everything.echo(message="hi", raw=True))["content"][0]["text"]', /hi/],
  ['a handler', 'try:\n    await mcp_everything.ecko()\nexcept runtime.ToolNotFound:\n    print("handled")', /handled/],
  ['a server that nothing is known of', 'ran\nif not ran:\n    await mcp_memory.no_such_tool()\n"ok"', /ok/],
])('a call that is right, or cannot be judged, runs: %s', async (_, code, expected) => {
  const { text, ran } = await check(code)
  expect(text).toMatch(expected)
  expect(ran).toBe(true)
})

it('a forgotten coroutine is reported in a note', async () => {
  const { text } = await shared().call({ code: 'print(type(mcp_everything.echo(message="x")).__name__)' })
  expect(text).toContain('mcp_everything.echo(…) was never awaited')
  expect(text).not.toContain('RuntimeWarning')
})

it('the check of a cell starts no server: the tool lists of the last bridge are enough', async () => {
  const { home } = shared()
  await shared().hasKept(1, 'get-sum')
  const servers = { everything: published.everything() }
  const second = await startBridge({ servers, env: { MCP_BRIDGE_STATE_DIR: path.join(home, 'MCPs') } })
  const { text } = await second.call({ code: 'print("ran")\nawait mcp_everything.get_sum(a=1, b="x")' })
  expect(text).toMatch(/b must be float, not 'x'/)
  expect(text).not.toContain('ran\n')
  // A bridge without a catalog reports it at the latest when the call is made.
  const fresh = await startBridge({ servers })
  const { text: late } = await fresh.call({ code: 'print("ran")\nawait mcp_everything.get_sum(a=1, b="x")' })
  expect(late).toMatch(/b must be float, not 'x'/)
})

it('a kept tool list that is out of date is read again before it refuses a tool', async () => {
  const home = makeHome({ good: fixtureServer('raw.mjs') })
  await runCommand(['index'], bridgeEnv(home))
  const folder = path.join(home, 'MCPs/.sandbridge/toolbooks')
  const file = path.join(folder, readdirSync(folder)[0]!)
  const known = JSON.parse(readFileSync(file, 'utf8')) as {
    listings: { tools: { name: string }[] }[]
  }
  for (const listing of known.listings) listing.tools = listing.tools.filter(({ name }) => name !== 'pid')
  writeFileSync(file, JSON.stringify(known))
  const later = await startBridge({ home })
  expect(await later.run('await mcp_good.pid()')).toMatch(/^'\d+'$/)
})

it('Python tools see signatures of the tools', async () => {
  const signature = 'import inspect\nstr(inspect.signature(mcp_everything.get_sum))'
  expect(await shared().run(signature)).toMatch(/\(a: float, b: float\)/)
  expect(await shared().run('help(mcp_everything.echo)')).toMatch(/Echoes back/)
  expect(await shared().run('"echo" in dir(mcp_everything)')).toBe('True')
  expect(await shared().run('runtime.complete("mcp_everything.get_su")')).toBe("['get_sum']")
  expect(await shared().run('runtime.complete("mcp_everything.echo(mes")')).toBe("['message=']")
  const written = (code: string) => shared().run(`runtime.complete(${JSON.stringify(code)})`)
  expect(await written('mcp_everything.get_prompt("comp')).toBe("['completable-prompt']")
  expect(await written("mcp_everything.get_prompt('completable-prompt', department='S")).toBe("['Sales', 'Support']")
  expect(await written('mcp_everything.get_prompt("completable-prompt", department="Sales", name="D')).toBe("['David']")
  expect(await written('mcp_everything.read_resource("demo://resource/dynamic/t')).toBe(
    "['demo://resource/dynamic/text/']",
  )
  expect(await written('mcp_everything.read_resource(uri="demo://resource/dynamic/text/7')).toBe(
    "['demo://resource/dynamic/text/7']",
  )
  expect(await written('mcp_everything.echo(message="S')).toBe('[]')
})

it('an error that repeats in a loop is reported without the signature', async () => {
  const code =
    'wrong = {"a": 1}\nfor _ in range(3):\n    try:\n        await mcp_everything.get_sum(**wrong)\n' +
    '    except Exception as error:\n        print(error)'
  const [first, second, third] = (await shared().run(code)).split('\n')
  expect(first).toMatch(/^get_sum: b is missing\. Signature: mcp_everything\.get_sum\(/)
  expect([second, third]).toEqual(['get_sum: b is missing', 'get_sum: b is missing'])
  // Another error is reported in full.
  const other = code.replace('{"a": 1}', '{"b": 1}').replace('range(3)', 'range(1)')
  expect(await shared().run(other)).toMatch(/^get_sum: a is missing\. Signature: /)
  // A cell that catches an error may show nothing of it, so the next one has all of it.
  expect(await shared().run(code)).toMatch(/^get_sum: b is missing\. Signature: /)
})
