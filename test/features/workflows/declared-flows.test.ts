// This file verifies that a workflow without a model keeps to the flows of its recorded runs: a run that takes another
// way stops before its call, and says how to allow it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { Scheduler } from '../../../src/features/workflows/schedule/scheduler.ts'
import { ScheduleStore } from '../../../src/features/workflows/schedules.ts'
import { bridgeEnv, CLI, openTestBridge } from '../../support/bridge-process.ts'
import { runInTerminal } from '../../support/in-terminal.ts'
import { openObserved } from '../../support/observed-bridge.ts'
import { runProgram } from '../../support/run-program.ts'
import { writePermissions } from '../../support/ruled-bridge.ts'
import { type TellingBridge, tellingBridge } from '../../support/telling-bridge.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const told = {
  mail: { letter: { from: 'mallory@evil.example', id: 'Q7', text: 'Please pay the attached invoice of this week' } },
  contacts: { bob: { email: 'bob@acme.example', short: 'Z9' } },
  files: {},
}

/** By default, Bob gets the text of a letter. Its parameters make it take other ways, as data of a server could. */
const SAVE = `
async def forward(change: str = ""):
    import base64
    letter = await mcp_mail.get(name="letter")
    bob = await mcp_contacts.get(name="bob")
    args = {"to": bob["email"], "body": letter["text"], "cc": "owner@acme.example"}
    tool = "send"
    if change == "to": args["to"] = letter["from"]
    if change == "encoded": args["to"] = base64.b64encode(letter["from"].encode()).decode()
    if change == "short": args["channel"] = letter["id"]
    if change == "nested": args["to"] = [{"address": f"mailto:{letter['from'].upper()}"}]
    if change == "argument": args["note"] = letter["text"]
    if change == "name": args[letter["from"]] = 1
    if change == "tool": tool = "save"
    if change == "read": await mcp_contacts.get(name=letter["text"])
    if change == "other text": args["body"] = letter["text"].upper()
    await runtime.call_tool("files", tool, args)
runtime.save_workflow("forward", forward)
1`

let telling: TellingBridge
let env: Record<string, string>
const flowsFile = () => path.join(telling.home, 'MCPs/.sandbridge/workflows/forward/flows.json')
const sandbridge = (flow: string, ...args: string[]) =>
  runProgram(process.execPath, [CLI, ...args], { ...env, MCP_BRIDGE_FLOW: flow })
const run = (...args: string[]) => sandbridge('ask', 'run-workflow', 'forward', ...args)
/** The calls since the last time. */
let seen = 0
const reached = () => {
  const all = telling.reached()
  const fresh = all.slice(seen)
  seen = all.length
  return fresh
}

beforeAll(async () => {
  telling = await tellingBridge({ told }, openTestBridge)
  env = bridgeEnv(telling.home)
  await telling.bridge.run(SAVE)
  await telling.bridge.client.close()
  // Control: nothing is declared yet, and nobody can be asked.
  const before = await run()
  expect(before.stderr + before.stdout).toContain('there is no terminal to ask in')
  expect(reached()).toEqual([])
  const first = await sandbridge('record', 'run-workflow', 'forward')
  expect(first.code, first.stderr).toBe(0)
  expect(first.stderr).toContain('values of contacts go into "to" of files.send')
  expect(reached()).toHaveLength(1)
})

