// This file verifies the check of a cell's source before it runs: which calls the kernel finds, which it submits to the
// bridge, and what is never refused.
import { expect } from 'vitest'
import { GITHUB, sharedKernel, text, type Driver, type RunOptions, it } from './drive.ts'

interface Seen {
  server: string
  tool: string
  args?: { value?: unknown }[]
  kwargs?: Record<string, { value?: unknown }>
  partial?: boolean
  made?: boolean
}

/** A bridge for which every call of `bad` is wrong, and that has no tool `none`. */
function judging(seen: Seen[] = []): RunOptions {
  return {
    servers: [...GITHUB, { name: 'my-files', alias: 'my_files' }],
    onCall: ({ method }) => (method === 'call_tool' ? text('called') : { value: [] }),
    onCheck: ({ params }) => {
      const calls = params['calls'] as Seen[]
      seen.push(...calls)
      const problems = calls.flatMap(({ tool, server }, call) => {
        if (server === 'gone')
          return [{ call, code: 'PROXY_SERVER_UNAVAILABLE', message: "Server 'gone' is not available", hint: '' }]
        if (tool === 'bad')
          return [{ call, code: 'PROXY_ARGUMENTS_INVALID', message: 'bad: no argument "x"', hint: 'h' }]
        return tool === 'none' ? [{ call, code: 'PROXY_TOOL_UNKNOWN', message: "no tool 'none'", hint: 'H' }] : []
      })
      return { value: problems }
    },
  }
}

/** A kernel in which only refused cells run, which change nothing. */
const unchanged = sharedKernel()

async function outcome(kernel: Driver, code: string) {
  const result = await kernel.run(`print("ran")\n${code}`, judging())
  return { ...result, ran: result.stdout.includes('ran') }
}

it.for<[string, string]>([
  ['through mcp_<alias>', 'await mcp_github.bad(x=1)'],
  ['through mcp_servers', 'await mcp_servers["my-files"].bad(x=1)'],
  ['through an import', 'from mcp.servers.github import bad as b\nawait b(x=1)'],
  ['through an import of the server', 'from mcp.servers import my_files as f\nawait f.bad()'],
  ['through import as', 'import mcp.servers.github as g\nawait g.bad()'],
  ['through the module', 'import mcp.servers\nawait mcp.servers.github.bad()'],
  ['by call_tool', 'await runtime.call_tool("github", "bad", {"x": 1})'],
  ['by call_tool_sync', 'from mcp import runtime as r\nr.call_tool_sync("github", "bad")'],
  [
    'by an imported call_tool',
    'from mcp.runtime import call_tool\nawait call_tool("github", tool="bad", arguments={})',
  ],
  ['raw', 'await mcp_github.bad.raw(x=1)'],
  ['in a function', 'async def f(n):\n    return await mcp_github.bad(x=n)'],
  ['in a branch', 'if len("abc") == 4:\n    await mcp_github.bad(x=1)'],
  ['in a comprehension', '[await mcp_github.bad(x=n) for n in range(3)]'],
  ['in gather', 'import asyncio\nawait asyncio.gather(*(mcp_github.bad(x=n) for n in range(3)))'],
  ['in a try that catches something else', 'try:\n    await mcp_github.bad()\nexcept ValueError:\n    pass'],
  ['in a try without a handler', 'try:\n    await mcp_github.bad()\nfinally:\n    print("x")'],
  ['in the handler of a try', 'try:\n    1 / 0\nexcept Exception:\n    await mcp_github.bad()'],
  [
    'under a semaphore',
    'import asyncio\nsem = asyncio.Semaphore(2)\nasync def f(n):\n    async with sem:\n        return await mcp_github.bad(x=n)',
  ],
  [
    'beside a try that has nothing to do with it',
    'try:\n    1 / 0\nexcept Exception:\n    pass\nawait mcp_github.bad()',
  ],
])('a call is refused before its cell runs: %s', async ([, code]) => {
  const kernel = await unchanged()
  const { status, error, ran } = await outcome(kernel, code)
  expect({ status, ran }).toEqual({ status: 'error', ran: false })
  expect(error).toMatchObject({ name: 'ArgumentsError' })
  expect(error!.message).toMatch(/^Not run\. Line \d+: bad: no argument "x"$/)
})

