// This file verifies how JavaScript cells call tools and search, and what is checked before they run, over bare frames.
import { expect } from 'vitest'
import { Link } from '../../src/javascript/link.ts'
import { GITHUB, type RunOptions, startKernel, it } from '@sandbridge/core/test/kernel/drive.ts'
import { github, js, value } from './drive-javascript.ts'

it('the API of JavaScript cells calls tools by either name, with native results', async ({ kernel }) => {
  const { options, asked, calls } = github()
  const code = `const { number } = await github.create_issue({ title: 'a b', labels: ['x'], when: new Date(0) })
const all = await Promise.all([mcp_github.createIssue({}), mcp_servers['github'].create_issue('t', 2), tools.call('github', 'create_issue', { title: 'c' }), runtime.callTool('github', 'create_issue')])
;[number, all.every((one) => one.number === 12), (await github.create_issue.raw()).structuredContent.number]`
  expect(await value(kernel, code, options)).toBe('[ 12, true, 12 ]')
  expect(asked()).toEqual([
    ['create_issue', [], { title: 'a b', labels: ['x'], when: '1970-01-01T00:00:00.000Z' }],
    ['createIssue', [], {}],
    ['create_issue', ['t', 2], {}],
    ['create_issue', [], { title: 'c' }],
    ['create_issue', [], {}],
    ['create_issue', [], {}],
  ])
  expect(calls.map(({ params }) => params['exact'] === true)).toEqual([false, false, false, true, true, false])
})

it('the API of JavaScript cells sends large round numbers, and numbers of typed arrays', async ({ kernel }) => {
  const { options, asked } = github()
  const numbers = '{ size: 1e20, far: 2 ** 80, ids: [2 ** 53 - 1], at: -1767225600123e6'
  await value(kernel, `await github.create_issue(${numbers}, some: new Float64Array([1.5]) })`, options)
  const sent = { size: 1e20, far: 2 ** 80, ids: [2 ** 53 - 1], at: -1_767_225_600_123e6, some: [1.5] }
  expect(asked()).toEqual([['create_issue', [], sent]])
})

it.each([
  ['1234567890123456789', 'the integer 1234567890123456800 in .* is beyond .* write it as a BigInt, .* or as a string'],
  ['[2 ** 60]', "in '0' is beyond"],
  ['-(2 ** 53)', 'the integer -9007199254740992'],
  ['NaN', "NaN in 'id' has no form in JSON: send null"],
  ['new Map([["deep", -Infinity]])', "-Infinity in 'deep'"],
  ['Buffer.from("x")', "Buffer in 'id' has no form in JSON: send its .toString"],
  ['[new Uint8Array(1).buffer]', "ArrayBuffer in '0'"],
  ['new TypeError("x")', "TypeError in 'id' has no form in JSON: send its message"],
  ['Promise.resolve(1)', "Promise in 'id' has no form in JSON: await it"],
  ['String.raw', "Function in 'id' has no form in JSON: call it"],
  ['/a/', "RegExp in 'id' has no form in JSON: send its source"],
  ['[Symbol("a")]', "Symbol in '0' has no form in JSON: send its description"],
  ['new Date(NaN)', "an invalid Date in 'id' has no form in JSON: send null"],
])('the API of JavaScript cells sends nothing that JSON would change: %s', async (given, expected) => {
  const kernel = await startKernel()
  const { options, asked } = github()
  const { error } = await js(kernel, `await github.create_issue({ id: ${given} })`, options)
  expect(error?.message).toMatch(new RegExp(`The arguments cannot be sent as JSON: .*${expected}`))
  expect(asked()).toEqual([])
})

it('the API of JavaScript cells takes and gives integers beyond 2^53 as BigInts, and keys in their order', async ({
  kernel,
}) => {
  const { options, asked } = github()
  await js(kernel, 'await github.create_issue({ few: 3n, list: [-(2n ** 64n)] })', options)
  expect(asked()).toEqual([['create_issue', [], { few: 3, list: [-(2 ** 64)] }]])
  const text = '{"id": -12345678901234567890, "9": 1, "1": 9007199254740991}'
  const given = github({ content: [{ type: 'text', text }] }).options
  const code = 'const found = await github.create_issue(); [found.id, Object.keys(found), found[1]]'
  expect(await value(kernel, code, given)).toBe("[ -12345678901234567890n, [ 'id', '9', '1' ], 9007199254740991 ]")
})

