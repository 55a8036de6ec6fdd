// This file verifies the names in a cell: `mcp`, `mcp.runtime`, proxies of servers, and docs that are fetched only on
// demand.
import { expect } from 'vitest'
import { GITHUB, text, type Call, type RunOptions, it } from './drive.ts'

const DOCS = [
  {
    server: 'github',
    serverAlias: 'github',
    tool: 'create-issue',
    toolAlias: 'create_issue',
    description: 'Create an issue in a repository.',
    line: 'await mcp_github.create_issue(*, title: str, labels: list[str] = None)  # Create an issue',
    params: [
      { name: 'title', type: 'str', required: true },
      { name: 'labels', type: 'list[str]', required: false },
      { name: 'state', type: 'str', required: false, default: "'open'" },
    ],
  },
  {
    server: 'github',
    serverAlias: 'github',
    tool: 'list',
    toolAlias: 'list',
    description: '',
    line: 'await mcp_github.list()',
    params: [],
  },
]

function bridge(calls: Call[] = []): RunOptions {
  const values: Record<string, unknown> = {
    query_tool_docs: DOCS,
    list_tools: DOCS,
    search_tool_docs: DOCS,
    list_servers: ['github'],
    discovered_servers: [{ name: 'github', alias: 'github', description: 'd', state: 'running' }],
    describe_server: { name: 'github', tools: [] },
    capability_summary: 'all there is',
    call_tool: { content: [{ type: 'text', text: 'called' }] },
  }
  return {
    servers: GITHUB,
    onCall: (call) => {
      calls.push(call)
      return { value: values[call.method] }
    },
  }
}

it('mcp.runtime offers every function, awaited and blocking', async ({ kernel }) => {
  const calls: Call[] = []
  const options = bridge(calls)
  const value = (code: string) => kernel.value(code, options)
  expect(await value('import mcp, mcp.runtime\nfrom mcp import runtime as r\nr is runtime is mcp.runtime')).toBe('True')
  expect(await value('runtime.discovered_servers()')).toBe("['github']")
  expect(calls).toEqual([])
  expect(await value('runtime.discovered_servers(detailed=True)[0].state')).toBe("'running'")
  expect(await value('runtime.list_loaded_server_metadata()[0]["description"]')).toBe("'d'")
  expect(await value('(await runtime.list_servers()) == runtime.list_servers_sync() == ["github"]')).toBe('True')
  expect(await value('runtime.describe_server("github").name')).toBe("'github'")
  expect(await value('runtime.capability_summary()')).toBe("'all there is'")
  for (const call of [
    'list_tools{}("github")',
    'query_tool_docs{}("github", "list", detail="full")',
    'search_tool_docs{}("issue", limit=2, servers="github")',
  ]) {
    calls.length = 0
    expect(await value(`(await runtime.${call.replace('{}', '')}) == runtime.${call.replace('{}', '_sync')}`)).toBe(
      'True',
    )
    expect(calls[0]!.params).toEqual(calls[1]!.params)
  }
  expect(calls[0]!.params).toEqual({ query: 'issue', limit: 2, detail: 'summary', servers: ['github'] })
  expect(
    await value('(await runtime.call_tool("github", "x", {})) == runtime.call_tool_sync("github", "x") == "called"'),
  ).toBe('True')
  expect(await value('LOADED_MCP_SERVERS')).toBe("('github',)")
  expect((await kernel.run('runtime.progress(3, 12, "fetching")', options)).frames[0]).toMatchObject({
    type: 'progress',
    done: 3,
    total: 12,
    message: 'fetching',
  })
  expect((await kernel.run('await runtime.call_tool("github", "x", [1])', options)).error).toMatchObject({
    name: 'ArgumentsError',
  })
  expect(await value('all(hasattr(runtime, name) for name in runtime.__all__), runtime.call_tool.__module__')).toBe(
    "(True, 'mcp.runtime')",
  )
})