it('a call that is certainly wrong is shown in its line, with the others named', async ({ kernel }) => {
  const { error } = await kernel.run('print(1)\nawait mcp_github.bad(x=1)\nawait mcp_github.none()', judging())
  expect(error!.traceback).toMatch(
    /^Traceback \(most recent call last\):\n {2}Cell 1, line 2\n {4}await mcp_github\.bad\(x=1\)\n/,
  )
  expect(error!.message).toBe('Not run:\n  line 2: bad: no argument "x"\n  line 3: no tool \'none\'. H')
  const classes = 'all(issubclass(runtime.NotAwaited, kind) for kind in (runtime.MCPError, TypeError))'
  expect(await kernel.value(classes, judging())).toBe('True')
})

it('the error of a wrong call has the class of its kind', async ({ kernel }) => {
  expect((await outcome(kernel, 'await mcp_github.none()')).error!.name).toBe('ToolNotFound')
  expect((await outcome(kernel, 'await runtime.call_tool("gone", "x")')).error!.name).toBe('ServerNotFound')
  const { error, ran } = await outcome(kernel, 'await mcp_gitub.create_issue()')
  expect({ name: error!.name, ran }).toEqual({ name: 'ServerNotFound', ran: false })
  expect(error!.message).toContain("Server 'gitub' is not available. Did you mean github? Available: github, my-files")
  expect((await outcome(kernel, 'await mcp_servers["nope"].x()')).error!.message).toContain("Server 'nope'")
  expect((await outcome(kernel, 'from mcp.servers.nope import x\nawait x()')).error!.message).toContain(
    "Not run. Line 3: Server 'nope' is not available",
  )
})

it('a wrong call is found by a name that an earlier cell has imported, or assigned', async ({ kernel }) => {
  await kernel.run('from mcp.servers.github import bad\nother = bad\ng = mcp_github', judging())
  for (const call of ['bad()', 'other()', 'g.bad()']) expect((await outcome(kernel, `await ${call}`)).ran).toBe(false)
})