it('the API of JavaScript cells returns texts, images and bytes', async ({ kernel }) => {
  const plain = github({ content: [{ type: 'text', text: 'plain € text' }] })
  expect(await value(kernel, 'await github.create_issue()', plain.options)).toBe("'plain € text'")
  const image = github({ content: [{ type: 'image', data: 'AAECAw==', mimeType: 'image/png' }] })
  const cell = await js(kernel, 'const picture = await github.create_issue(); picture', image.options)
  expect(cell.value).toEqual({ 'text/plain': '<image/png, 4 bytes>', 'image/png': 'AAECAw==' })
  expect(await value(kernel, '[picture.data[3], picture.mimeType]')).toBe("[ 3, 'image/png' ]")
  const beside = await js(kernel, 'display(picture); ({ inside: [picture] })')
  expect(beside.frames.filter(({ type }) => type === 'display').map(({ data }) => data)).toEqual([
    { 'text/plain': '<image/png, 4 bytes>', 'image/png': 'AAECAw==' },
    { 'text/plain': '', 'image/png': 'AAECAw==' },
  ])
})

it('the API of JavaScript cells rejects with errors that say what to do, from the line of the call', async ({
  kernel,
}) => {
  const error = {
    code: 'TOOL_FAILED',
    message: 'It is full',
    hint: 'Make room.',
    data: { server: 'github', tool: 'create_issue' },
  }
  const options: RunOptions = { servers: GITHUB, onCall: () => ({ error }) }
  const caught =
    'try { await github.create_issue() } catch (e) { return [e instanceof MCPError, e.name, e.code, e.hint, e.message, e.tool] }'
  expect(await value(kernel, caught, options)).toBe(
    "[ true, 'ToolError', 'TOOL_FAILED', 'Make room.', 'It is full. Make room.', 'create_issue' ]",
  )
  const failed = await js(kernel, '\nconst x = await github.create_issue()', options)
  expect(failed.error).toMatchObject({
    name: 'ToolError',
    message: 'It is full. Make room.',
    traceback: expect.stringMatching(/^Cell 2, line 2\n {4}const x = await github.create_issue\(\)\nToolError: /),
  })
  // Not awaited: the cell waits for the call and reports its failure.
  expect((await js(kernel, 'github.create_issue(); "on"', options)).error?.name).toBe('ToolError')
  expect((await js(kernel, 'await github.create_issue({ big: NaN })', options)).error?.name).toBe('ArgumentsError')
  expect((await js(kernel, 'await nothing.here()', options)).error).toMatchObject({ hint: 'Servers: github.' })
  // A hint about the sandbox's packages does not fit a module that the server is missing.
  const elsewhere = { code: 'TOOL_FAILED', message: "Error: Cannot find module 'left-pad'" }
  const ofServer = await js(kernel, 'await github.create_issue()', {
    ...options,
    onCall: () => ({ error: elsewhere }),
  })
  expect(ofServer.error?.hint).toBeUndefined()
  expect((await js(kernel, 'require("left-pad")')).error?.hint).toContain("Only Node's own modules are here")
})

