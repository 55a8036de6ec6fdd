// This file verifies JavaScript cells with the built bridge in bubblewrap: the tool, rules, questions, limits, and
// attacks over Node's channel to the kernel.
import { describe, expect, it } from 'vitest'
import type { TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { providerOrSkip, runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { ruledBridge, sharedRuledBridge } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'

const ENV = { ...runtimeEnv('bubblewrap'), MCP_BRIDGE_LANGUAGES: 'python,javascript' }

const js = (bridge: TestBridge, code: string, args: Record<string, unknown> = {}) =>
  bridge.callTool('run_javascript', { code, ...args })

/** What the user says to the next questions. */
let answers: string[] = []
const shared = sharedRuledBridge({
  env: { ...ENV, SECRET_OF_HOST: 'canary-of-host' },
  answer: () => answers.shift() ?? 'no',
})

it(
  'run_javascript runs in the embedded sandbox as well, before the same rules and within the same limits',
  { tags: ['whole'] },
  async () => {
    const env = { ...ENV, ...runtimeEnv('pyodide') }
    const { bridge, reached } = await ruledBridge({ env, permissions: { deny: ['hub__delete_*'] } })
    const { text, isError } = await js(
      bridge,
      `const said: string = await hub.createIssue({ title: 'a b', id: '7' })
import { writeFileSync } from 'node:fs'
writeFileSync('f', said)
for (const way of [() => hub.delete_repo({ id: '1' }), () => tools.call('hub', 'delete_repo')]) await way().catch((error) => console.log(error.name))
console.log(await tools.search('create issue'))
said`,
    )
    expect([isError, text]).toEqual([
      false,
      expect.stringMatching(
        /^PermissionDenied\nPermissionDenied\nawait hub\.create_issue\(\{.*Tool create_issue\n[^]*'did create_issue'\n\[sandbridge: Not all was done: 2 calls refused: hub\.delete_repo \(2 times\)\.\]$/,
      ),
    ])
    expect(reached()).toEqual([['create_issue', { title: 'a b', id: '7' }]])
    expect(await bridge.run('print(open("f").read())')).toBe('did create_issue')
    const late = await js(bridge, 'console.log("before"); for (;;);', { timeout: 1 })
    expect([late.isError, late.text]).toEqual([true, expect.stringMatching(/^before\n[^]*Timed out after 1 s/)])
    expect((await js(bridge, 'said')).text).toBe("'did create_issue'")
    const failed = await js(bridge, 'console.log("ran")\nawait hub.no_such_tool()')
    expect(failed.text).toMatch(/Cell \d+, line 2\n {4}await hub.no_such_tool\(\)\nToolNotFound: [^]*no_such_tool/)
    expect(failed.text).not.toMatch(/^ran/)
  },
)

it('run_javascript calls tools, keeps variables and shares the session with Python', async () => {
  await providerOrSkip('bubblewrap')
  const { bridge, reached } = shared({})
  const count = Number(await bridge.run('runtime.session().cellCount'))
  const { text, isError } = await js(
    bridge,
    `const kept: number = 1
const said = await hub.createIssue({ title: 'a b', id: '7' })
import { writeFileSync } from 'node:fs'
writeFileSync('f', said)
console.log(await tools.search('create issue'))
said`,
  )
  expect([isError, text]).toEqual([
    false,
    expect.stringMatching(/^await hub\.create_issue\(\{.*Tool create_issue\n[^]*'did create_issue'$/),
  ])
  expect(reached()).toEqual([['create_issue', { title: 'a b', id: '7' }]])
  expect(await bridge.run('print(open("f").read(), runtime.session().cellCount)')).toBe(`did create_issue ${count + 2}`)
  expect((await js(bridge, 'kept + 1')).text).toBe('2')
  const failed = await js(bridge, '// nothing\nawait hub.no_such_tool()')
  expect([failed.isError, failed.text]).toEqual([
    true,
    expect.stringMatching(/Cell \d+, line 2\n {4}await hub.no_such_tool\(\)\nToolNotFound: [^]*no_such_tool/),
  ])
})

it('run_javascript is refused calls that a rule denies, whichever way it makes them, and before anything runs', async () => {
  await providerOrSkip('bubblewrap')
  const { bridge, reached } = shared({ deny: ['hub__delete_*'] })
  const { text } = await js(
    bridge,
    `const ways = [
  () => hub.delete_repo({ id: '1' }), () => mcp_hub.deleteRepo(), () => hub['Delete-Repo'].raw({}),
  () => tools.call('hub', 'delete_repo'), () => runtime.call_tool('hub', 'delete_repo', {}), () => mcp_servers.hub.delete_repo(),
]
for (const way of ways) await way().catch((error) => console.log(error.name, error.message))
await hub.get_issue({ id: '1' })`,
  )
  expect(text.match(/PermissionDenied .* is denied by the rule/g)).toHaveLength(6)
  expect(reached(), 'the same way leads to what is allowed').toEqual([['get_issue', { id: '1' }]])
  const seen = await js(
    bridge,
    'console.log("ran"); await hub.get_issue({ id: "2" }); await hub.delete_repo({ id: "1" })',
  )
  expect(seen.text).toContain('is denied by the rule')
  expect(seen.text).not.toMatch(/^ran/m)
  expect(reached()).toHaveLength(1)
})

it('run_javascript asks once about all calls that it can see', async () => {
  await providerOrSkip('bubblewrap')
  answers = ['no', 'yes, this once']
  const { bridge, reached, questions } = shared({ ask: ['hub__create_*', 'hub__delete_*'] })
  await js(bridge, 'await tools.list("hub"); globalThis.ran = 0')
  const cell = 'ran += 1\nawait hub.create_issue({ title: "a" })\nawait mcp_hub.deleteRepo({ id: "7" })'
  expect((await js(bridge, cell)).text).toMatch(/Not run[^]*the user said no/)
  expect(questions).toHaveLength(1)
  expect(questions[0]).toMatch(
    /Before it runs: .* 2 calls:\n {2}1\. hub\.create_issue: title: "a"\n {2}2\. hub\.delete_repo: id: "7"/,
  )
  expect(reached()).toEqual([])
  await js(bridge, cell)
  expect(questions).toHaveLength(2)
  expect(reached().map(([name]) => name)).toEqual(['create_issue', 'delete_repo'])
  expect((await js(bridge, 'ran')).text).toBe('1')
})

/** The socket to the kernel, which a cell finds among its descriptors: the cell can send whatever the runner can. */
const SPEAK = `const fs = require('fs'), net = require('net')
const channel = Number(process.argv[2])
const speak = (text) => { for (let rest = Buffer.from(text); rest.length > 0;) { try { rest = rest.subarray(fs.writeSync(channel, rest)) } catch (error) { if (error.code !== 'EAGAIN') throw error } } }
`

describe('the channel of Node', () => {
  it('forged messages of Node get no more than a cell has', async () => {
    await providerOrSkip('bubblewrap')
    const { bridge, reached } = shared({ deny: ['hub__delete_*'] })
    await js(
      bridge,
      `${SPEAK}
const forged = [
  { type: 'call', id: 9001, server: 'hub', tool: 'delete_repo', args: [], kwargs: { id: '1' } },
  { type: 'call', id: 9002, method: 'call_tool', server: ['hub'], tool: { a: 1 }, args: 'x', kwargs: 5 },
  { type: 'call' }, { type: 'runtime', name: '__class__', args: [] }, { type: 'runtime', name: 'save_tool', args: [1] },
  { type: 'runtime', name: 'MCPError', args: ['x'] }, { type: 'runtime', name: 'progress', args: 'no', binary: [4] },
  { type: 'runtime', name: 'artifacts', args: [], binary: [99] }, { type: 'runtime', name: 'grep', args: [{ __proto__: 1 }] },
  { type: 'check', calls: [{ server: 1 }, null, { server: 'hub', tool: 'get_issue', kwargs: 5, line: 'x' }] },
  { type: 'display', data: { 'text/plain': 5 }, media: [[1, 2], 'x'] }, { type: 'display', data: [] },
  { type: 'reply', id: 1 }, { type: 'ready', node: '0' }, { type: 'done', cell: 999, status: 'ok' }, { type: 5 },
]
for (const one of forged) speak(JSON.stringify(one) + '\\n')
await new Promise((resolve) => setTimeout(resolve, 300))`,
      { timeout: 30 },
    )
    expect(reached()).toEqual([])
    expect((await js(bridge, 'await hub.get_issue({ id: "4" })')).text).toContain('did get_issue')
    expect(await bridge.run('1 + 1')).toBe('2')
  })

  it.for([
    ['garbage', 'speak("\\xff{{{\\n")'],
    ['a list', 'speak("[1]\\n")'],
    ['a line without end', 'speak("x".repeat(70 << 20))'],
    ['deep nesting', 'speak("[".repeat(1e6) + "\\n")'],
    ['a closed channel', 'fs.closeSync(channel)'],
  ])('Node is ended for %s, and Python continues', async ([, attack]) => {
    await providerOrSkip('bubblewrap')
    const { bridge } = shared({})
    await bridge.run('kept = 7')
    const { text, isError } = await js(bridge, `${SPEAK}${attack}\nawait new Promise(() => {})`, { timeout: 20 })
    expect([isError, text]).toEqual([true, expect.stringMatching(/Node ended|Timed out/)])
    expect(await bridge.run('kept')).toBe('7')
    expect((await js(bridge, '1 + 1')).text).toContain('2')
  })

  it('Node does not read files that a sandbox must not have', async () => {
    await providerOrSkip('bubblewrap')
    const { bridge } = shared({})
    const { text } = await js(
      bridge,
      `const fs = require('fs')
const tried = {}
for (const [name, attempt] of Object.entries({
  environment: () => JSON.stringify(process.env),
  home: () => fs.readdirSync('/root').concat(fs.readdirSync('/home')).join(),
  passwords: () => fs.readFileSync('/etc/shadow', 'utf8'),
  nodeFolder: () => fs.readdirSync('/opt/node').join(),
  write: () => fs.writeFileSync('/opt/node/bin/node', 'x'),
  bridge: () => fs.readdirSync('/proc').filter((pid) => /^\\d+$/.test(pid)).map((pid) => { try { return fs.readFileSync('/proc/' + pid + '/environ', 'utf8') } catch { return '' } }).join(),
})) { try { tried[name] = attempt() } catch (error) { tried[name] = error.code } }
tried.network = await fetch('http://127.0.0.1:1').then(() => 'reached', (error) => error.cause?.code ?? error.message)
console.log(JSON.stringify(tried))`,
    )
    expect(text).not.toContain('canary-of-host')
    const tried = JSON.parse(text.split('\n')[0]!) as Record<string, string>
    expect(tried).toMatchObject({ home: 'ENOENT', passwords: 'ENOENT', write: 'EROFS', nodeFolder: 'bin' })
    expect(tried['network']).not.toBe('reached')
  })
})
