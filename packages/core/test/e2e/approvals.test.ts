// @module-tag whole: questions that wait; questions.test.ts asks too
// This file verifies approvals: one question for calls that belong together, with everything that is sent, and no call
// without a clear yes to it.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtureServer, makeHome, type ServerEntry } from '../support/bridges/bridge-process.ts'
import { until } from '../support/machine/processes.ts'
import { approve, caught, ruledBridge, sharedRuledBridge } from '../support/bridges/ruled-bridge.ts'
import { sharedHttpBridge } from '../support/bridges/shared-bridge.ts'

const ONCE = 'yes, this once'
const CELL = 'yes, calls like this for the rest of the cell'
const SESSION = 'yes, this tool for the session'
const ALWAYS = 'yes, this tool always'
const STOP = 'no, and stop the code'
const ask = { ask: ['hub__create_issue', 'hub__delete_repo'] }

/** What the user says to the next questions. */
let next: (message: string) => unknown
const shared = sharedRuledBridge({ answer: (message) => next(message) })
/** The shared bridge with a user who gives these answers, one after the other. */
const answered = (...answers: unknown[]) => {
  next = () => answers.shift()
  return shared(ask)
}

describe.each(['legacy', 'modern'] as const)('with a client of the %s era', (era) => {
  it(`a user of the ${era} era sees every argument and the rule, and a yes counts once`, async () => {
    const answers = [ONCE, 'no', { action: 'decline' }, { action: 'accept', content: { 'Allow it?': ['no'] } }]
    const { bridge, reached, questions } =
      era === 'legacy'
        ? answered(...answers)
        : await ruledBridge({ era, permissions: ask, answer: () => answers.shift() })
    const call = 'await mcp_hub.create_issue(owner="acme\\u202e", title="x" * 3, id={"amount": 5})'
    expect(await bridge.run(caught(call))).toBe('called')
    for (const _ of [1, 2, 3]) expect(await bridge.run(caught(call))).toMatch(/denied: .*the user said no/)
    expect(reached()).toHaveLength(1)
    expect(questions[0]).toMatch(
      /to call hub\.create_issue\n {2}owner: "acme\\\\?u202e"\n {2}id\.amount: 5\n {2}title: "xxx"/,
    )
    expect(questions[0]).toContain('ask "hub__create_issue" (permissions.json, line 1)')
  })
})

