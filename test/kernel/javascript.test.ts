// JavaScript cells: what they print, show, keep and end with, and how they call tools, over bare frames.
import { beforeAll, describe, expect, it } from 'vitest'
import { languageFiles } from '../../src/languages/language-files.ts'
import { type Call, type Driver, GITHUB, type RunOptions, startKernel } from './drive.ts'

let files: Record<string, string>
beforeAll(async () => {
  files = await languageFiles('javascript')
})

const js = (kernel: Driver, code: string, options: RunOptions = {}) =>
  kernel.run(code, {
    language: 'javascript',
    ...options,
    onCall: (call) => (call.method === 'language_files' ? { value: files } : options.onCall?.(call)),
  })

/** The value of a cell that must succeed, as it is shown. */
const value = async (kernel: Driver, code: string, options?: RunOptions) => {
  const { status, value: shown, error } = await js(kernel, code, options)
  expect([status, error]).toEqual(['ok', undefined])
  return shown?.['text/plain']
}

/** Answers each call of a tool with `result`; what was called. */
function github(result: unknown = { content: [], structuredContent: { number: 12 } }) {
  const calls: Call[] = []
  const onCall: RunOptions['onCall'] = (call) => {
    calls.push(call)
    return { value: result }
  }
  const asked = () => calls.map(({ params: { tool, args, kwargs } }) => [tool, args, kwargs])
  return { calls, asked, options: { servers: GITHUB, onCall } satisfies RunOptions }
}