it('mcp.runtime sends progress that the bridge can read, and refuses any other', async ({ kernel }) => {
  const sent = async (args: string) => {
    const { done, total, message } = (await kernel.run(`runtime.progress(${args})`)).frames[0]!
    return [done, total, message]
  }
  expect(await sent('3')).toEqual([3, undefined, undefined])
  expect(await sent('0.5, 1.0, "half"')).toEqual([0.5, 1, 'half'])
  expect(await sent('__import__("decimal").Decimal("2.5"), __import__("fractions").Fraction(5, 1)')).toEqual([
    2.5,
    5,
    undefined,
  ])
  expect(await sent('10**20')).toEqual([1e20, undefined, undefined])
  for (const [args, message] of [
    ['"a"', 'done is a finite number, not str'],
    ['float("nan")', 'done is a finite number, not nan'],
    ['1, float("-inf")', 'total is a finite number, not -inf'],
    ['10**400', 'done is a finite number, not int'],
    ['True', 'done is a finite number, not True'],
    ['None', 'done is a finite number, not NoneType'],
    ['1, [2]', 'total is a finite number, not list'],
    ['1, 2, 3', 'message is a str, not int'],
  ]) {
    const outcome = await kernel.run(`runtime.progress(${args})`)
    expect(outcome.error).toMatchObject({ name: 'ArgumentsError', message: expect.stringContaining(message!) })
    expect(outcome.frames.map(({ type }) => type)).toEqual(['done'])
  }
})

it('mcp.runtime prints docs as lines', async ({ kernel }) => {
  const short = DOCS.map((doc) => ({ ...doc, params: undefined }))
  const options = { ...bridge(), onCall: () => ({ value: short }) }
  const { stdout, value } = await kernel.run(
    'docs = await runtime.search_tool_docs("x")\nprint(docs)\nprint(docs[0])\nprint(docs[1:])\ndocs',
    options,
  )
  const lines = DOCS.map((doc) => doc.line)
  expect(stdout).toBe(`${lines.join('\n')}\n${lines[0]}\n${lines[1]}\n`)
  expect(value).toEqual({ 'text/plain': lines.join('\n') })
  expect(await kernel.value('docs[0]["tool"], isinstance(docs, list)')).toBe("('create-issue', True)")
  expect(await kernel.value('docs[:0]')).toBe('(no tools)')
})

it('mcp.runtime prints full docs with every parameter and an example', async ({ kernel }) => {
  const options = { ...bridge(), onCall: () => ({ value: [{ ...DOCS[0], example: "await mcp_github.x(title='t')" }] }) }
  const code = 'print(await runtime.query_tool_docs("github", tools=["create_issue"], detail="full"))'
  expect((await kernel.run(code, options)).stdout).toBe(`${DOCS[0]!.line}

    Create an issue in a repository.

Parameters:
    title: str
    labels: list[str] = None
    state: str = 'open'

Example: await mcp_github.x(title='t')

The whole schema: .inputSchema of this doc
`)
})

it('mcp.runtime requests several tools, and searches by several wordings, at once', async ({ kernel }) => {
  const calls: Call[] = []
  const options: RunOptions = {
    ...bridge(),
    onCall: (call) => {
      calls.push(call)
      return { value: (call.params as { separate?: boolean }).separate ? [[DOCS[1]], []] : DOCS }
    },
  }
  await kernel.run('await runtime.query_tool_docs("github", ["a", "b"])', options)
  expect(calls[0]!.params).toEqual({ server: 'github', tools: ['a', 'b'], detail: 'summary' })
  const code =
    'found = runtime.search_tool_docs_sync("list it", "nothing", separate=True)\nprint(found)\nfound["list it"][0].tool'
  const { stdout, value } = await kernel.run(code, options)
  expect(calls[1]!.params).toMatchObject({ query: ['list it', 'nothing'], separate: true })
  expect(stdout).toBe('list it:\nawait mcp_github.list()\n\nnothing:\n(no tools)\n')
  expect(value).toEqual({ 'text/plain': "'list'" })
  const together = { query: ['list it', 'show it'], limit: 5, detail: 'summary' }
  for (const wordings of ['"list it", "show it"', '["list it", "show it"]', '"list it", query="show it"']) {
    const { stdout: lines } = await kernel.run(
      `for doc in await runtime.search_tool_docs(${wordings}): print(doc.line)`,
      options,
    )
    expect(lines).toBe(`${DOCS.map((doc) => doc.line).join('\n')}\n`)
    expect(calls.pop()!.params).toEqual(together)
  }
  await kernel.run('await runtime.search_tool_docs(query="list it", limit=2, detail="full")', options)
  expect(calls.pop()!.params).toEqual({ query: 'list it', limit: 2, detail: 'full' })
  calls.length = 0
  for (const wrong of ['', '[]', '"list it", 10', '{"query": "x"}'])
    expect((await kernel.run(`await runtime.search_tool_docs(${wrong})`, options)).error).toMatchObject({
      name: 'ArgumentsError',
      message: expect.stringContaining("search_tool_docs('create issue', 'open ticket', limit=5)"),
    })
  expect(calls).toEqual([])
})