it('the API of JavaScript cells has the functions of runtime, and searches', async ({ kernel }) => {
  const asked: unknown[] = []
  const doc = {
    server: 'github',
    serverAlias: 'github',
    tool: 'create_issue',
    toolAlias: 'create_issue',
    description: 'Create an issue. It says more.',
    line: 'python',
    params: [
      { name: 'title', type: 'str', required: true },
      { name: 'labels', type: 'list[str] | None', required: false },
      { name: 'state', type: "Literal['open', 'closed']", required: false },
    ],
    open: true,
  }
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ method, params }) => {
      asked.push([method, params])
      if (method.endsWith('_docs')) return { value: [doc] }
      if (method === 'load_memory') return { value: { value: '{"a": 1}', revision: 'r1' } }
      return { value: { name: 'x', version: 1 } }
    },
  }
  const { value: shown } = await js(kernel, 'await tools.search("create issue", { limit: 2 })', options)
  expect(shown?.['text/plain']).toBe(
    "await github.create_issue({ title: string, labels?: string[] | null, state?: 'open' | 'closed', ...more })  // Create an issue.",
  )
  expect(asked.splice(0)).toEqual([['search_tool_docs', { query: 'create issue', limit: 2, detail: 'full' }]])
  await js(kernel, 'await tools.search("create issue", "open ticket", { limit: 2 })', options)
  expect(asked.splice(0)).toEqual([
    ['search_tool_docs', { query: ['create issue', 'open ticket'], limit: 2, detail: 'full' }],
  ])
  expect(await value(kernel, '(await tools.describe("github", "create_issue"))[0].params.length', options)).toBe('3')
  expect(await value(kernel, 'await runtime.saveMemory("k", { a: 1 }); await runtime.loadMemory("k")', options)).toBe(
    '{ a: 1 }',
  )
  await js(kernel, 'await runtime.saveArtifact("x.bin", Buffer.from([1, 2, 3]))', options)
  expect(asked).toContainEqual(['upload', { data: 'AQID' }])
  expect((await js(kernel, 'await runtime.saveTool("x")', options)).error?.name).toBe('ArgumentsError')
  expect(
    await value(
      kernel,
      'Object.keys(runtime).filter((name) => /^(reset|findServers|find_.*|.*Sync|complete)$/.test(name)).sort()',
    ),
  ).toBe("[ 'findServers', 'reset' ]")
})

it('a Map that a JavaScript cell sends keeps its order, also of keys like numbers', async () => {
  const lines: string[] = []
  const link = new Link((line) => lines.push(line))
  link.isOpen = true
  void link.ask({ m: new Map<unknown, number>(Object.entries({ b: 3 })).set(10, 1).set('9', 2) })
  await Promise.resolve()
  expect(lines).toEqual(['{"m":{"b":3,"10":1,"9":2},"id":1}'])
})

it('a JavaScript cell gets numbers that JSON cannot carry', async ({ kernel }) => {
  const report = '{"mean": NaN, "max": [Infinity, -Infinity, 1.5], "note": "NaN"}'
  const { options } = github({ content: [{ type: 'text', text: report }] })
  expect(await value(kernel, 'await github.create_issue()', options)).toBe(
    "{ mean: NaN, max: [ Infinity, -Infinity, 1.5 ], note: 'NaN' }",
  )
  const image = { type: 'image', data: 'AAECAw==', mimeType: 'image/png' }
  const mixed = github({ content: [{ type: 'text', text: report }, image] })
  const code = 'const all = await github.create_issue(); [all[0].mean, all[1].data.length, all.length]'
  expect(await value(kernel, code, mixed.options)).toBe('[ NaN, 4, 2 ]')
})

it('an object that a JavaScript cell saves or shows is data, and options are those that the function has', async ({
  kernel,
}) => {
  const asked: { method: string; params: Record<string, unknown> }[] = []
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ method, params }) => {
      asked.push({ method, params })
      return { value: { name: 'x', version: 1 } }
    },
  }
  /** What the bridge was sent to keep: the name, and the content. */
  const kept = async (code: string) => {
    expect((await js(kernel, `await runtime.${code}`, options)).error).toBeUndefined()
    const sent = Buffer.from(JSON.stringify(asked.splice(0)))
    const [base64] = /(?<="data":")[^"]*/.exec(sent.toString()) ?? []
    const [name] = /(?<="name":")[^"]*/.exec(sent.toString()) ?? []
    return [
      name,
      Buffer.from(base64 ?? '', 'base64')
        .toString()
        .replaceAll(/\s/g, ''),
    ]
  }
  expect(await kept('saveArtifact("a.json", { rows: [1, 2] })')).toEqual(['a.json', '{"rows":[1,2]}'])
  expect(await kept('saveArtifact({ name: "b.json", data: { rows: [] } })')).toEqual(['b.json', '{"rows":[]}'])
  const page = (data: string) => `<!doctypehtml><metacharset=utf-8><script>window.data=${data}</script><p>`
  expect(await kept('showApp("<p>", { a: 1 })')).toEqual(['app-1.html', page('{"a":1}')])
  expect(await kept('showApp("<p>", { name: "x", a: 1 })')).toEqual(['app-2.html', page('{"name":"x","a":1}')])
  expect(await kept('showApp("<p>", {})')).toEqual(['app-3.html', page('{}')])
  expect(await kept('showApp("<p>", { data: { a: 1 }, name: "c.html" })')).toEqual(['c.html', page('{"a":1}')])
  expect(await kept('showApp("<p>", { a: 1 }, { name: "d.html" })')).toEqual(['d.html', page('{"a":1}')])
})

