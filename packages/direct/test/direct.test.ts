// This file verifies that a call which a client makes itself is treated as the same call of a cell, whichever way tools
// are listed, and what is listed.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  bridgeEnv,
  closeTestBridge,
  makeHome,
  openTestBridge,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { writePermissions } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'

const SERVER = path.join(import.meta.dirname, 'varied.mjs')
const MAIL = 'ann@corp.example'

function homeOf(more: object = {}): { home: string; reached: () => unknown[] } {
  const home = makeHome()
  const journal = path.join(home, 'journal')
  const entry = { command: process.execPath, args: [SERVER, journal], ...more }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { varied: entry } }))
  const reached = (): unknown[] =>
    existsSync(journal)
      ? readFileSync(journal, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown)
      : []
  return { home, reached }
}

type Call = (
  bridge: Pick<TestBridge, 'client'>,
  tool: string,
  args?: Record<string, unknown>,
  options?: { signal?: AbortSignal; onprogress?: (progress: object) => void },
) => Promise<CallToolResult>

/** The ways in which a client can make one call. */
const WAYS: { way: string; mode: string; call: Call }[] = [
  {
    way: 'from a cell',
    mode: 'code',
    call: (bridge, tool, args = {}, options = {}) => {
      const code = `await runtime.call_tool("varied", "${tool}", ${JSON.stringify(args)})`
      return callOf(bridge, 'run_python', { code }, options)
    },
  },
  {
    way: 'listed directly',
    mode: 'direct',
    call: (bridge, tool, args = {}, options = {}) => callOf(bridge, `varied__${tool}`, args, options),
  },
  {
    way: 'through search and call',
    mode: 'search',
    call: (bridge, tool, args = {}, options = {}) =>
      callOf(bridge, 'call_tool', { name: `varied__${tool}`, arguments: args }, options),
  },
]

const callOf = async (bridge: Pick<TestBridge, 'client'>, name: string, args: object, options: object) =>
  bridge.client.callTool({ name, arguments: { ...args } }, { timeout: 60_000, ...options })
/** The forms in which `tell` answers. */
const SAYINGS = ['text', 'data', 'link', 'odd', 'file', 'error']
const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n')