it('a proxy is reached in three ways without a round trip', async ({ kernel }) => {
  const calls: Call[] = []
  const code = `
import mcp.servers
from mcp.servers import github
from mcp.servers.github import create_issue
tool = mcp_github.whatever
mcp_github is mcp_servers['github'] is mcp.servers.github is github, callable(tool), list(mcp_servers), len(mcp_servers), 'github' in mcp_servers`
  expect(await kernel.value(code, bridge(calls))).toBe("(True, True, ['github'], 1, True)")
  expect(calls).toEqual([])
})

it('a proxy can be copied, with what it is in', async ({ kernel }) => {
  const code = `
import copy
kept = {"server": mcp_github, "tool": mcp_github.list}
one, other = copy.copy(kept), copy.deepcopy(kept)
repr(other["server"]) == repr(mcp_github), callable(other["server"].list), callable(other["tool"]), copy.copy(mcp_github).__name__`
  expect(await kernel.value(code, bridge([]))).toBe("(True, True, True, 'mcp.servers.github')")
})

it('a proxy fetches its docs when they are asked for, once a cell', async ({ kernel }) => {
  const calls: Call[] = []
  const options = bridge(calls)
  const value = (code: string) => kernel.value(code, options)
  expect(await value('dir(mcp_github)')).toBe("['create_issue', 'list']")
  expect(await value('import inspect\nstr(inspect.signature(mcp_github.create_issue))')).toBe(
    `"(title: str, labels: list[str] = None, state: str = 'open')"`,
  )
  expect(await value('mcp_github.create_issue')).toBe(DOCS[0]!.line)
  expect(await value('mcp_github.create_issue.__doc__')).toContain('Create an issue in a repository.')
  expect(await value('mcp_github')).toBe(
    `mcp_github: server 'github', Issues and pull requests\n${DOCS.map((doc) => doc.line).join('\n')}`,
  )
  expect((await kernel.run('help(mcp_github.create_issue)', options)).stdout).toContain(
    'Create an issue in a repository.',
  )
  expect((await kernel.run('help(mcp_github)', options)).stdout).toContain(DOCS[1]!.line)
  expect(await value('from mcp.servers.github import *\nawait create_issue()')).toBe("'called'")
  calls.length = 0
  expect(await value('dir(mcp_github), dir(mcp_github)\nawait mcp_github.create_issue()')).toBe("'called'")
  expect(calls.map((call) => call.method)).toEqual(['query_tool_docs', 'call_tool'])
  expect(calls[0]!.params).toEqual({ server: 'github', detail: 'full' })
})

it('a proxy of an unavailable server says so, and does not fail when it is made', async ({ kernel }) => {
  const options: RunOptions = {
    servers: GITHUB,
    onCall: () => ({ error: { code: 'UPSTREAM_UNREACHABLE', message: 'It did not start' } }),
  }
  expect(await kernel.value('mcp_github', options)).toContain('It did not start')
  expect(await kernel.value('mcp_github.create_issue', options)).toContain('It did not start')
  expect(await kernel.value('dir(mcp_github)', options)).toBe('[]')
})