it('updateMemory calls its function again with the value that another cell saved meanwhile', async ({ kernel }) => {
  const saved: unknown[] = []
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ method, params }) => {
      if (method === 'load_memory') return { value: { value: `${saved.length + 1}`, revision: `r${saved.length}` } }
      saved.push(params)
      return { value: saved.length === 1 ? null : { key: 'n', sizeBytes: 1 } }
    },
  }
  expect(await value(kernel, 'await runtime.updateMemory("n", async (n) => n * 10, 0)', options)).toBe('20')
  expect(saved).toMatchObject([
    { value: '10', revision: 'r0' },
    { value: '20', revision: 'r1' },
  ])
})

it('the API of JavaScript cells lists more than twenty tools of a server by name', async ({ kernel }) => {
  const doc = (at: number) => ({
    server: 'github',
    serverAlias: 'github',
    tool: `t${at}`,
    toolAlias: `t${at}`,
    description: 'Does it. Well.',
    line: '',
    params: [{ name: 'a', type: 'str', required: true }],
  })
  const many = Array.from({ length: 21 }, (_, at) => doc(at))
  const options: RunOptions = { servers: GITHUB, onCall: () => ({ value: many }) }
  const lines = String(await value(kernel, 'await tools.list("github")', options)).split('\n')
  expect([lines[0], lines.length]).toEqual(['t0  // Does it.', 22])
  expect(lines.at(-1)).toBe('21 tools. What one takes: await tools.describe("github", "t0")')
  expect(await value(kernel, 'await tools.search("x")', options)).toContain('github.t0({ a: string })')
})

it('a JavaScript cell calls saved tools and workflows, which are Python, and is told how to save', async ({
  kernel,
}) => {
  const source = `async def weekly_report(week: int, title='Report'):\n    if week < 0: raise ValueError('no such week')\n    return {'line': f'{title} {week}', 'issue': await mcp_github.create_issue(title=title)}`
  const tool = { name: 'weekly_report', version: 1, imports: [], servers: [], source }
  const line = "await workflows.weekly_report(week: int, title: str='Report') -> dict  # workflow; Writes"
  const asked: string[] = []
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ method, params }) => {
      asked.push(method)
      if (method === 'search_tool_docs')
        return { value: [{ server: 'user_tools', serverAlias: 'user_tools', tool: 'w', toolAlias: 'w', line }] }
      if (method === 'call_tool') return { value: { content: [], structuredContent: { number: 12 } } }
      if (params['name'] === 'weekly_report')
        return { value: { ...tool, servers: [{ variable: 'mcp_github', ...GITHUB[0] }] } }
      return { error: { code: 'STATE_NOT_FOUND', message: 'There is no such saved tool' } }
    },
  }
  expect(await value(kernel, 'await workflows.weeklyReport({ week: 47 })', options)).toBe(
    "{ line: 'Report 47', issue: { number: 12 } }",
  )
  expect(await value(kernel, '(await user_tools.weekly_report(3, "T")).line', options)).toBe("'T 3'")
  expect(asked).toContain('call_tool')
  const caught = async (code: string) =>
    value(kernel, `await (async () => ${code})().catch(({ name, message }) => [name, message].join(': '))`, options)
  expect(await caught('workflows.weekly_report({ week: -1 })')).toBe(
    "'MCPError: weekly_report failed: ValueError: no such week'",
  )
  expect(await caught('workflows.nothing()')).toContain('There is no such saved tool')
  for (const name of ['saveTool', 'saveWorkflow'])
    expect(await caught(`runtime.${name}(1)`), name).toMatch(
      /keeps functions of Python.*Define the function in run_python/,
    )
  expect(await value(kernel, 'await tools.search("report")', options)).toBe(
    'await workflows.weekly_report({ week: number, title?: string })  // workflow; Writes',
  )
})