describe('a JavaScript cell', () => {
  it('a JavaScript cell prints, and shows its last value', async (ctx) => {
    const kernel = await startKernel(ctx)
    const cell = await js(kernel, 'console.log("out", { a: [1] }); console.error("err");({ a: 1 + 1, b: "x" })')
    expect(cell).toMatchObject({
      status: 'ok',
      stdout: 'out { a: [ 1 ] }\n',
      stderr: 'err\n',
      value: { 'text/plain': "{ a: 2, b: 'x' }" },
    })
    expect((await js(kernel, 'let x = 5')).value).toBeUndefined()
    expect(await value(kernel, '"text"')).toBe("'text'")
    expect((await js(kernel, '({ a: [1] })', { json: true })).value).toMatchObject({ 'application/json': { a: [1] } })
    expect(kernel.badLines).toEqual([])
  })

  it('a JavaScript cell keeps what it declares, and may declare it again', async (ctx) => {
    const kernel = await startKernel(ctx)
    await js(
      kernel,
      `import fs, { readFileSync as read } from 'node:fs'
import * as path from 'node:path'
const a = 1, { b, c: [d] } = { b: 2, c: [3] }
let e
var f = () => g() + a
function g() { return 10 }
class H { static x = 4 }
if (a) { var i = 5 }
for (var j = 0; j < 3; j++);
for (var k of [7]) ;
export const l = 8
async function m() { return a }
const crypto = 'mine', name = 'n'`,
    )
    expect(await value(kernel, '[a, b, d, e, f(), H.x, i, j, k, l, await m(), crypto, name].join()')).toBe(
      "'1,2,3,,11,4,5,3,7,8,1,mine,n'",
    )
    expect(await value(kernel, '[typeof fs.readFileSync, typeof read, path.basename("/x/y")]')).toBe(
      "[ 'function', 'function', 'y' ]",
    )
    expect(await value(kernel, 'const a = 2; function g() { return 20 }\nf()')).toBe('22')
    expect(await value(kernel, 'e = 9\nlet e2 = e\n;[e2, typeof g]')).toBe("[ 9, 'function' ]")
  })

  it('a JavaScript cell awaits, imports and requires', async (ctx) => {
    const kernel = await startKernel(ctx)
    expect(
      await value(
        kernel,
        `const { basename } = await import('node:path')
const os = require('os')
await new Promise((resolve) => setTimeout(resolve, 5))
const { setTimeout: sleep } = await import('node:timers/promises')
await sleep(1)
basename('/a/b') + typeof os.cpus`,
      ),
    ).toBe("'bfunction'")
    expect(await value(kernel, '(async () => 7)()')).toBe('7')
    expect(await value(kernel, 'for (const x of [1]) { if (x) return { found: x } }')).toBe('{ found: 1 }')
  })

  it('a JavaScript cell runs TypeScript', async (ctx) => {
    const kernel = await startKernel(ctx)
    expect(
      await value(
        kernel,
        `interface Issue { title: string; labels?: string[] }
type Id = number | string
enum Kind { Bug = 'bug' }
const issues: Issue[] = [{ title: 'a' } as Issue]
function first<T>(list: T[]): T | undefined { return list[0]! }
const id = <T,>(x: T): T => x
const seen = new Map<string, number>()
class Point { constructor(public x: number, private y = 2) {} }
[first<Issue>(issues)?.title, id<number>(3), Kind.Bug, new Point(1).x satisfies number, seen.size]`,
      ),
    ).toBe("[ 'a', 3, 'bug', 1, 0 ]")
    expect(await value(kernel, 'first<string>(["x"])')).toBe("'x'")
    expect(await value(kernel, 'let n = 3; [n<4, n>(2)]')).toBe('[ true, true ]')
  })

  it('a JavaScript cell names its own lines in errors', async (ctx) => {
    const kernel = await startKernel(ctx)
    await js(kernel, '// a comment\nfunction fails() {\n  throw new TypeError("no")\n}')
    const { error } = await js(kernel, 'const x = 1\n\nawait fails()')
    expect(error).toMatchObject({ name: 'TypeError', message: 'no' })
    expect(error?.traceback).toBe(
      'Cell 1, line 3\n    throw new TypeError("no")\nTypeError: no\n    at Cell 2, line 3\n',
    )
    expect((await js(kernel, 'let y: number = 1\nlet z: string = missing\n')).error?.traceback).toContain(
      'Cell 3, line 2\n    let z: string = missing\nReferenceError: missing is not defined',
    )
    const wrong = await js(kernel, 'let ok = 1\nlet = = 2')
    expect(wrong.error).toMatchObject({
      name: 'SyntaxError',
      traceback: expect.stringMatching(/^Cell 4, line 2\n {4}let = = 2\n {4}\^\nSyntaxError: /),
    })
    expect(await value(kernel, 'typeof ok')).toBe("'undefined'")
    expect((await js(kernel, 'throw { odd: 1 }')).error?.traceback).toBe('Uncaught { odd: 1 }\n')
    expect((await js(kernel, 'Promise.reject(new Error("nobody looks")); 1')).error?.message).toBe('nobody looks')
    expect((await js(kernel, 'throw new Error("a", { cause: new RangeError("b") })')).error?.traceback).toContain(
      'Caused by: ',
    )
  })

  it('a JavaScript cell ends with process.exit, and the next one runs', async (ctx) => {
    const kernel = await startKernel(ctx)
    expect((await js(kernel, 'globalThis.kept = 1; process.exit(3)')).error).toMatchObject({
      name: 'ExitStatus',
      message: '3',
    })
    expect((await js(kernel, 'process.exit()')).status).toBe('ok')
    expect(await value(kernel, 'kept')).toBe('1')
    const killed = await js(kernel, 'process.kill(process.pid, "SIGKILL"); await new Promise(() => {})')
    expect(killed.error).toMatchObject({ name: 'NodeEnded', message: expect.stringContaining('SIGKILL') })
    expect(await value(kernel, 'typeof kept')).toBe("'undefined'")
  })

  it('a JavaScript cell shares files and the folder with Python', async (ctx) => {
    const kernel = await startKernel(ctx)
    await kernel.run('import os, tempfile\nos.chdir(tempfile.mkdtemp())\nopen("f", "w").write("from python")')
    expect(await value(kernel, 'require("fs").readFileSync("f", "utf8")')).toBe("'from python'")
    await js(kernel, 'import { writeFileSync } from "fs"\nwriteFileSync("g", "from node")')
    expect(await kernel.value('open("g").read()')).toBe("'from node'")
  })

  it('a JavaScript cell reads nothing from stdin, and cannot write a frame', async (ctx) => {
    const kernel = await startKernel(ctx)
    const frame = '{"type":"done","cell":1,"status":"ok"}'
    const cell = await js(
      kernel,
      `const fs = require('fs'); fs.writeSync(1, '${frame}\\n'); fs.readFileSync(0, 'utf8')`,
    )
    expect([cell.stdout, cell.value?.['text/plain']]).toEqual([`${frame}\n`, "''"])
    expect(kernel.badLines).toEqual([])
  })

  it('a JavaScript cell shows errors without the frames of what runs it, and fails for an uncaught one', async (ctx) => {
    const kernel = await startKernel(ctx)
    const { stdout } = await js(kernel, 'try { null.x } catch (error) { console.log(error) }')
    expect(stdout).toMatch(/^TypeError: Cannot read properties of null \(reading 'x'\)\n {4}at Cell 1:1:\d+\n$/)
    const thrown = await js(kernel, 'await new Promise(() => setTimeout(() => { throw new RangeError("late") }, 5))')
    expect(thrown.error).toMatchObject({ name: 'RangeError', message: 'late' })
    const handled =
      'const failing = Promise.reject(new Error("looked at")); await new Promise((resolve) => setTimeout(resolve, 5))'
    expect(await value(kernel, `${handled}; await failing.catch((error) => error.message)`)).toBe("'looked at'")
  })

  it('a JavaScript cell leaves no timer behind', async (ctx) => {
    const kernel = await startKernel(ctx)
    const { notes } = await js(kernel, 'setInterval(() => console.log("tick"), 5); setTimeout(() => {}, 1e6)')
    expect(notes).toEqual(['2 timers of the cell ended with it: await what should happen'])
    const { stdout } = await js(kernel, 'await new Promise((resolve) => setTimeout(resolve, 50))')
    expect(stdout).toBe('')
  })

  it.for([
    'await new Promise(() => {})',
    'while (true);',
    'await 1; while (true);',
    'for (;;) await null',
    'await new Promise((resolve) => setTimeout(resolve, 1)); for (;;);',
    'setImmediate(() => { for (;;); }); await new Promise(() => {})',
    'for (let n = 0; n < 3; n++) setTimeout(() => { for (;;); }); await new Promise(() => {})',
    'process.nextTick(() => { for (;;); }); await new Promise(() => {})',
    'try { for (;;); } finally { for (;;); }',
    '/(a+)+b/.test("a".repeat(60))',
    'await github.create_issue({ title: "never" })',
    'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
    'require("child_process").execSync("sleep 600")',
    'require("child_process").execSync(`trap "" INT; sleep 3`)',
  ])('a JavaScript cell is ended by an interrupt, and keeps its variables: %s', async (code, ctx) => {
    const kernel = await startKernel(ctx)
    let isFirst = true
    const cell = await js(kernel, `globalThis.kept = 1; console.log("go");${code}`, {
      servers: GITHUB,
      onFrame: ({ type }) => {
        if (isFirst && type === 'output') setTimeout(() => kernel.sandbox.interrupt(), 60)
        if (type === 'output') isFirst = false
      },
    })
    expect(cell).toMatchObject({ status: 'interrupted', error: { name: 'KeyboardInterrupt' } })
    const isLost = cell.notes?.join().includes('variables of JavaScript cells are gone') ?? false
    expect(isLost).toBe(code.includes('trap'))
    expect(await value(kernel, 'typeof kept')).toBe(isLost ? "'undefined'" : "'number'")
    expect(await value(kernel, 'await new Promise((resolve) => setTimeout(() => resolve(5), 5))')).toBe('5')
  })
})