it('the error for an unknown server names those that exist', async ({ kernel }) => {
  const code = (statement: string, kind: string) =>
    `import mcp.servers\ntry:\n    ${statement}\nexcept ${kind} as e: r = isinstance(e, runtime.MCPError), str(e)\nr`
  const expected = `(True, "Server 'nope' is not available. Available: github")`
  expect(await kernel.value(code('mcp_servers["nope"]', 'KeyError'), bridge())).toBe(expected)
  expect(await kernel.value(code('mcp.servers.nope', 'AttributeError'), bridge())).toBe(expected)
  expect(await kernel.value(code('import mcp.servers.nope', 'ModuleNotFoundError'), bridge())).toBe(expected)
  expect(await kernel.value(code('from mcp.servers.nope import x', 'ImportError'), bridge())).toBe(expected)
  expect(await kernel.value('mcp_servers.get("nope"), hasattr(mcp.servers, "nope")', bridge())).toBe('(None, False)')
  const named = { servers: [...GITHUB, { name: 'GitHub', alias: 'github_2' }] }
  expect(await kernel.value(code('from mcp.servers.GitHub import x', 'ImportError'), named)).toBe(
    `(True, "Server 'GitHub' has another name in code. Use mcp_github_2, or mcp.servers.github_2")`,
  )
})

it('a server itself does where a function takes its name, and calls none of its tools', async ({ kernel }) => {
  const calls: Call[] = []
  const options = bridge(calls)
  await kernel.value('await runtime.call_tool(mcp_github, "list"), runtime.call_tool_sync(mcp_github, "list")', options)
  await kernel.value('await runtime.list_tools(mcp_github), runtime.list_tools_sync(mcp_github)', options)
  await kernel.value('await runtime.query_tool_docs(mcp_github), runtime.query_tool_docs_sync(mcp_github)', options)
  await kernel.value('runtime.describe_server(mcp_github)', options)
  expect(calls.map(({ params }) => params['server'])).toEqual(Array.from({ length: 7 }, () => 'github'))
  await kernel.value('await runtime.search_tool_docs("a", servers=mcp_github)', options)
  await kernel.value('runtime.search_tool_docs_sync("a", servers=[mcp_github, "other"])', options)
  expect(calls.slice(7).map(({ params }) => params['servers'])).toEqual([['github'], ['github', 'other']])
  const { error } = await kernel.run('await mcp_github.list(server=mcp_github)', options)
  expect(error?.message).toMatch(/ServerProxy has no form in JSON/)
})

const FILES = [{ name: 'my-files', alias: 'my_files' }]

it('the list of servers can change from cell to cell, and the names change with it', async ({ kernel }) => {
  expect(await kernel.value('mcp_github is not None', { servers: GITHUB })).toBe('True')
  await kernel.run('kept = mcp_github', { servers: [...GITHUB, ...FILES] })
  expect(await kernel.value('mcp_servers["my-files"] is mcp_servers["my_files"] is mcp_my_files', {})).toBe('True')
  expect((await kernel.run('mcp_github', { servers: FILES })).error).toMatchObject({ name: 'NameError' })
  expect((await kernel.run('from mcp.servers.github import x')).error).toMatchObject({ name: 'ServerNotFound' })
  expect(await kernel.value('LOADED_MCP_SERVERS, runtime.discovered_servers()')).toBe("(('my-files',), ['my-files'])")
  // A proxy that a cell kept still sends its calls; the bridge decides whether to serve them.
  expect(await kernel.value('await kept.x()', { onCall: () => text('ok') })).toBe("'ok'")
  expect(await kernel.value('runtime.discovered_servers(), LOADED_MCP_SERVERS', { servers: [] })).toBe('([], ())')
})

it('the list of servers leaves the names of a cell alone while it is the same', async ({ kernel }) => {
  await kernel.run('mcp_github = "mine"; runtime = "mine too"', { servers: GITHUB })
  expect(await kernel.value('mcp_github, runtime', { servers: GITHUB })).toBe("('mine', 'mine too')")
  expect(await kernel.value('mcp_github, runtime')).toBe("('mine', 'mine too')")
  expect(await kernel.value('mcp_github == "mine", runtime', { servers: [...GITHUB, ...FILES] })).toBe(
    "(False, 'mine too')",
  )
})