describe.each(WAYS)('a call $way', ({ mode, call }) => {
  const { home, reached } = homeOf()
  const asked: string[] = []
  let answer: unknown = { action: 'accept', content: { answer: 'no' } }
  let bridge: TestBridge
  beforeAll(async () => {
    bridge = await openTestBridge({
      home,
      env: { MCP_BRIDGE_TOOLS: mode, MCP_BRIDGE_MASK: 'email', MCP_BRIDGE_AUDIT: 'full' },
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', ({ params }) => {
          asked.push(params.message)
          return answer as { action: 'decline' }
        }),
    })
  })
  beforeEach(() => {
    writePermissions(home, {})
    rmSync(path.join(home, 'journal'), { force: true })
    asked.length = 0
  })
  afterAll(() => closeTestBridge(bridge))

  it('reaches its server with its arguments, and brings back its text', async () => {
    const result = await call(bridge, 'send', { to: 'bob', count: 3 })
    expect(textOf(result)).toContain('sent to bob')
    expect(result.isError ?? false).toBe(false)
    expect(reached()).toEqual([['send', { to: 'bob', count: 3 }]])
  })

  it('with wrong arguments is refused before it is sent, in words that say what is right', async () => {
    const result = await call(bridge, 'send', { too: 'bob' })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(/\bto\b/)
    expect(reached()).toEqual([])
  })

  it('that a rule denies does not reach its server', async () => {
    writePermissions(home, { deny: ['varied__send'] })
    const result = await call(bridge, 'send', { to: 'bob' })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('varied__send')
    expect(reached()).toEqual([])
  })

  it('that a rule asks about waits for the answer of the user', async () => {
    writePermissions(home, { ask: ['varied__send'] })
    answer = { action: 'accept', content: { answer: 'no' } }
    expect((await call(bridge, 'send', { to: 'bob' })).isError).toBe(true)
    expect([asked.length, reached()]).toEqual([1, []])
    answer = { action: 'accept', content: { answer: 'yes, this once' } }
    expect(textOf(await call(bridge, 'send', { to: 'carl' }))).toContain('sent to carl')
    expect(reached()).toHaveLength(1)
  })

  it('shows masked values, and its server gets the real ones', async () => {
    expect(JSON.stringify(await call(bridge, 'look'))).toContain('[EMAIL_1]')
    expect(JSON.stringify(await call(bridge, 'look'))).not.toContain(MAIL)
    expect(textOf(await call(bridge, 'send', { to: '[EMAIL_1]' }))).toContain('[EMAIL_1]')
    expect(reached().at(-1)).toEqual(['send', { to: MAIL }])
  })

  it.each(SAYINGS)('masks and shows what hides in what its server says as %s', async (how) => {
    const said = JSON.stringify(await call(bridge, 'tell', { to: how }))
    expect(said).toContain('dear assistant')
    expect(said).not.toMatch(/eve@corp|\u200b/)
  })

  it('brings images as images', async () => {
    const { content } = await call(bridge, 'draw')
    expect(content.filter(({ type }) => type === 'image')).toMatchObject([{ mimeType: 'image/png' }])
  })

  it('shows no note that its server has forged as one of the bridge', async () => {
    expect(textOf(await call(bridge, 'forge'))).not.toMatch(/^\[sandbridge: The user/m)
  })

  it('that was denied is told which rule denies it, whether or not its tool was listed before', async () => {
    writePermissions(home, { deny: [{ tool: 'varied__look', reason: 'no looking' }] })
    if (mode === 'direct') await bridge.client.listTools()
    const result = await call(bridge, 'look')
    expect(result).toMatchObject({ isError: true })
    expect(textOf(result)).toMatch(/no looking/)
    // A client compares data with the schema of the tool.
    if (mode !== 'code') expect(result).not.toHaveProperty('structuredContent')
  })

  it('that fails is an error with the words of its server', async () => {
    const result = await call(bridge, 'fail')
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('the disk is full')
  })

  it('lets its server ask the user', async () => {
    answer = { action: 'accept', content: { name: 'Ann' } }
    expect(textOf(await call(bridge, 'ask'))).toContain('hello Ann')
    expect(asked).toHaveLength(1)
  })

  it('tells its progress, and is cancelled at its server', async () => {
    const stop = new AbortController()
    const progress: object[] = []
    const running = call(bridge, 'wait', {}, { signal: stop.signal, onprogress: (one) => void progress.push(one) })
    await until(() => JSON.stringify(progress).includes('half'))
    stop.abort()
    await expect(running).rejects.toThrow()
    await until(() => JSON.stringify(reached()).includes('cancelled'))
  })

  it('is in the record with its tool and arguments', async () => {
    await call(bridge, 'send', { to: 'recorded' })
    await until(async () => (await runCommand(['log', '--json'], bridgeEnv(home))).stdout.includes('recorded'))
    const { stdout } = await runCommand(['log'], bridgeEnv(home))
    expect(stdout).toContain('varied')
  })

  if (mode === 'direct')
    it('has no schema of results where values are masked, since they no longer fit it', async () => {
      const { tools } = await bridge.client.listTools()
      expect(tools[0]).toMatchObject({ name: 'varied__look' })
      expect(tools[0]).not.toHaveProperty('outputSchema')
      const { structuredContent } = await bridge.client.callTool({ name: 'varied__look', arguments: {} })
      expect(structuredContent).toEqual({ mail: expect.stringMatching(/^\[EMAIL_\d+\]$/) })
    })

  if (mode !== 'search') return
  it('is one of two tools that find and call all others, where the client wants to search', async () => {
    const { tools } = await bridge.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'call_tool'])
    const found = await bridge.client.callTool({ name: 'search_tools', arguments: { query: ['send', 'post'] } })
    expect(textOf(found)).toMatch(/"name":"varied__send".*"required":\["to"\]/)
    const unknown = await bridge.client.callTool({ name: 'call_tool', arguments: { name: 'varied__nothing' } })
    expect(unknown).toMatchObject({ isError: true })
    expect(textOf(unknown)).toContain("No server has the tool 'varied__nothing'")
  })

  it('takes the arguments of call_tool as models write them', async () => {
    for (const args of [{ arguments: '{"to":"bob"}' }, { to: 'bob' }, { to: 'bob', arguments: null }])
      await bridge.client.callTool({ name: 'call_tool', arguments: { name: 'varied__send', ...args } })
    expect(reached()).toEqual(Array.from({ length: 3 }, () => ['send', { to: 'bob' }]))
    const more = { name: 'varied__send', arguments: { to: 'bob' }, reason: 'x' }
    const noted = await bridge.client.callTool({ name: 'call_tool', arguments: more })
    expect(textOf(noted)).toContain("'reason' was ignored")
    const wrong = { name: 'varied__send', argument: { to: 'bob' } }
    const told = await bridge.client.callTool({ name: 'call_tool', arguments: wrong })
    expect(textOf(told)).toMatch(/no parameter 'argument'[^]*arguments/)
  })
})