it('a JavaScript cell gets every failure of a function that it calls', async ({ kernel }) => {
  const bodies: Record<string, string> = {
    leaves: 'raise SystemExit(3)',
    divides: 'raise ZeroDivisionError("none")',
    stops: 'import asyncio; raise asyncio.CancelledError',
  }
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ method, params }) => {
      if (method === 'output') return { value: { text: 'a line' } }
      const name = String(params['name'])
      return { value: { name, version: 1, imports: [], servers: [], source: `def ${name}():\n    ${bodies[name]}` } }
    },
  }
  const caught = async (code: string) =>
    value(kernel, `await ${code}.catch(({ name, message }) => [name, message].join(': '))`, options)
  expect(await caught("runtime.grep(1, '(?<id>x)')")).toMatch(/ArgumentsError: .*not a valid.*unknown extension/)
  const { error } = await kernel.run('runtime.grep(1, "(")', options)
  expect(error?.message).toMatch(/not a valid regular expression.*missing \)/)
  expect(await caught('runtime.showApp("<p>", null, 5)')).toMatch(/MCPError: AttributeError: 'int' object has no/)
  expect(await caught('user_tools.leaves()')).toBe("'MCPError: leaves failed: SystemExit: 3'")
  expect(await caught('user_tools.divides()')).toBe("'MCPError: divides failed: ZeroDivisionError: none'")
  expect(await caught('user_tools.stops()')).toBe("'MCPError: stops failed: CancelledError'")
})

it('a JavaScript cell is shown signatures as JavaScript has them', async ({ kernel }) => {
  const python =
    "mcp_github.create_issue(title: str, labels: list[str] | None = None, *, state: Literal['a', 'b'] = 'a')"
  const error = { code: 'PROXY_ARGUMENTS_INVALID', message: `create_issue: title is missing. Signature: ${python}` }
  const shown = "Signature: github.create_issue({ title: string, labels?: string[] | null, state?: 'a' | 'b' })"
  const called = await js(kernel, 'await github.create_issue()', { servers: GITHUB, onCall: () => ({ error }) })
  expect(called.error?.message).toContain(shown)
  const checked = await js(kernel, 'await github.create_issue()', {
    servers: GITHUB,
    onCheck: () => ({ value: [{ call: 0, ...error }] }),
  })
  expect(checked.error?.message).toContain(shown)
  expect(checked.error?.traceback).not.toContain('mcp_github')
})

it('the calls of a JavaScript cell are checked before it runs', async ({ kernel }) => {
  const seen: unknown[] = []
  const { options, calls } = github()
  const onCheck: RunOptions['onCheck'] = ({ params }) => {
    const asked = params['calls'] as { tool: string }[]
    seen.push(asked)
    const wrong = asked.findIndex(({ tool }) => tool === 'no_tool')
    const problem = {
      call: wrong,
      code: 'PROXY_TOOL_UNKNOWN',
      message: "Server 'github' has no tool 'no_tool'",
      hint: 'Did you mean it?',
    }
    return { value: wrong === -1 ? [] : [problem] }
  }
  const check = (code: string) => js(kernel, code, { ...options, onCheck })
  const refused = await check(
    'console.log("ran")\nawait github.create_issue({ title: "x", n: -1, of: seen, deep: { a: [null] } })\nawait mcp_github.no_tool()',
  )
  expect(refused).toMatchObject({
    status: 'error',
    stdout: '',
    error: {
      name: 'ToolNotFound',
      message: "Not run. Line 3: Server 'github' has no tool 'no_tool'. Did you mean it?",
      traceback: expect.stringContaining('Cell 1, line 3\n    await mcp_github.no_tool()\n'),
    },
  })
  expect(calls).toEqual([])
  expect(seen.splice(0)).toEqual([
    [
      {
        server: 'github',
        tool: 'create_issue',
        kwargs: { title: { value: 'x' }, n: { value: -1 }, of: {}, deep: { value: { a: [null] } } },
        // It is certain to be made.
        made: true,
      },
      { server: 'github', tool: 'no_tool', args: [], made: true },
    ],
  ])
  expect((await check('console.log(1)\nawait mcp_gitlab.anything()')).error?.message).toMatch(
    /^Not run. Line 2: Server 'gitlab' is not available/,
  )
  for (const handled of [
    'try { await github.no_tool() } catch {}',
    'await github.no_tool().catch(() => 1)',
    'const github = { no_tool() { return 1 } }; github.no_tool()',
    'async function later() { try { await github.no_tool() } catch {} }',
  ])
    expect((await check(handled)).status, handled).toBe('ok')
  // Names that an earlier cell has overwritten.
  await check('globalThis.github = globalThis.mcp_github = globalThis.mcp_other = { no_tool: () => 5 }')
  for (const name of ['github', 'mcp_github', 'mcp_other'])
    expect((await check(`${name}.no_tool()`)).value, name).toEqual({ 'text/plain': '5' })
})