it('an empty list of servers leaves everything else in place', async ({ kernel }) => {
  expect(await kernel.value('runtime.discovered_servers(), list(mcp_servers)')).toBe('([], [])')
})

it('the tools of a server are listed with a line each, in pages, and each page says how to see the others', async ({
  kernel,
}) => {
  const doc = (at: number) => ({
    server: 'git-hub',
    serverAlias: 'github',
    tool: `t${at}`,
    toolAlias: `t${at}`,
    description: 'Does it. Well.',
    line: `await mcp_github.t${at}(*, a: str = None) -> str  # Does it`,
  })
  const shown = async (count: number, code: string) => {
    const value = Array.from({ length: count }, (_, at) => doc(at))
    const { stdout } = await kernel.run(`print(${code})`, { servers: GITHUB, onCall: () => ({ value }) })
    return stdout.trimEnd().split('\n')
  }
  expect(await shown(46, 'await runtime.list_tools("github")')).toEqual(
    Array.from({ length: 46 }, (_, at) => doc(at).line),
  )
  const many = await shown(300, 'await runtime.query_tool_docs("github")')
  expect(many.slice(0, -1)).toEqual(Array.from({ length: many.length - 1 }, (_, at) => doc(at).line))
  expect(many.join('\n').length).toBeLessThan(6_500)
  const more = `print((await runtime.query_tool_docs('git-hub'))[-${301 - many.length}:])`
  expect(many.at(-1)).toContain(`${many.length - 1} of 300 tools. The others: ${more}. To find one:`)
  expect((await shown(300, more.slice(6, -1)))[0]).toBe(doc(many.length - 1).line)
  expect(await shown(300, 'mcp_github')).toEqual([expect.stringContaining('mcp_github: server'), ...many])
})

it('the packages begin with those that models expect and that are not there, and how the user adds them', async ({
  kernel,
}) => {
  const names = ['numpy', 'pandas', 'matplotlib']
  const found = `import importlib.util\n[n for n in ${JSON.stringify(names)} if not importlib.util.find_spec(n)]`
  const there = await kernel.value(found)
  const missing = names.filter((name) => String(there).includes(name))
  const { stdout } = await kernel.run('print(runtime.packages())')
  expect(stdout.split('\n')[0]).toMatch(
    missing.length === 0
      ? /^Python /
      : new RegExp(`^Not here: ${missing.join(', ')}.*sandbridge packages add ${missing.join(' ')}`),
  )
})

it('what a session knows of the tools of a server is asked for again in the next cell', async ({ kernel }) => {
  const doc = (name: string) => ({ server: 'git-hub', tool: name, toolAlias: name, line: name })
  const names = async (tool: string) =>
    (await kernel.run('print(dir(mcp_github))', { servers: GITHUB, onCall: () => ({ value: [doc(tool)] }) })).stdout
  expect(await names('before')).toContain('before')
  expect(await names('after')).toContain('after')
})

it('help() shows the types and the meaning of all parameters of search_tool_docs', async ({ kernel }) => {
  const { stdout } = await kernel.run('help(runtime.search_tool_docs)')
  // Some versions of Python break a long signature into lines.
  const shown = stdout.replaceAll(/\s+/g, ' ').replace('( ', '(').replace(' )', ')')
  expect(shown).toContain(
    "search_tool_docs(*wordings: str | list[str], limit: int = 5, detail: Literal['summary', 'full'] = 'summary', " +
      'servers: str | list[str] | None = None, separate: bool = False, query: str | list[str] | None = None)',
  )
  expect(shown).toContain('-> mcp.runtime.ToolDocs | mcp.runtime.GroupedDocs')
  for (const word of ['"create issue", "open ticket"', 'limit:', 'servers:', 'separate:', 'detail:', '"full" adds'])
    expect(shown).toContain(word)
})