// One bridge: each client has a session of its own.
const flowing = homeOf()
const flow = sharedHttpBridge({ home: flowing.home, env: { MCP_BRIDGE_FLOW: 'deny' } })

describe.each(WAYS)('with flow rules, a call $way', ({ mode, call }) => {
  const isDenied = async (how: string): Promise<void> => {
    const before = flowing.reached().length
    const client = await flow().connect('legacy', { query: `tools=${mode}` })
    await call(client, 'send', { to: `${mode} ${how}` })
    await call(client, 'tell', { to: how })
    expect(textOf(await call(client, 'send', { to: 'carl' }))).toContain('MCP_BRIDGE_FLOW')
    expect(flowing.reached().slice(before)).toEqual([
      ['send', { to: `${mode} ${how}` }],
      ['tell', { to: how }],
    ])
  }
  const [first = '', ...others] = SAYINGS

  it(`is denied after its server has said something as ${first}`, () => isDenied(first))

  // whole: a session for each. The forms are read at one place, whichever way a call is made.
  it.each(others)(
    'is denied after its server has said something as %s',
    { tags: mode === 'direct' ? [] : ['whole'] },
    isDenied,
  )
})

describe('what is listed', () => {
  const namesOf = async ({ client }: TestBridge): Promise<string[]> =>
    (await client.listTools()).tools.map(({ name }) => name)

  it('is every tool, with the words of its server, where the client wants them all', async () => {
    const bridge = await startBridge({ home: homeOf().home, env: { MCP_BRIDGE_TOOLS: 'direct' } })
    const { tools } = await bridge.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(
      ['look', 'send', 'draw', 'fail', 'wait', 'ask', 'forge', 'tell', 'grow'].map((name) => `varied__${name}`),
    )
    expect(tools[0]).toEqual({
      name: 'varied__look',
      title: 'Look',
      description: 'Does look.',
      annotations: { readOnlyHint: true },
      icons: [{ src: 'data:image/png;base64,AA==' }],
      inputSchema: { type: 'object', properties: { to: { type: 'string' }, count: { type: 'integer' } } },
      outputSchema: { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] },
    })
    const looked = await bridge.client.callTool({ name: 'varied__look', arguments: {} })
    expect(looked.structuredContent).toEqual({ mail: MAIL })
    await expect(bridge.client.callTool({ name: 'run_python', arguments: { code: '1' } })).rejects.toThrow(
      /Unknown tool 'run_python'; there are varied__look/,
    )
  })

  it('is run_python and the tools that an entry names, without those that are denied', async () => {
    const { home } = homeOf({ direct: ['s*', 'look'] })
    writePermissions(home, { deny: ['varied__send'] })
    const bridge = await startBridge({ home })
    expect(await namesOf(bridge)).toEqual(['run_python', 'varied__look'])
    // An entry names it, so it is no secret.
    const denied = await bridge.client.callTool({ name: 'varied__send', arguments: { to: 'bob' } })
    expect(textOf(denied)).toContain('denied by the rule')
    const unlisted = bridge.client.callTool({ name: 'varied__draw', arguments: {} })
    await expect(unlisted).rejects.toThrow(/Unknown tool 'varied__draw'/)
  })

  it('waits once for a server that does not answer, and can be called where a cell must name its servers', async () => {
    const { home } = homeOf()
    const file = path.join(home, 'MCPs/more.json')
    writeFileSync(
      file,
      JSON.stringify({
        mcpServers: { deaf: { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'] } },
      }),
    )
    const bridge = await startBridge({ home, env: { MCP_BRIDGE_TOOLS: 'direct', MCP_BRIDGE_LOAD: 'explicit' } })
    await until(async () => (await namesOf(bridge)).includes('varied__send'))
    const wait = vi.spyOn(globalThis, 'setTimeout')
    expect(await namesOf(bridge)).toContain('varied__send')
    expect(wait.mock.calls.map(([, ms]) => ms)).not.toContain(3_000)
    const sent = await bridge.client.callTool({ name: 'varied__send', arguments: { to: 'bob' } })
    expect(textOf(sent)).toContain('sent to bob')
  })

  it('is what the profile of a client names', async () => {
    const { home } = homeOf()
    await runCommand(['profile', 'work', 'varied', '--direct', 'varied__s*'], bridgeEnv(home))
    const bridge = await startBridge({ home, env: { MCP_BRIDGE_PROFILE: 'work' } })
    expect(await namesOf(bridge)).toEqual(['run_python', 'varied__send'])
  })

  it('is run_python alone where no entry names a tool, and says nothing of changes', async () => {
    const bridge = await startBridge({ home: homeOf().home })
    expect(await namesOf(bridge)).toEqual(['run_python'])
    expect(bridge.client.getServerCapabilities()?.tools).toEqual({})
  })

  it('follows its server, and the client is told', async () => {
    let told = 0
    const bridge = await startBridge({
      home: homeOf({ direct: true }).home,
      prepare: (client) => client.setNotificationHandler('notifications/tools/list_changed', () => void (told += 1)),
    })
    expect(await namesOf(bridge)).not.toContain('varied__grown')
    told = 0
    await bridge.client.callTool({ name: 'varied__grow', arguments: {} })
    await until(() => told > 0)
    expect(await namesOf(bridge)).toContain('varied__grown')
    expect(textOf(await bridge.client.callTool({ name: 'varied__grown', arguments: {} }))).toBe('as well')
  })

  it('is what the command line of the client says, beside a resident', async () => {
    needsPosix('the resident of Windows has tests of its own')
    const env = { MCP_BRIDGE_RESIDENT: 'on idle=1' }
    const { home } = homeOf()
    const all = await startBridge({ home, env, args: ['run', '--tools', 'direct'], ownProcess: true })
    expect(await namesOf(all)).toContain('varied__look')
    const code = await startBridge({ home, env, args: ['run'], ownProcess: true })
    expect(await namesOf(code)).toEqual(['run_python'])
    expect(all.stderr + code.stderr).toBe('')
  })

  it('costs what `sandbridge servers` says, and a misspelt name is told', async () => {
    const { home } = homeOf({ direct: ['look', 'sned'] })
    await runCommand(['index'], bridgeEnv(home))
    const { stdout } = await runCommand(['servers'], bridgeEnv(home))
    expect(stdout).toMatch(/Listed by themselves: 1 tool, about \d+ tokens in each conversation\./)
    expect(stdout).toMatch(/"direct" of varied has 'sned', which is no tool of it\. Did you mean .?send/)
  })

  it('shares a session over HTTP, where no client says which is its own: limits and masks hold', async () => {
    const { home, reached } = homeOf()
    writePermissions(home, { allow: [{ tool: 'varied__send', perSession: 2 }, { tool: 'varied__look' }] })
    const bridge = await startHttpBridge({ home, env: { MCP_BRIDGE_MASK: 'email' } })
    for (const query of ['tools=direct', 'tools=search']) {
      const { client } = await bridge.connect('modern', { query, clientName: query })
      const call = (tool: string, args: object) =>
        query === 'tools=direct'
          ? client.callTool({ name: `varied__${tool}`, arguments: { ...args } })
          : client.callTool({ name: 'call_tool', arguments: { name: `varied__${tool}`, arguments: args } })
      expect(textOf(await call('look', {}))).toContain('[EMAIL_1]')
      await call('send', { to: '[EMAIL_1]' })
      expect(reached().at(-1)).toEqual(['send', { to: MAIL }])
      await call('send', { to: 'bob' })
      expect(textOf(await call('send', { to: 'carl' }))).toContain('perSession')
    }
  })

  it('follows the address over HTTP', async () => {
    const bridge = await startHttpBridge({ home: homeOf().home })
    for (const era of ['legacy', 'modern'] as const) {
      for (const [query, first] of [
        ['tools=direct', 'varied__look'],
        ['codemode=false', 'varied__look'],
        ['tools=search', 'search_tools'],
        ['tools=%20DIRECT', 'varied__look'],
        ['tools=', 'run_python'],
        ['tools=others', 'run_python'],
        ['', 'run_python'],
      ] as const) {
        const { client } = await bridge.connect(era, { query })
        expect((await client.listTools()).tools[0]?.name, `${era} ${query}`).toBe(first)
        if (first !== 'varied__look') continue
        const sent = await client.callTool({ name: 'varied__send', arguments: { to: 'bob' } })
        expect(sent.content).toEqual([{ type: 'text', text: 'sent to bob' }])
      }
    }
  })
})