it.for<[string, string]>([
  ['a try that catches it', 'try:\n    await mcp_github.bad()\nexcept TypeError:\n    pass'],
  ['a bare except', 'try:\n    await mcp_github.bad()\nexcept:\n    pass'],
  ['a try that catches MCPError', 'try:\n    await mcp_github.bad()\nexcept runtime.MCPError as e:\n    pass'],
  ['one of several', 'try:\n    await mcp_github.bad()\nexcept (ValueError, Exception):\n    pass'],
  [
    'a finally that swallows',
    'async def f():\n    try:\n        await mcp_github.bad()\n    finally:\n        return 1',
  ],
  ['an unknown class', 'E = Exception\ntry:\n    await mcp_github.bad()\nexcept E:\n    pass'],
  [
    'a class that was renamed',
    'ValueError = Exception\ntry:\n    await mcp_github.bad()\nexcept ValueError:\n    pass',
  ],
  ['suppress', 'import contextlib\nwith contextlib.suppress(Exception):\n    await mcp_github.bad()'],
  [
    'suppress in a variable',
    'import contextlib\nc = contextlib.suppress(Exception)\nwith c:\n    await mcp_github.bad()',
  ],
  ['gather that returns exceptions', 'import asyncio\nawait asyncio.gather(mcp_github.bad(), return_exceptions=True)'],
  [
    'a function that is called in a try',
    'async def f():\n    await mcp_github.bad()\ntry:\n    await f()\nexcept Exception:\n    pass',
  ],
  [
    'a task that is awaited in a try',
    'import asyncio\nt = asyncio.create_task(mcp_github.bad())\ntry:\n    await t\nexcept Exception:\n    pass',
  ],
  ['asyncio.wait', 'import asyncio\nawait asyncio.wait([asyncio.create_task(mcp_github.bad())])'],
  ['a name that is rebound', 'class F:\n    async def bad(self): pass\nmcp_github = F()\nawait mcp_github.bad()'],
  ['a parameter', 'async def f(mcp_github):\n    await mcp_github.bad()'],
  ['a loop over servers', 'for mcp_github in []:\n    await mcp_github.bad()'],
  ['a with that binds the name', 'import contextlib\nwith contextlib.nullcontext(1) as mcp_github:\n    pass'],
  ['globals()', 'globals()["mcp_nope"] = type("F", (), {"x": lambda self: 1})()\nmcp_nope.x()'],
  ['exec', 'exec("mcp_nope = print")\nmcp_nope("x")'],
  ['getattr', 'x = getattr(mcp_github, "bad", None)\nx and await x()'],
  ['import of something else', 'from asyncio import sleep as bad\nawait bad(0)'],
  ['two imports of one name', 'from mcp.servers.github import bad\nfrom asyncio import sleep as bad\nawait bad(0)'],
  ['a test of what there is', 'if "nope" in mcp_servers:\n    await mcp_servers["nope"].x()'],
  ['a test of names', 'if "mcp_nope" in dir():\n    await mcp_nope.x()'],
  ['a test of tools', 'if "none" in dir(mcp_github):\n    await mcp_github.none()'],
  ['a server in a branch', 'have = False\nif have:\n    await mcp_nope.x()'],
  ['a server in one arm', 'have = False\nx = await mcp_nope.x() if have else None'],
  ['an unknown server name', 's = "github"\nawait runtime.call_tool(s, "ok")'],
  ['a call of another module', 'import types\nm = types.SimpleNamespace(bad=lambda: 1)\nm.bad()'],
  ['a lambda for later', 'import asyncio\nf = lambda: mcp_github.ok()\nawait f()'],
  [
    'create_task and gather',
    'import asyncio\nawait asyncio.gather(asyncio.create_task(mcp_github.ok()), mcp_github.ok())',
  ],
  ['a coroutine that is closed', 'mcp_github.ok().close()'],
  ['a coroutine for later', 'c = mcp_github.ok()\nawait c'],
])('a dynamic call is not refused before the cell runs: %s', async ([, code], { kernel }) => {
  const { status, ran, error } = await outcome(kernel, code)
  expect({ status, ran, error: error?.traceback }).toEqual({ status: 'ok', ran: true, error: undefined })
})

it('a function of an earlier cell that binds a name does not make a call wrong', async ({ kernel }) => {
  await outcome(
    kernel,
    'def setup():\n    global mcp_github\n    class F:\n        def bad(self): return 7\n    mcp_github = F()',
  )
  expect((await outcome(kernel, 'setup()\nmcp_github.bad()')).value).toEqual({ 'text/plain': '7' })
})

it('a replaced call_tool is not checked', async ({ kernel }) => {
  await outcome(kernel, 'runtime.call_tool = lambda *a: 5')
  expect((await outcome(kernel, 'runtime.call_tool("gone", "x")')).status).toBe('ok')
})

it.for<[string, string]>([
  ['a statement', 'mcp_github.ok()'],
  ['the last value of a cell', 'x = 1\nmcp_github.ok(title="t")'],
  ['a statement in a function', 'def f():\n    mcp_github.ok()\n    return 1'],
  ['an attribute', 'x = mcp_github.ok().items'],
  ['a subscript', 'x = mcp_github.ok()["items"]'],
  ['a loop', 'for x in mcp_github.ok():\n    pass'],
  ['a comprehension', '[x for x in mcp_github.ok()]'],
  ['unpacking', 'a, b = mcp_github.ok()'],
  ['call_tool', 'runtime.call_tool("github", "ok")'],
  ['another function of runtime', 'for doc in runtime.search_tool_docs("x"):\n    print(doc)'],
])('a missing await is reported before the cell runs: %s', async ([, code]) => {
  const kernel = await unchanged()
  const { error, ran } = await outcome(kernel, code)
  expect({ name: error?.name, ran }).toEqual({ name: 'NotAwaited', ran: false })
  expect(error!.message).toMatch(/await/)
})