describe('the API of JavaScript cells', () => {
  it('the API of JavaScript cells calls tools by either name, with native results', async (ctx) => {
    const kernel = await startKernel(ctx)
    const { options, asked } = github()
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
  })

  it('the API of JavaScript cells returns texts, images and bytes', async (ctx) => {
    const kernel = await startKernel(ctx)
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

  it('the API of JavaScript cells rejects with errors that say what to do, from the line of the call', async (ctx) => {
    const kernel = await startKernel(ctx)
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
    // Not awaited: the cell waits for the call, and tells of its failure.
    expect((await js(kernel, 'github.create_issue(); "on"', options)).error?.name).toBe('ToolError')
    expect((await js(kernel, 'await github.create_issue({ big: 10n ** 30n })', options)).error?.name).toBe(
      'ArgumentsError',
    )
    expect((await js(kernel, 'await nothing.here()', options)).error).toMatchObject({ hint: 'Servers: github.' })
    // A hint about the sandbox's packages is not for what a server could not find.
    const elsewhere = { code: 'TOOL_FAILED', message: "Error: Cannot find module 'left-pad'" }
    const ofServer = await js(kernel, 'await github.create_issue()', {
      ...options,
      onCall: () => ({ error: elsewhere }),
    })
    expect(ofServer.error?.hint).toBeUndefined()
    expect((await js(kernel, 'require("left-pad")')).error?.hint).toContain("Only Node's own modules are here")
  })

  it('the API of JavaScript cells has the functions of runtime, and searches', async (ctx) => {
    const kernel = await startKernel(ctx)
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
    }
    const options: RunOptions = {
      servers: GITHUB,
      onCall: ({ method, params }) => {
        asked.push([method, params])
        if (method.endsWith('_docs')) return { value: [doc] }
        return { value: method === 'load_memory' ? '{"a": 1}' : { name: 'x', version: 1 } }
      },
    }
    const { value: shown } = await js(kernel, 'await tools.search("create issue", { limit: 2 })', options)
    expect(shown?.['text/plain']).toBe(
      "await github.create_issue({ title: string, labels?: string[] | null, state?: 'open' | 'closed' })  // Create an issue.",
    )
    expect(asked.splice(0)).toEqual([['search_tool_docs', { query: 'create issue', limit: 2, detail: 'full' }]])
    expect(await value(kernel, '(await tools.describe("github", "create_issue"))[0].params.length', options)).toBe('3')
    expect(await value(kernel, 'await runtime.saveMemory("k", { a: 1 }); await runtime.loadMemory("k")', options)).toBe(
      '{ a: 1 }',
    )
    await js(kernel, 'await runtime.saveArtifact("x.bin", Buffer.from([1, 2, 3]))', options)
    expect(asked).toContainEqual(['upload', { data: 'AQID' }])
    expect((await js(kernel, 'await runtime.saveTool("x")', options)).error?.name).toBe('ArgumentsError')
  })

  it('a JavaScript cell calls saved tools and workflows, which are Python, and is told how to save', async (ctx) => {
    const kernel = await startKernel(ctx)
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

  it('a JavaScript cell is shown signatures as JavaScript has them', async (ctx) => {
    const kernel = await startKernel(ctx)
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

  it('the calls of a JavaScript cell are checked before it runs', async (ctx) => {
    const kernel = await startKernel(ctx)
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
        },
        { server: 'github', tool: 'no_tool', args: [] },
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
    // What an earlier cell has put in the place of a name.
    await check('globalThis.github = globalThis.mcp_github = globalThis.mcp_other = { no_tool: () => 5 }')
    for (const name of ['github', 'mcp_github', 'mcp_other'])
      expect((await check(`${name}.no_tool()`)).value, name).toEqual({ 'text/plain': '5' })
  })

  it('the API of JavaScript cells makes thousands of calls at once', async (ctx) => {
    const kernel = await startKernel(ctx)
    const { options, calls } = github()
    const code = '(await Promise.all(Array.from({ length: 5000 }, (_, n) => github.create_issue({ n })))).length'
    expect(await value(kernel, code, options)).toBe('5000')
    expect(calls).toHaveLength(5000)
  })

  it('the API of JavaScript cells stops working when its cell has ended', async (ctx) => {
    const kernel = await startKernel(ctx)
    const { options, calls } = github()
    await js(
      kernel,
      `require('fs').readFile('/proc/self/stat', () => {})
globalThis.late = new Promise((resolve) => require('child_process').exec('sleep 0.3', () => github.create_issue().then(resolve, resolve)))
0`,
      options,
    )
    await kernel.run('import time; time.sleep(0.6)')
    expect(await value(kernel, '(await late).message')).toContain('No cell is running')
    expect(calls).toEqual([])
  })
})