it.each([
  { action: 'accept' },
  { action: 'accept', content: {} },
  { action: 'accept', content: { answer: [ONCE] } },
  { action: 'accept', content: { answer: 'yes' } },
  { action: 'accept', content: { 'Allow it?': ONCE } },
  { action: 'accept', content: { answer: true } },
  { action: 'reject' },
  {},
])(
  'an answer that cannot be read is no yes and no no: the user is asked once, and told how to answer: %j',
  async (odd) => {
    const { bridge, reached, questions } = answered(odd, odd)
    const text = await bridge.run('await mcp_hub.create_issue(id=1)\nawait mcp_hub.delete_repo(id=2)')
    expect(text).toMatch(/the client's answer to the question could not be read|the client failed to ask/)
    expect(text).toContain('`sandbridge approve`')
    expect(text).not.toContain('the user said no')
    expect(questions).toHaveLength(1)
    expect(reached()).toEqual([])
  },
)

it('two hundred calls of one shape are one question, at once or one after the other', async () => {
  next = () => CELL
  const { bridge, reached, questions } = shared(ask)
  await bridge.run('import asyncio; await asyncio.gather(*(mcp_hub.create_issue(id=i) for i in range(200)))')
  expect(questions).toHaveLength(1)
  await bridge.run('for i in range(200): await mcp_hub.create_issue(id=i)')
  expect(questions).toHaveLength(2)
  expect(reached()).toHaveLength(400)
  // Another tool, another shape and another cell give another question.
  await bridge.run('i = 1\nawait mcp_hub.create_issue(id=i); await mcp_hub.create_issue(title=i)')
  await bridge.run('await mcp_hub.delete_repo(id=i)')
  expect(questions.length).toBeGreaterThanOrEqual(4)
})

it('calls that are found in a cell are one question before it starts', async () => {
  const { bridge, reached, questions } = answered('no', ONCE, 'no')
  await bridge.run('await runtime.list_tools("hub"); ran = 0')
  const cell = 'ran += 1\nawait mcp_hub.create_issue(title="a")\nawait mcp_hub.delete_repo(id=7)'
  expect(await bridge.run(cell)).toMatch(/Not run[^]*the user said no/)
  expect(questions).toHaveLength(1)
  expect(questions[0]).toMatch(
    /Before it runs: .* 2 calls:\n {2}1\. hub\.create_issue: title: "a"\n {2}2\. hub\.delete_repo: id: 7/,
  )
  expect(reached()).toEqual([])
  await bridge.run(cell)
  expect(questions).toHaveLength(2)
  expect(reached()).toEqual([
    ['create_issue', { title: 'a' }],
    ['delete_repo', { id: 7 }],
  ])
  expect(await bridge.run('ran')).toBe('1')
  // The grant is used up: the same cell asks again.
  expect(await bridge.run(cell)).toContain('Not run')
})

it('a call in a function or a branch is asked about when it is made, once', async () => {
  const { bridge, questions, reached } = answered(ONCE)
  await bridge.run('async def later():\n    return await mcp_hub.create_issue(title="a")')
  await bridge.run('if 1 > 2:\n    await mcp_hub.delete_repo(id=7)')
  await bridge.run(
    'async def tidy() -> str:\n    """T."""\n    await mcp_hub.delete_repo(id=7)\n    return ""\nruntime.save_tool(tidy)',
  )
  expect(questions).toEqual([])
  await bridge.run('await later()')
  expect(questions).toHaveLength(1)
  expect(reached()).toEqual([['create_issue', { title: 'a' }]])
})

it('the answer "this tool for the session" counts for that tool and session, and "always" counts for good', async () => {
  const answers = [SESSION, 'no', ALWAYS]
  const first = await ruledBridge({ permissions: ask, answer: () => answers.shift() })
  const call = (tool: string) => caught(`i = 1; await mcp_hub.${tool}(id=i)`)
  expect(await first.bridge.run(call('create_issue'))).toBe('called')
  expect(await first.bridge.run(call('create_issue'))).toBe('called')
  expect(await first.bridge.run(call('delete_repo'))).toContain('denied')
  expect(await first.bridge.run(call('delete_repo'))).toBe('called')
  expect(first.questions).toHaveLength(3)
  const { permissions } = JSON.parse(readFileSync(path.join(first.home, 'MCPs/permissions.json'), 'utf8')) as {
    permissions: { allow: unknown[]; ask: unknown[] }
  }
  expect(permissions.ask).toEqual(ask.ask)
  expect(permissions.allow).toMatchObject([{ server: 'hub', tool: 'delete_repo', insteadOfAsking: true }])
  const second = await ruledBridge({ home: first.home, answer: 'no' })
  expect(await second.bridge.run(call('delete_repo'))).toBe('called')
  expect(await second.bridge.run(call('create_issue'))).toContain('denied')
})

it('the answer "always" does not count for another server of the same name', async () => {
  const answers = [ALWAYS, 'no']
  const { bridge, home, questions } = await ruledBridge({ permissions: ask, answer: () => answers.shift() })
  const file = path.join(home, 'MCPs/servers.json')
  const same = readFileSync(file)
  const call = caught('i = 1; await mcp_hub.create_issue(id=i)')
  expect(await bridge.run(call)).toBe('called')
  const hub = { ...fixtureServer('ruled.mjs', path.join(home, 'other')), env: { X: '1' } }
  writeFileSync(file, JSON.stringify({ mcpServers: { hub } }))
  expect(await bridge.run(call)).toContain('the user said no')
  writeFileSync(file, same)
  expect(await bridge.run(call)).toBe('called')
  expect(questions).toHaveLength(2)
})

const overHttp = sharedHttpBridge({
  servers: {
    hub: {
      ...fixtureServer('ruled.mjs', path.join(makeHome(), 'journal')),
      permissions: { ask: ['create_issue'] },
    } as ServerEntry,
  },
})

it.each([SESSION, CELL])('the answer "%s" counts only for that client of a bridge over HTTP', async (answer) => {
  const asked: string[] = []
  const connect = (clientName: string, said: string) =>
    overHttp().connect('legacy', {
      clientName,
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', () => {
          asked.push(clientName)
          return { action: 'accept', content: { answer: said } }
        }),
    })
  const [one, other] = [await connect('one', answer), await connect('other', 'no')]
  const call = caught('i = 1; await mcp_hub.create_issue(id=i)')
  expect(await one.run(call)).toBe('called')
  expect(await other.run(call)).toContain('the user said no')
  expect(await one.run(call)).toBe('called')
  expect(asked).toEqual(answer === SESSION ? ['one', 'other'] : ['one', 'other', 'one'])
})

it.each([
  'for i in range(3):\n    try: await mcp_hub.create_issue(id=i)\n    except: pass\nawait mcp_hub.get_issue(id=1)',
  'try: await mcp_hub.create_issue(id=1 + 0)\nfinally: await mcp_hub.get_issue(id=1)',
  'import contextlib\nwith contextlib.suppress(BaseException): await mcp_hub.create_issue(id=1 + 0)\nawait mcp_hub.get_issue()',
])('after "no, and stop the code" the cell makes no call and asks nothing, whatever it catches: %s', async (code) => {
  const { bridge, reached, questions } = answered(STOP)
  const text = await bridge.run(code)
  expect(text).toContain('stopped the cell. 1 call refused: hub.create_issue')
  expect(text).not.toMatch(/still running|may or may not have taken effect/)
  expect(questions).toHaveLength(1)
  expect(reached()).toEqual([])
  expect(await bridge.run('await mcp_hub.get_issue()'), 'the next cell').toContain('did get_issue')
})