it('a missing await that is only found at run time is reported in a note that names the tool', async ({ kernel }) => {
  const { notes, stderr } = await kernel.run('print(mcp_github.forgotten())\nprint(mcp_github.forgotten())', judging())
  expect(notes).toEqual([
    'mcp_github.forgotten(…) was never awaited (2 times): nothing was called. Write `await mcp_github.forgotten(…)`.',
  ])
  expect(stderr).toBe('')
  expect((await kernel.run('1', judging())).notes).toBeUndefined()
  const { notes: ofRuntime } = await kernel.run('print(runtime.list_servers())', judging())
  expect(ofRuntime).toEqual([expect.stringMatching(/^runtime\.list_servers\(…\) was never awaited: nothing/)])
  const other = await kernel.run('async def mine(): pass\nstr(mine())', judging())
  expect(other.stderr).toContain("coroutine 'mine' was never awaited")
})

it('a call that a variable keeps without await has its note in its own cell, and the cell that corrects it has none', async ({
  kernel,
}) => {
  const notes = async (code: string) => (await kernel.run(code, judging())).notes
  expect(await notes('issue = mcp_github.ok()\nprint(type(issue).__name__)')).toEqual([
    '`issue` is a call that was not awaited: nothing was called. Write `await issue`.',
  ])
  expect(await notes('1')).toBeUndefined()
  expect(await notes('issue = await mcp_github.ok()\nprint(issue)')).toBeUndefined()
  expect(await notes('a = mcp_github.ok()\nb = same = runtime.list_servers()')).toEqual([
    '`a` and `b` are calls that were not awaited: nothing was called. Write `await a`.',
  ])
  expect(await notes('await a\nawait same\na = b = same = None')).toBeUndefined()
  // The value of a cell is kept as `_`.
  expect(await notes('[mcp_github.ok()][0]')).toEqual([
    expect.stringMatching(/^mcp_github\.ok\(…\) was never awaited:/),
  ])
  expect(await notes('1')).toBeUndefined()
})

it('a call that is awaited later in its cell has no note', async ({ kernel }) => {
  const code = `import asyncio
a = mcp_github.ok()
b = mcp_github.ok()
many = [mcp_github.ok() for _ in range(3)]
task = asyncio.create_task(mcp_github.ok())
unused = mcp_github.ok()
unused.close()
mine = asyncio.sleep(0)
await asyncio.gather(a, b, *many, task, mine)
print("done")`
  expect(await kernel.run(code, judging())).not.toHaveProperty('notes')
})

it("a cell's own coroutine that is not awaited has its note in its own cell", async ({ kernel }) => {
  const told = async (code: string) => {
    const { notes, stderr } = await kernel.run(code, judging())
    return { notes, stderr }
  }
  const quiet = { notes: undefined, stderr: '' }
  const define = 'async def job(): return 1\n'
  expect(await told(`${define}job()`)).toEqual({
    notes: ['job(…) was not awaited: it did not run. Write `await job(…)`.'],
    stderr: '',
  })
  expect(await told('j = job()')).toEqual({
    notes: ['`j` is a coroutine that was not awaited: it did not run. Write `await j`.'],
    stderr: '',
  })
  expect(await told('a, b = job(), job()\nc = mcp_github.ok()')).toEqual({
    notes: [
      '`c` is a call that was not awaited: nothing was called. Write `await c`.',
      '`a` and `b` are coroutines that were not awaited: they did not run. Write `await a`.',
    ],
    stderr: '',
  })
  expect(await told('def make():\n    async def inner(): pass\n    return inner()\nmake()')).toEqual({
    notes: ['inner(…) was not awaited: it did not run. Write `await inner(…)`.'],
    stderr: '',
  })
  expect(await told('await j\na = b = c = j = None\n1')).toEqual(quiet)
  expect(await told('2')).toEqual(quiet)
})