it('help() shows a type for every parameter and result in mcp.runtime, and a docstring', async ({ kernel }) => {
  const code = `
import inspect
incomplete = []
for name in runtime.__all__:
    function = getattr(runtime, name)
    if isinstance(function, type):
        continue
    signature = inspect.signature(function)
    annotations = [signature.return_annotation, *(one.annotation for one in signature.parameters.values())]
    if not function.__doc__ or any(one is inspect.Signature.empty or isinstance(one, str) for one in annotations):
        incomplete.append(name)
len(runtime.__all__) > 30, incomplete`
  expect(await kernel.value(code)).toBe('(True, [])')
})

it('classes of docs are named as mcp.runtime has them, so that they can be pickled', async ({ kernel }) => {
  const code = `
import pickle
classes = [runtime.ToolDoc, runtime.ToolDocs, runtime.ServerDoc, runtime.ServerDocs, runtime.GroupedDocs]
[type(pickle.loads(pickle.dumps(one()))) is one for one in classes], {one.__module__ for one in classes}`
  expect(await kernel.value(code)).toBe("([True, True, True, True, True], {'mcp.runtime'})")
})

it('update_memory calls its function again with the value that another cell saved meanwhile', async ({ kernel }) => {
  const saved: unknown[] = []
  const options: RunOptions = {
    servers: GITHUB,
    onCall: ({ method, params }) => {
      if (method === 'load_memory') return { value: { value: `${saved.length + 1}`, revision: `r${saved.length}` } }
      saved.push(params)
      return { value: saved.length === 1 ? null : { key: 'n', sizeBytes: 1 } }
    },
  }
  expect(await kernel.value('runtime.update_memory("n", lambda n: n * 10, 0)', options)).toBe('20')
  expect(saved).toMatchObject([
    { value: '10', revision: 'r0' },
    { value: '20', revision: 'r1' },
  ])
})

it('a missing name of any proxy is an AttributeError to hasattr, getattr, copy, pickle and inspect', async ({
  kernel,
}) => {
  const docs = [{ server: 'github', tool: 'create-issue', toolAlias: 'create_issue', line: '', params: [] }]
  const missing = { error: { code: 'STATE_NOT_FOUND', message: 'There is no nope' } }
  const unknown = { error: { code: 'PROXY_TOOL_UNKNOWN', message: "Server 'github' has no such tool" } }
  const onCall = ({ method, params }: Call) =>
    method !== 'query_tool_docs' ? missing : params['tools'] === undefined ? { value: docs } : unknown
  const code = `
import copy, inspect, mcp, mcp.servers, pickle, user_tools
proxies = [user_tools, workflows, mcp_github, mcp_github.create_issue, mcp.servers, mcp_servers, mcp, runtime]
found = [[hasattr(one, "nope"), getattr(one, "nope", 7)] for one in proxies]
kept = hasattr(mcp_github, "create_issue"), getattr(mcp_github, "create-issue", None) is not None
for one in (mcp_github, mcp_github.create_issue):
    copy.copy(one), copy.deepcopy([one]), pickle.loads(pickle.dumps(one)), inspect.unwrap(one)
def why(ask):
    try: ask()
    except AttributeError as error: return str(error)
why(lambda: user_tools.nope), why(lambda: getattr(mcp_github, "create_isue"))`
  const prepared = await kernel.run(code.replace(/why\(lambda: user.*/, 'found, kept'), { servers: GITHUB, onCall })
  expect(prepared.error).toBeUndefined()
  expect(prepared.value?.['text/plain']).toBe(`([${Array(8).fill('[False, 7]').join(', ')}], (True, True))`)
  expect(
    await kernel.value('why(lambda: user_tools.nope), why(lambda: getattr(mcp_github, "create_isue"))', { onCall }),
  ).toBe(`('There is no nope', "github has no tool 'create_isue'. Did you mean create_issue?")`)
  const imported = await kernel.run('from user_tools import nope', { onCall })
  expect(imported.error).toMatchObject({ name: 'SavedToolError', message: 'There is no nope' })
})