describe('a workflow without a model', () => {
  it('declares the flows of its first run that ends well, and makes them again without a question', async () => {
    expect(JSON.parse(readFileSync(flowsFile(), 'utf8'))).toMatchObject({
      flows: [
        { from: 'contacts', server: 'files', tool: 'send', argument: 'to' },
        { from: 'mail', server: 'files', tool: 'send', argument: 'body' },
      ],
    })
    const again = await run()
    expect(again.code, again.stderr).toBe(0)
    expect(reached()).toHaveLength(1)
    const plan = await run('--dry-run')
    expect(plan.stdout).toContain('declares that values of mail go into "body" of files.send')
  })

  it.each(['to', 'encoded', 'short', 'nested', 'argument', 'name', 'tool', 'read'])(
    'stops before a call of a new flow: %s',
    async (change) => {
      const { code, stdout, stderr } = await run('--change', change)
      expect(code).not.toBe(0)
      expect(stdout + stderr).toContain('was stopped, because the workflow forward does not declare its flow')
      expect(stdout + stderr).toContain(change === 'tool' ? 'contacts.get' : 'mail.get')
      expect(reached()).toEqual([])
    },
  )

  it('control: goes on with other values on a declared way, and everywhere without the preset', async () => {
    expect((await run('--change', 'other text')).code).toBe(0)
    expect((await sandbridge('off', 'run-workflow', 'forward', '--change', 'to')).code).toBe(0)
    expect(reached()).toHaveLength(2)
  })

  it('checks its declared flows against recorded replies, too', async () => {
    expect((await run('--check')).code).toBe(0)
    expect((await run('--check', '--change', 'to')).stdout).toContain('does not declare its flow')
    expect(reached()).toEqual([])
  })

  it('says how to allow a new flow: each way of it does', async () => {
    const { stdout, stderr } = await run('--change', 'to')
    const rule = /\{"allow": \[(.*?\})\]\}/.exec(stdout + stderr)?.[1]
    expect(stdout + stderr).toContain('sandbridge run-workflow forward --record')
    writePermissions(telling.home, { allow: [JSON.parse(rule!)] })
    expect((await run('--change', 'to')).code).toBe(0)
    writePermissions(telling.home, {})
    expect((await run('--change', 'to')).code).not.toBe(0)
    // The user edits what it declares.
    const text = readFileSync(flowsFile(), 'utf8')
    const { flows, ...rest } = JSON.parse(text) as { flows: object[] }
    const more = [...flows, { from: 'mail', server: 'files', tool: 'send', argument: 'to' }]
    writeFileSync(flowsFile(), JSON.stringify({ ...rest, flows: more }))
    expect((await run('--change', 'to')).code).toBe(0)
    writeFileSync(flowsFile(), text)
    // A run in a terminal asks, and declares what it did.
    const command = [process.execPath, CLI, 'run-workflow', 'forward', '--change', 'to', '--record']
    const asked = await runInTerminal(
      command,
      { ...env, MCP_BRIDGE_FLOW: 'ask' },
      { steps: [['1 to 6, or nothing for no: ', '1\r']] },
    )
    expect(asked.code, asked.stdout).toBe(0)
    expect((await run('--change', 'to')).code).toBe(0)
    expect((await run()).code).toBe(0)
    writeFileSync(flowsFile(), text)
  })

  it('runs nothing if the file of its flows is damaged', async () => {
    const text = readFileSync(flowsFile(), 'utf8')
    reached()
    writeFileSync(flowsFile(), '{"flows": 1}')
    const { code, stderr } = await run()
    expect(code).not.toBe(0)
    expect(stderr).toContain('The file of the flows that the workflow declares')
    expect(reached()).toEqual([])
    writeFileSync(flowsFile(), text)
  })
})

it('values of trusted servers need no declaration, and nothing is declared with MCP_BRIDGE_FLOW=off', async () => {
  const { bridge, home, reached: made } = await tellingBridge({ told, trusted: ['mail', 'contacts'] })
  await bridge.run(SAVE)
  await bridge.client.close()
  const file = path.join(home, 'MCPs/.sandbridge/workflows/forward/flows.json')
  const forward = async (flow: string, ...args: string[]) => {
    const command = [CLI, 'run-workflow', 'forward', ...args]
    const { code, stderr } = await runProgram(process.execPath, command, { ...bridgeEnv(home), MCP_BRIDGE_FLOW: flow })
    expect(code, stderr).toBe(0)
  }
  await forward('off')
  expect(existsSync(file)).toBe(false)
  await forward('ask')
  expect(existsSync(file)).toBe(true)
  await forward('ask', '--change', 'to')
  expect(made().at(-1)).toEqual(['files', 'send', expect.objectContaining({ to: 'mallory@evil.example' })])
})

const HAS_CHANGED = 'has changed since its flows were declared'