it('a question that is not answered in time denies its call, and the time limit of the cell stands still meanwhile', async () => {
  const { bridge, reached } = await ruledBridge({
    permissions: ask,
    env: { MCP_BRIDGE_ASK_TIMEOUT: '5' },
    answer: async () => {
      await new Promise((resolve) => setTimeout(resolve, 6_000))
      return ONCE
    },
  })
  const text = await bridge.run(caught('i = 1; await mcp_hub.create_issue(id=i)'), { timeout: 2 })
  expect(text).toContain('no answer came within 5 s')
  expect(reached()).toEqual([])
})

it('a call is made with the arguments that the user saw, whatever the code changes later', async () => {
  next = async () => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    return ONCE
  }
  const { bridge, reached, questions } = shared(ask)
  await bridge.run(`
import asyncio
class Shifty(str):
    def __str__(self): return "evil"
class Proxy(dict):
    seen = 0
    def items(self):
        Proxy.seen += 1
        return {"owner": "acme" if Proxy.seen == 1 else "evil"}.items()
    def __getitem__(self, key): return "evil"
to = {"owner": Shifty("acme"), "list": ["a"]}
sly = Proxy(owner="acme")
async def change():
    await asyncio.sleep(0.1)
    to["owner"] = "evil"; to["list"].append("evil")
await asyncio.gather(mcp_hub.create_issue(id=to), change())
await mcp_hub.create_issue(id=sly, title="sly")
`)
  expect(reached()[0]).toEqual(['create_issue', { id: { owner: 'acme', list: ['a'] } }])
  // A dict subclass is shown as the value that is actually sent.
  const [, sent] = reached()[1] as [string, { id: { owner: string } }]
  expect(questions[1]).toContain(`id.owner: "${sent.id.owner}"`)
  expect(questions[0]).toContain('owner: "acme"')
  expect(questions[0]).not.toContain('evil')
  expect(reached()).toHaveLength(2)
})

it('the user answers in a terminal when no client can ask, and the answer counts once for that session', async () => {
  const { bridge, home, reached } = await ruledBridge({ permissions: ask })
  const other = await ruledBridge({ home })
  const call = caught('i = 1; await mcp_hub.create_issue(id=i)')
  expect(await bridge.run(call)).toMatch(/denied: .*this client cannot ask its user.*sandbridge approve/)
  await until(() => bridge.stderr.includes('sandbridge approve'))
  const [question] = JSON.parse(await approve(home, '--json')) as { id: string; text: string }[]
  expect(question?.text).toContain('hub.create_issue\n  id: 1')
  expect(await other.bridge.run(call)).toContain('denied')
  expect(await approve(home, question!.id, '--answer', 'yes')).toContain('Answered: yes')
  expect(await other.bridge.run(call)).toContain('denied')
  expect(await bridge.run(call.replace('i = 1', 'i = 2'))).toContain('denied')
  expect(await bridge.run(call)).toBe('called')
  expect(await bridge.run(call)).toContain('denied')
  expect(reached()).toEqual([['create_issue', { id: 1 }]])
})

it('an answer in a terminal counts for the same call, whether it was seen before the cell ran or when it was made', async () => {
  const { bridge, home, reached } = await ruledBridge({ permissions: ask })
  const made = (id: number) => caught(`i = ${id}; await mcp_hub.create_issue(id=i)`)
  const seen = (id: number) => `await mcp_hub.create_issue(id=${id})`
  for (const [first, second] of [
    [made(1), seen(1)],
    [seen(2), made(2)],
  ] as const) {
    expect(await bridge.run(first)).toContain('this client cannot ask its user')
    const [question] = JSON.parse(await approve(home, '--json')) as { id: string; text: string }[]
    expect(question!.text).toMatch(first === made(1) ? /^The code that is running wants/ : /^Before it runs/)
    expect(await approve(home, question!.id, '--answer', 'yes')).toContain('Answered: yes')
    expect(await bridge.run(second)).not.toContain('not allowed')
    // Control: it counted once.
    expect(await bridge.run(second)).toContain('this client cannot ask its user')
    const [again] = JSON.parse(await approve(home, '--json')) as { id: string }[]
    await approve(home, again!.id, '--answer', 'no')
    expect(await bridge.run(second)).toContain('the user said no')
  }
  expect(reached()).toEqual([
    ['create_issue', { id: 1 }],
    ['create_issue', { id: 2 }],
  ])
})