it('the API of JavaScript cells makes a call knowingly again', async ({ kernel }) => {
  const { options, calls } = github()
  const code = `await github.create_issue({ n: 1 })
await runtime.again(github.create_issue({ n: 2 }))
await runtime.again(mcp_github.create_issue.raw({ n: 3 }))
await runtime.again(runtime.callTool('github', 'create_issue', { n: 4 }))
const made = github.create_issue({ n: 5 })
await made
const late = await runtime.again(made).catch((error) => error.message)
const none = await runtime.again().catch((error) => error.message)
;[late === none, late]`
  expect(await value(kernel, code, options)).toMatch(/^\[\n? *true,\s+'runtime.again takes the call itself/)
  const marked = calls.map(({ params }) => [(params['kwargs'] as { n: number }).n, params['again']])
  expect(marked).toEqual([[1, undefined], ...[2, 3, 4].map((n) => [n, true]), [5, undefined]])
})

it('the API of JavaScript cells makes thousands of calls at once', async ({ kernel }) => {
  const { options, calls } = github()
  const code = '(await Promise.all(Array.from({ length: 5000 }, (_, n) => github.create_issue({ n })))).length'
  expect(await value(kernel, code, options)).toBe('5000')
  expect(calls).toHaveLength(5000)
})

it('the API of JavaScript cells stops working when its cell has ended', async ({ kernel }) => {
  const { options, calls } = github()
  const [go, gone] = ['go', 'gone'].map((name) => `/tmp/sandbridge-late-${process.pid}-${name}`)
  await js(
    kernel,
    `const fs = require('fs')
fs.readFile('/proc/self/stat', () => {})
globalThis.late = new Promise((resolve) =>
  require('child_process').exec('until [ -e ${go} ]; do sleep 0.05; done', () => github.create_issue().then(resolve, resolve)))
late.then(() => fs.writeFileSync('${gone}', ''))
0`,
    options,
  )
  await kernel.run(`
import os, time
open('${go}', 'w').close()
while not os.path.exists('${gone}'): time.sleep(0.02)
for path in ('${go}', '${gone}'): os.unlink(path)`)
  expect(await value(kernel, '(await late).message')).toContain('No cell is running')
  expect(calls).toEqual([])
})

it('a JavaScript cell shows that no tool fits before the nearest ones, and can read it', async ({ kernel }) => {
  const note = 'No tool fits. Nearest (36 tools searched):'
  const echo = { server: 'github', serverAlias: 'github', tool: 'echo', toolAlias: 'echo', description: 'Echo.' }
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ params: { query } }) => ({ value: [query === 'email' ? { ...echo, weak: note } : echo] }),
  }
  const line = 'await github.echo()  // Echo.'
  expect(await value(kernel, 'await tools.search("email")', options)).toBe(`${note}\n${line}`)
  expect(await value(kernel, 'await tools.search("echo")', options)).toBe(line)
  const marks = '[(await tools.search("email")).weak, (await tools.search("echo")).weak]'
  expect(await value(kernel, marks, options)).toBe('[ true, false ]')
})
