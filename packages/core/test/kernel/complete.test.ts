// This file verifies runtime.complete, and what Python's own tools show of a server and its tools.
import { expect } from 'vitest'
import { GITHUB, type RunOptions, it } from './drive.ts'

const DOCS = [
  {
    server: 'github',
    serverAlias: 'github',
    tool: 'create-issue',
    toolAlias: 'create_issue',
    description: 'Create an issue.',
    line: 'await mcp_github.create_issue(*, title: str, **more) -> dict  # Create an issue',
    params: [
      { name: 'title', type: 'str', required: true, description: 'What it is about' },
      { name: 'labels', type: 'list[str]', required: false },
      { name: 'state', type: 'str', required: false, default: "'open'" },
    ],
    open: true,
    returns: '{number: int}',
  },
  { server: 'github', serverAlias: 'github', tool: 'list', toolAlias: 'list', description: '', line: 'l', params: [] },
]
const options: RunOptions = {
  servers: [...GITHUB, { name: 'my-files', alias: 'my_files' }],
  onCall: () => ({ value: DOCS }),
}

const SETUP = `
from mcp.runtime import complete
import math
class Hostile:
    def __init__(self): self.own = 1
    @property
    def trap(self): raise SystemExit("a property ran")
    def __getattr__(self, name): raise SystemExit("__getattr__ ran")
    def __dir__(self): raise SystemExit("__dir__ ran")
    def method(self, first, *, second=2): pass
class Hidden:
    @property
    def __dict__(self): raise SystemExit("__dict__ ran")
    @property
    def __class__(self): raise SystemExit("__class__ ran")
hostile, hidden = Hostile(), Hidden()
my_value = type("Row", (dict,), {})(a=1)
class Getting(dict):
    def get(self, *_): raise SystemExit("get ran")
getting = Getting(a=1)
nested = {"row": math}
record = (await runtime.list_tools("github"))[0]
async def mine(alpha, beta): pass
`

it('completion offers names, attributes, servers, tools and arguments', async ({ kernel }) => {
  await kernel.run(SETUP, options)
  const cases: [code: string, expected: string[]][] = [
    ['mcp_g', ['mcp_github']],
    ['x = my_v', ['my_value']],
    ['impo', ['import']],
    ['isinst', ['isinstance']],
    ['mcp_github.', ['create_issue', 'get_prompt', 'list', 'list_tools', 'prompts', 'read_resource', 'resources']],
    ['await mcp_github.cr', ['create_issue']],
    ['mcp_github.create_issue.', ['raw']],
    ['mcp_servers["my', ['my-files']],
    ['mcp_servers["github"].cr', ['create_issue']],
    ['from mcp.servers import my', ['my_files']],
    ['import mcp.servers.gi', ['github']],
    ['from mcp.servers.github import list, cre', ['create_issue']],
    ['mcp.servers.my', ['my_files']],
    ['runtime.call_tool_', ['call_tool_sync']],
    ['math.sq', ['sqrt']],
    ['nested["row"].sq', ['sqrt']],
    ['nested.row.sq', []],
    ['my_value["a"].bit_l', ['bit_length']],
    ['getting["a"].bit_l', ['bit_length']],
    [`blob = '${'a'.repeat(20_000)}'\nimpo`, ['import']],
    ['record.toolA', ['toolAlias']],
    ['record.tool.upp', ['upper']],
    ['await mcp_github.create_issue(ti', ['title=']],
    ['mcp_github.create_issue(title="a (", sta', ['state=', 'staticmethod']],
    ['mcp_github.create_issue(title=len("x"), ti', []],
    ['mine(be', ['beta=']],
    ['hostile.', ['method', 'own', 'trap']],
    ['hostile.trap.', []],
    ['hostile.gone.', []],
    ['hostile.method(s', ['second=']],
    ['hidden.', []],
    ['"mcp_g', []],
    ['# mcp_g', []],
    ['f("a").', []],
    ['mcp_nope.', []],
  ]
  for (const [code, expected] of cases) {
    const given = JSON.stringify(code)
    const shown = await kernel.value(`complete(${given})`, options)
    const found = JSON.parse(String(shown).replaceAll("'", '"')) as string[]
    const wanted = code.endsWith('ti') || code.endsWith('(s') ? found.filter((word) => word.endsWith('=')) : found
    expect([code, wanted]).toEqual([code, expected])
  }
})

it('completion accepts a position, and reports what is wrong with anything else', async ({ kernel }) => {
  await kernel.run(SETUP, options)
  expect(await kernel.value('complete("mcp_github.cre + 1", 14)', options)).toBe("['create_issue']")
  expect(await kernel.value('complete("mcp_g", 0) == complete(""), len(complete("")) > 100', options)).toBe(
    '(True, True)',
  )
  expect(await kernel.value('complete("mcp_g", -5) == complete(""), complete("mcp_gi", 99)', options)).toBe(
    "(True, ['mcp_github'])",
  )
  expect((await kernel.run('complete(3)', options)).error!.message).toContain('code is a str, not int')
  expect((await kernel.run('complete("x", "y")', options)).error!.message).toContain('pos is an int, not str')
})

it('control: looking at such objects in the ordinary way runs their code', async ({ kernel }) => {
  await kernel.run(SETUP, options)
  for (const look of ['getting.get("a")', 'dir(hostile)', 'hostile.trap', 'hostile.gone', 'hidden.__class__']) {
    expect((await kernel.run(look, options)).error).toMatchObject({ name: 'SystemExit' })
  }
})

it('completion offers what is known of a server whose tools cannot be listed', async ({ kernel }) => {
  const failing: RunOptions = {
    ...options,
    onCall: () => ({ error: { code: 'UPSTREAM_UNREACHABLE', message: 'It did not start' } }),
  }
  expect(await kernel.value('runtime.complete("mcp_github.re")', failing)).toBe("['read_resource', 'resources']")
  expect(await kernel.value('runtime.complete("mcp_github.create_issue(tit")', failing)).toBe('[]')
})

it('help() and inspect.signature() show parameters, their descriptions, and the result type', async ({ kernel }) => {
  const { stdout } = await kernel.run('help(mcp_github.create_issue)', options)
  expect(stdout).toContain('Create an issue.')
  expect(stdout).toContain('title: str  # What it is about')
  const signature = 'import inspect\ns = inspect.signature(mcp_github.create_issue)\n'
  expect(await kernel.value(`${signature}str(s)`, options)).toBe(
    `"(title: str, labels: list[str] = None, state: str = 'open', **more) -> {number: int}"`,
  )
  expect(await kernel.value(`${signature}s.bind("t", extra=1).arguments, s.parameters["state"].default`, options)).toBe(
    `({'title': 't', 'more': {'extra': 1}}, 'open')`,
  )
})
