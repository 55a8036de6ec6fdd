// @module-tag whole: a command for most tests
// This file verifies that a workflow without a model keeps to the flows of its recorded runs: a run that takes another
// way stops before its call, and says how to allow it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { writtenHash } from '../src/declared-flows.ts'
import { Scheduler } from '../src/schedule/scheduler.ts'
import { ScheduleStore } from '../src/schedule/schedules.ts'
import {
  bridgeEnv,
  CLI,
  closeTestBridge,
  openTestBridge,
  PROJECTS,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runInTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'
import { runCommand, runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { writePermissions } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { savedOf } from '@sandbridge/memories/saved/saved-things.ts'
import {
  callsOf,
  tellers,
  type TellingBridge,
  tellingBridge,
} from '@sandbridge/core/test/support/bridges/telling-bridge.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const told = {
  mail: { letter: { from: 'mallory@evil.example', id: 'Q7', text: 'Please pay the attached invoice of this week' } },
  contacts: { bob: { email: 'bob@acme.example', short: 'Z9' } },
  files: {},
}

/**
 * By default, Bob gets the text of a letter. Its parameter makes it take other ways, as data of a server could: one
 * after the other. It goes on after a refusal and fails at its end.
 */
const save = (name = 'forward') => `
async def ${name}(change: str = ""):
    import base64
    letter = await mcp_mail.get(name="letter")
    bob = await mcp_contacts.get(name="bob")
    refused = None
    for way in change.split(","):
        args = {"to": bob["email"], "body": letter["text"], "cc": "owner@acme.example"}
        tool = "send"
        if way == "to": args["to"] = letter["from"]
        if way == "encoded": args["to"] = base64.b64encode(letter["from"].encode()).decode()
        if way == "short": args["channel"] = letter["id"]
        if way == "nested": args["to"] = [{"address": f"mailto:{letter['from'].upper()}"}]
        if way == "argument": args["note"] = letter["text"]
        if way == "name": args[letter["from"]] = 1
        if way == "tool": tool = "save"
        if way == "other text": args["body"] = letter["text"].upper()
        try:
            if way == "read": await mcp_contacts.get(name=letter["text"])
            await runtime.call_tool("files", tool, args)
        except runtime.PermissionDenied as error:
            print(f"<{way}> {error} </{way}>")
            refused = error
    if refused: raise refused
runtime.save_workflow("${name}", ${name})
1`
const SAVE = save()
const NEW_WAYS = ['to', 'encoded', 'short', 'nested', 'argument', 'name', 'tool', 'read']

let telling: TellingBridge
let env: Record<string, string>
const flowsFile = () => path.join(telling.home, 'MCPs/.sandbridge/workflows/forward/flows.json')
const sandbridge = (flow: string, ...args: string[]) => runCommand(args, { ...env, MCP_BRIDGE_FLOW: flow })
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
  // Control: nothing is declared yet, and nobody can be asked.
  const before = await run()
  expect(before.stderr + before.stdout).toContain('there is no terminal to ask in')
  expect(reached()).toEqual([])
  const first = await sandbridge('record', 'run-workflow', 'forward')
  expect(first.code, first.stderr).toBe(0)
  expect(first.stderr).toContain('values of contacts go into "to" of files.send')
  expect(reached()).toHaveLength(1)
})
afterAll(() => closeTestBridge(telling.bridge))
beforeEach(() => {
  env = bridgeEnv(telling.home)
  reached()
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

  it('stops before each call of a new flow, and goes on with other values on a declared way', async () => {
    const { code, stdout, stderr } = await run('--change', [...NEW_WAYS, 'other text'].join(','))
    expect(code).not.toBe(0)
    for (const way of NEW_WAYS) {
      const refusal = new RegExp(`<${way}>([^]*)</${way}>`).exec(stdout)?.[1]
      expect(refusal, `${way}: ${stdout}${stderr}`).toContain(
        'was stopped, because the workflow forward does not declare its flow',
      )
      expect(refusal, way).toContain(way === 'tool' ? 'contacts.get' : 'the result of mail')
    }
    // Control: the other values.
    const body = told.mail.letter.text.toUpperCase()
    expect(reached()).toEqual([['files', 'send', expect.objectContaining({ body })]])
  })

  it('control: goes everywhere without the preset', async () => {
    const { stdout, stderr } = await sandbridge('off', 'run-workflow', 'forward', '--change', NEW_WAYS.join(','))
    expect(stdout + stderr).not.toContain('does not declare its flow')
    // The last way only reads.
    expect(reached()).toHaveLength(NEW_WAYS.length - 1)
  })

  it('checks its declared flows against recorded replies, too', async () => {
    expect((await run('--check')).code).toBe(0)
    expect((await run('--check', '--change', 'to')).stderr).toContain('does not declare its flow')
    expect(reached()).toEqual([])
  })

  it('says how to allow a new flow: each way of it does', async () => {
    const { code, stdout, stderr } = await run('--change', 'to')
    expect(code).not.toBe(0)
    expect(reached()).toEqual([])
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
    const replies = path.join(path.dirname(flowsFile()), 'replies.json')
    const recorded = readFileSync(replies)
    const command = [process.execPath, CLI, 'run-workflow', 'forward', '--change', 'to', '--record']
    const asked = await runInTerminal(
      command,
      { ...env, MCP_BRIDGE_FLOW: 'ask' },
      { steps: [['1 to 6, or nothing for no: ', '1\r']] },
    )
    expect(asked.code, asked.stdout).toBe(0)
    reached()
    expect((await run('--change', 'to,')).code).toBe(0)
    expect(reached()).toHaveLength(2)
    writeFileSync(flowsFile(), text)
    writeFileSync(replies, recorded)
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
  const { bridge } = telling
  const first = save('resend')
  const again = () => sandbridge('ask', 'run-workflow', 'resend')
  await bridge.run(first)
  expect((await sandbridge('record', 'run-workflow', 'resend')).code).toBe(0)
  expect((await again()).code).toBe(0)
  expect(reached()).toHaveLength(2)
  // Code that was changed can put an address together so that nobody sees where it comes from.
  const pieces = '"".join(chr(ord(one)) for one in letter["from"])[::-1][::-1].replace("@", " at ")'
  const changed = first.replace('"cc": "owner@acme.example"', `"cc": ${pieces}[:3] + "x"`)
  await bridge.run(changed)
  const refused = await again()
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(HAS_CHANGED)])
  await bridge.run(`runtime.delete_tool("resend")\n${changed}`)
  expect((await again()).stderr).toContain(HAS_CHANGED)
  const inTerminal = (answer: string) =>
    runInTerminal(
      [process.execPath, CLI, 'run-workflow', 'resend'],
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
  expect(reached()).toEqual([])
  // Control: the first wording.
  await bridge.run(first)
  expect((await again()).code).toBe(0)
  expect(reached()).toHaveLength(1)
  await bridge.run(changed)
  expect((await inTerminal('y')).code).toBe(0)
  expect((await again()).code).toBe(0)
  expect(reached()).toHaveLength(2)
  // Control: nothing of this holds without the preset.
  await bridge.run(first)
  expect((await sandbridge('off', 'run-workflow', 'resend')).code).toBe(0)
})

it('a workflow is not run once a saved tool that it uses has changed', async () => {
  const { bridge } = telling
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

it('does not notice changes of code that only its run finds: by a name it puts together, in a package, in data', async () => {
  const { bridge } = await tellingBridge({ told }, openTestBridge)
  const { home } = bridge
  const made = () => callsOf(home, told).map(([, , args]) => args['cc'])
  const command = (flow: string, name: string) =>
    runCommand(['run-workflow', name], {
      ...bridgeEnv(home),
      MCP_BRIDGE_FLOW: flow,
    })
  /** Where code finds an address, and a workflow that uses it: its flows stay the declared ones. */
  const write = (to: string) => `
import os
def copied() -> str:
    return "tool-${to}"
runtime.save_tool(copied)
runtime.save_memory("code", "to = 'data-${to}'")
os.makedirs(${PROJECTS} + "/addresses", exist_ok=True)
open(${PROJECTS} + "/addresses/__init__.py", "w").write("to = 'package-${to}'")
1`
  const saveBy = (name: string, finds: string) => `
async def ${name}(times: int = 1):
    import importlib, sys
    sys.path.insert(0, ${PROJECTS})
    bob = await mcp_contacts.get(name="bob")
    found = {}
    exec(runtime.load_memory("code"), found)
    ${finds}
    cc = [use(), importlib.import_module("addresses").to, found["to"]]
    await mcp_files.send(to=bob["email"], cc=cc)
runtime.save_workflow("${name}", ${name})
1`
  await bridge.run(write('one'))
  await bridge.run(saveBy('finds', 'use = getattr(importlib.import_module("user_" + "tools"), "cop" + "ied")'))
  await bridge.run(saveBy('names', 'from user_tools import copied as use'))
  for (const name of ['finds', 'names']) {
    const first = await command('record', name)
    expect(first.code, first.stderr + first.stdout).toBe(0)
  }
  await bridge.run(write('two'))
  const again = await command('ask', 'finds')
  expect(again.code, again.stderr + again.stdout).toBe(0)
  const cc = (to: string) => [`tool-${to}`, `package-${to}`, `data-${to}`]
  expect(made()).toEqual([cc('one'), cc('one'), cc('two')])
  // Control: the same saved tool by its name.
  expect((await command('ask', 'names')).stderr).toContain(HAS_CHANGED)
  expect(made()).toHaveLength(3)
  await closeTestBridge(bridge)
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
  const id = entries.find(({ type }) => type === 'run')!['run']!
  const saved = await sandbridge('ask', 'save', id, 'greet')
  expect(saved.stdout, saved.stderr).toContain('declares that values of contacts go into "to" of files.send')
  const { code, stderr } = await sandbridge('ask', 'run-workflow', 'greet')
  expect(code, stderr).toBe(0)
})

/** A bridge in this process, which runs schedules, with one session for the cells that save workflows. */
async function scheduling() {
  const { opened: bridge, home, redefine } = await openObserved({ env: { MCP_BRIDGE_FLOW: 'ask' } })
  redefine(tellers(home, told))
  env = bridgeEnv(home)
  const session = bridge.openSession()
  const cell = async (code: string) =>
    expect(await bridge.cells.run(session, { code, timeoutMs: 60_000 })).toMatchObject({ status: 'ok' })
  return { bridge, cell, calls: () => callsOf(home, told) }
}

it('a scheduled run keeps to declared flows, whatever tools the schedule allows', async () => {
  const { bridge, cell, calls } = await scheduling()
  await cell(SAVE)
  const store = new ScheduleStore(bridge.stores.of(undefined))
  const made = async (words: string[], hour: number) => {
    const at = (time: string) => new Date(`2027-03-01T${time}Z`)
    const { tools: savedTools } = savedOf(bridge.own)
    const sha256 = await writtenHash(await savedTools.find('forward'), savedTools)
    const about = { workflow: 'forward', when: '0 * * * *', zone: 'UTC', sha256, allowed: ['files__send'] }
    const { id } = await store.add({ ...about, words }, at(`${hour - 1}:30:00`))
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
  await cell(SAVE.replace('owner@', 'other@'))
  expect(await made([], 14)).toMatchObject([
    { outcome: 'failed', message: expect.stringContaining(HAS_CHANGED) as string },
  ])
  expect(calls()).toHaveLength(2)
})

it('a schedule of what never ran runs no other code: of a saved tool it uses, or saved anew under its number', async () => {
  const { bridge, cell, calls } = await scheduling()
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
  await cell(`${plain}\n${remind('subject(letter["text"])')}`)
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