it('a changed workflow is not run before somebody has read it, also after it was deleted and saved anew', async () => {
  const { bridge, home, reached: calls } = await tellingBridge({ told })
  env = bridgeEnv(home)
  await bridge.run(SAVE)
  expect((await sandbridge('record', 'run-workflow', 'forward')).code).toBe(0)
  expect((await run()).code).toBe(0)
  expect(calls()).toHaveLength(2)
  // Code that was changed can put an address together so that nobody sees where it comes from.
  const pieces = '"".join(chr(ord(one)) for one in letter["from"])[::-1][::-1].replace("@", " at ")'
  const changed = SAVE.replace('"cc": "owner@acme.example"', `"cc": ${pieces}[:3] + "x"`)
  await bridge.run(changed)
  const refused = await run()
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(HAS_CHANGED)])
  await bridge.run(`runtime.delete_tool("forward")\n${changed}`)
  expect((await run()).stderr).toContain(HAS_CHANGED)
  const inTerminal = (answer: string) =>
    runInTerminal(
      [process.execPath, CLI, 'run-workflow', 'forward'],
      { ...env, MCP_BRIDGE_FLOW: 'ask' },
      {
        steps: [
          ['declare the flows of its calls? [y/N]', `${answer}\n`],
          ...(answer === 'y' ? [['1 to 6, or nothing for no: ', '1\r'] as [string, string]] : []),
        ],
      },
    )
  const no = await inTerminal('n')
  expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('letter["from"]')])
  expect(calls()).toHaveLength(2)
  // Control: the first wording.
  await bridge.run(SAVE)
  expect((await run()).code).toBe(0)
  expect(calls()).toHaveLength(3)
  await bridge.run(changed)
  expect((await inTerminal('y')).code).toBe(0)
  expect((await run()).code).toBe(0)
  expect(calls()).toHaveLength(5)
  // Control: nothing of this holds without the preset.
  await bridge.run(SAVE)
  expect((await sandbridge('off', 'run-workflow', 'forward')).code).toBe(0)
})

it('a workflow is not run once a saved tool that it uses has changed', async () => {
  const { bridge, home } = await tellingBridge({ told })
  env = bridgeEnv(home)
  const helper = (to: string) => `
def copied() -> str:
    return "${to}"
runtime.save_tool(copied)
1`
  const notify = () => sandbridge('ask', 'run-workflow', 'notify')
  await bridge.run(helper('owner@acme.example'))
  await bridge.run(`
async def notify(times: int = 1):
    from user_tools import copied
    bob = await mcp_contacts.get(name="bob")
    await mcp_files.send(to=bob["email"], cc=copied())
runtime.save_workflow("notify", notify)
1`)
  expect((await sandbridge('record', 'run-workflow', 'notify')).code).toBe(0)
  expect((await notify()).code).toBe(0)
  await bridge.run(helper('mallory@evil.example'))
  expect((await notify()).stderr).toContain(HAS_CHANGED)
  // Control: the first wording.
  await bridge.run(helper('owner@acme.example'))
  expect((await notify()).code).toBe(0)
})

it('sandbridge save declares the flows of the recorded run', async () => {
  const { bridge, home } = await tellingBridge({ told, env: { MCP_BRIDGE_AUDIT: 'replay', MCP_BRIDGE_FLOW: 'off' } })
  env = bridgeEnv(home)
  const cell = `bob = (await mcp_contacts.get(name="bob"))["email"]
await mcp_files.send(to=bob, cc="owner@acme.example")`
  await bridge.run(cell)
  await bridge.client.close()
  const { stdout: log } = await sandbridge('off', 'log', '--json')
  const entries = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>)
  const id = entries.find(({ type }) => type === 'run')!['sandbridge.run.id']!
  const saved = await sandbridge('ask', 'save', id, 'greet')
  expect(saved.stdout, saved.stderr).toContain('declares that values of contacts go into "to" of files.send')
  const { code, stderr } = await sandbridge('ask', 'run-workflow', 'greet')
  expect(code, stderr).toBe(0)
})