it("a cell's own coroutine that is kept on purpose has no note, and the warning about it has the place that created it", async ({
  kernel,
}) => {
  const code = `import asyncio
async def job(): return 1
many = [job() for _ in range(2)]
task = asyncio.create_task(job())
late = asyncio.create_task(job())
both = asyncio.gather(job(), job())
one = job()
unused = job()
unused.close()
waited = asyncio.wait_for(job(), 1)
await asyncio.gather(task, one, waited)
print("done")`
  const first = await kernel.run(code, judging())
  expect((first.notes ?? []).join()).not.toMatch(/was not awaited|were not awaited|never awaited/)
  expect(first.stderr).toBe('')
  expect((await kernel.run('sum(await asyncio.gather(*many))', judging())).stderr).toBe('')
  await kernel.run('1\nlost = [job()]', judging())
  const { stderr } = await kernel.run('lost = None', judging())
  expect(stderr).toMatch(/^Cell 3:2: RuntimeWarning: coroutine 'job' was never awaited\n +lost = \[job\(\)\]/)
})

it('the bridge gets the arguments of a call to check, with the values of literals', async ({ kernel }) => {
  const seen: Seen[] = []
  const code = `
n = 3
await mcp_github.ok("a", n, [1, {"k": (None, -2.5)}], flag=True, other=f"x{n}", many={"a": n}, b=b"x")
await mcp_servers["my-files"].ok(*[1], **{"k": 2})
await runtime.call_tool("github", "create-issue", {"title": "t", "n": n})
await runtime.call_tool("github", "ok", dict(a=1))
await mcp_github._resources()`
  await kernel.run(code, judging(seen))
  expect(seen.map(({ made, ...call }) => (made ? call : 'not made'))).toEqual([
    {
      server: 'github',
      tool: 'ok',
      args: [{ value: 'a' }, {}, { value: [1, { k: [null, -2.5] }] }],
      kwargs: { flag: { value: true }, other: {}, many: {}, b: {} },
    },
    { server: 'my-files', tool: 'ok', partial: true, args: [], kwargs: {} },
    { server: 'github', tool: 'create-issue', args: [], kwargs: { title: { value: 't' }, n: {} }, exact: true },
    { server: 'github', tool: 'ok', partial: true },
    { server: 'github', tool: '_resources', args: [], kwargs: {} },
  ])
  await kernel.run('if flag:\n    await mcp_github.ok("b")', judging(seen))
  expect(seen.at(-1)).toMatchObject({ args: [{ value: 'b' }], made: false })
})

it('the bridge is not asked when there are no calls to check, and its silence or failure stops no cell', async ({
  kernel,
}) => {
  const seen: Seen[] = []
  await kernel.run('runtime.discovered_servers()\nx = [mcp_github]\nimport mcp', judging(seen))
  expect(seen).toEqual([])
  const failing = (value: object): RunOptions => ({ ...judging(), onCheck: () => value as never })
  for (const reply of [{ error: { code: 'PROXY_METHOD_UNKNOWN', message: 'no' } }, { value: null }, { value: {} }]) {
    expect((await kernel.run('await mcp_github.bad()', failing(reply))).status).toBe('ok')
  }
})

it('the check of a cell survives source that is deep, long or strange', async ({ kernel }) => {
  const deep = `x = ${'['.repeat(80)}mcp_github${']'.repeat(80)}`
  expect((await outcome(kernel, deep)).status).toBe('ok')
  expect((await outcome(kernel, `await mcp_github.ok(${'1 + '.repeat(900)}1)`)).status).toBe('ok')
  expect((await outcome(kernel, `await mcp_github.ok(rows=[${'"x", '.repeat(20_000)}])`)).status).toBe('ok')
  const many = 'if False:\n    await mcp_github.ok(a=1)\n'.repeat(700)
  expect((await outcome(kernel, many)).status).toBe('ok')
})