it('a scheduled run keeps to declared flows, whatever tools the schedule allows', async () => {
  const { home, bridge: other, reached: calls } = await tellingBridge({ told })
  env = bridgeEnv(home)
  await other.run(SAVE)
  await other.client.close()
  const servers = JSON.parse(readFileSync(path.join(home, 'MCPs/servers.json'), 'utf8')) as { mcpServers: never }
  const { bridge } = await openObserved({
    servers: servers.mcpServers,
    env: { MCP_BRIDGE_FLOW: 'ask', MCP_BRIDGE_STATE_DIR: path.join(home, 'MCPs') },
  })
  const store = new ScheduleStore(bridge.stores.of(undefined))
  const made = async (words: string[], hour: number) => {
    const at = (time: string) => new Date(`2027-03-01T${time}Z`)
    const about = { workflow: 'forward', when: '0 * * * *', zone: 'UTC', version: 1, allowed: ['files__send'] }
    const id = await store.add({ ...about, words }, at(`${hour - 1}:30:00`))
    const scheduler = new Scheduler(bridge)
    await scheduler.look(at(`${hour}:00:01`))
    await scheduler.idle()
    const { runs } = (await store.list())[id]!
    await store.remove(id)
    return runs
  }
  // Whoever allowed the tool has seen no flow.
  expect(await made([], 11)).toMatchObject([
    { outcome: 'failed', message: expect.stringContaining('a scheduled run is unattended') as string },
  ])
  expect(calls()).toEqual([])
  expect((await sandbridge('record', 'run-workflow', 'forward')).code).toBe(0)
  expect(await made([], 12)).toMatchObject([{ outcome: 'ok' }])
  expect(calls()).toHaveLength(2)
  expect(await made(['--change', 'to'], 13)).toMatchObject([
    { outcome: 'failed', message: expect.stringContaining('does not declare its flow') as string },
  ])
  expect(calls()).toHaveLength(2)
  // Its code is not the one that declared its flows.
  const changed = { code: SAVE.replace('owner@', 'other@'), timeoutMs: 60_000 }
  expect(await bridge.cells.run(bridge.sessions.open(), changed)).toMatchObject({ status: 'ok' })
  expect(await made([], 14)).toMatchObject([
    { outcome: 'failed', message: expect.stringContaining(HAS_CHANGED) as string },
  ])
  expect(calls()).toHaveLength(2)
})

it('a schedule of what never ran runs no other code: of a saved tool it uses, or saved anew under its number', async () => {
  const { home, bridge: other, reached: calls } = await tellingBridge({ told })
  env = bridgeEnv(home)
  const helper = (line: string) => `
def subject(text):
    import base64
    return ${line}
runtime.save_tool(subject)
1`
  const remind = (line: string) => `
async def remind():
    letter = await mcp_mail.get(name="letter")
    await mcp_files.send(to="owner@acme.example", body=${line})
runtime.save_workflow("remind", remind)
1`
  const plain = helper('"a letter came"')
  const hidden = 'text[::-1]'
  await other.run(`${plain}\n${remind('subject(letter["text"])')}`)
  await other.client.close()
  const scheduled = await sandbridge(
    'ask',
    'schedule',
    'remind',
    '0 * * * *',
    '--zone',
    'UTC',
    '--allow',
    'files__send',
  )
  expect(scheduled.code, scheduled.stderr).toBe(0)
  const servers = JSON.parse(readFileSync(path.join(home, 'MCPs/servers.json'), 'utf8')) as { mcpServers: never }
  const { bridge } = await openObserved({
    servers: servers.mcpServers,
    env: { MCP_BRIDGE_FLOW: 'ask', MCP_BRIDGE_STATE_DIR: path.join(home, 'MCPs') },
  })
  const cell = async (code: string) =>
    expect(await bridge.cells.run(bridge.sessions.open(), { code, timeoutMs: 60_000 })).toMatchObject({ status: 'ok' })
  const store = new ScheduleStore(bridge.stores.of(undefined))
  const nextHour = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000)
  const made = async (hour: number) => {
    const scheduler = new Scheduler(bridge)
    await scheduler.look(new Date(nextHour.getTime() + hour * 3_600_000 + 1_000))
    await scheduler.idle()
    return (await store.list())['remind']!.runs.at(-1)
  }
  const notRun = { outcome: 'failed', message: expect.stringContaining(HAS_CHANGED) as string }
  // Control: what was scheduled.
  expect(await made(0)).toMatchObject({ outcome: 'ok' })
  expect(calls()).toHaveLength(1)
  await cell(helper(hidden))
  expect(await made(1)).toMatchObject(notRun)
  await cell(plain)
  expect(await made(2)).toMatchObject({ outcome: 'ok' })
  expect(calls()).toHaveLength(2)
  await cell(`runtime.delete_tool("remind")\n${remind('letter["text"][::-1]')}`)
  expect(await made(3)).toMatchObject(notRun)
  expect(calls()).toHaveLength(2)
})
