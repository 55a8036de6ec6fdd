// This file verifies that a cell that is sent again over stdio repeats no write, whatever its first result was lost to.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as consumers from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { LogFolder } from '../../../core/src/util/stores/files/log-folder.ts'
import { providerOrSkip, runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { sharedBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { bridgeEnv, CLI, makeHome, type TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { writePermissions } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { type Mailbox, mailbox, THREE_ANSWERS, threeMails, TWO_USED } from '../support/mailbox.ts'

async function open(env: Record<string, string> = {}, more: object = {}) {
  const mail = mailbox(more)
  return use(await startBridge({ servers: { mail: mail.entry }, env }), mail)
}

function use(bridge: TestBridge, mail: Mailbox) {
  /** Sends a cell and gives up when the server has got so many writes, as a client does at its timeout. */
  const lose = async (code: string, writes: number, afterMs = 0, tool = 'run_python') => {
    const leave = new AbortController()
    const count = mail.sent().length + writes
    const call = { name: tool, arguments: { code } }
    const lost = bridge.client.callTool(call, { signal: leave.signal }).catch(() => undefined)
    await mail.got(count)
    await sleep(afterMs)
    leave.abort()
    await lost
  }
  return { bridge, sent: mail.sent, lose }
}

const sharedMail = mailbox()
const shared = sharedBridge({ servers: { mail: sharedMail.entry } })
/** For tests after which nothing is lost: one bridge, of whose writes each sees its own. */
function openShared() {
  const before = sharedMail.sent().length
  const sent = () => sharedMail.sent().slice(before)
  return use(shared(), { ...sharedMail, sent, got: (count) => sharedMail.got(before + count) })
}

it('a cell that is sent again after its client gave up gets the answers of its calls, and it and the record say so', async () => {
  const { bridge, sent, lose } = await open({ MCP_BRIDGE_AUDIT: 'shape' })
  await lose(threeMails(20), 2, 200)
  const code = `# again\n${threeMails(0)}`
  const { text } = await bridge.call({ code: code })
  expect(sent()).toEqual(['send one', 'send two', 'send three'])
  for (const words of [THREE_ANSWERS, TWO_USED]) expect(text).toContain(words)
  const logs = new LogFolder(path.join(bridge.home, 'MCPs/.sandbridge/audit'))
  const reused = async () => {
    const read = await Promise.all((await logs.list()).map(({ name }) => logs.linesAfter(name, 0)))
    const all = read.flatMap(({ lines }) => lines.map((line) => JSON.parse(line) as Record<string, unknown>))
    return all.filter(({ type }) => type === 'call').map((one) => one['reused'] === true)
  }
  await expect.poll(reused, { timeout: 20_000 }).toEqual([false, false, true, true, false])
  const { stdout } = await runCommand(['log'], bridgeEnv(bridge.home, { MCP_BRIDGE_AUDIT: 'shape' }))
  expect(stdout.match(/call +mail__send +\w+/g)?.map((line) => line.split(/ +/).at(-1))).toEqual([
    'ok',
    'ok',
    'reused',
    'reused',
    'ok',
  ])
  // Its result is delivered now: the same cell is meant.
  expect((await bridge.call({ code: code })).text).not.toContain('used again')
  expect(sent()).toHaveLength(6)
})

it('a call without an answer raises OutcomeUnknown, as often as it is repeated, and runtime.again makes it', async () => {
  const { bridge, sent, lose } = await open()
  const code = 'await mcp_mail.send(text="first")\nprint(await mcp_mail.send(text="silent"))'
  await lose(code, 2)
  for (const _ of [1, 2]) {
    const { text, isError } = await bridge.call({ code: code })
    expect(isError).toBe(true)
    expect(text).toMatch(/OutcomeUnknown: mail\.send was sent before the connection broke and never answered/)
    expect(text).toContain('It was sent with {"text":"silent"}')
    expect(text).toContain('Find out first, for example with mcp_mail.list_sent')
    expect(text).toContain('mail.send (1)')
  }
  const caught = `for _ in range(3):
    try:
        await mcp_mail.send(text="silent")
    except runtime.OutcomeUnknown as error:
        print(error.code)`
  expect((await bridge.call({ code: caught })).text).toBe('OUTCOME_UNKNOWN\nOUTCOME_UNKNOWN\nOUTCOME_UNKNOWN')
  expect(sent()).toEqual(['send first', 'send silent'])
  await lose('await runtime.again(mcp_mail.send(text="silent"))', 1)
  expect(sent()).toEqual(['send first', 'send silent', 'send silent'])
})

it('loops, and a cell that is run again after its result, make every call', async () => {
  const { bridge, sent } = openShared()
  const loop = 'for _ in range(10): await mcp_mail.send(text="same")'
  for (const _ of [1, 2]) expect((await bridge.call({ code: loop })).text).not.toContain('sandbridge')
  expect(sent()).toEqual(Array(20).fill('send same'))
})

it('another cell with the same call gets its answer, and one with other arguments is made', async () => {
  const { bridge, sent, lose } = openShared()
  await lose('await mcp_mail.send(text="one"); import time; time.sleep(20)', 1, 200)
  // A cell that only looks is told once, and is no answer to whether the mail was sent.
  const look = 'print((await mcp_mail.list_sent()).split()[-1])'
  const told = '[sandbridge: A cell whose result was lost had made calls that this one did not repeat: mail.send (1).]'
  expect((await bridge.call({ code: look })).text).toBe(`one\n${told}`)
  expect((await bridge.call({ code: look })).text).not.toContain('sandbridge')
  const { text } = await bridge.call({
    code: 'for text in ("one", "one", "other"): print(await mcp_mail.send(text=text))',
  })
  expect(text).toContain('used again: mail.send (1).')
  expect(sent()).toEqual(['send one', 'send one', 'send other'])
})

it('a call that its tool refused is made again, and so is one of a tool that may be called twice or takes a key', async () => {
  const { bridge, sent, lose } = await open()
  const code = `try: await mcp_mail.send(text="refused")
except runtime.ToolError: print("refused")
await mcp_mail.SILENT(text="silent")`
  for (const tool of ['label', 'pay']) {
    const own = code.replace('SILENT', tool)
    await lose(own, 1)
    await lose(own, 1)
  }
  const [first, second, paid, again] = sent()
  expect([first, second]).toEqual(['label silent', 'label silent'])
  expect(paid).toMatch(/^pay silent [0-9a-f-]{36}$/)
  expect(again).toBe(paid)
  expect((await bridge.call({ code: 'await mcp_mail.pay(text="x", idempotency_key="mine")' })).isError).toBe(false)
  expect(sent().at(-1)).toBe('pay x mine')
})

it.each([
  ['MCP_BRIDGE_ONCE=off', { MCP_BRIDGE_ONCE: 'off' }, {}],
  ['"repeat": "always"', {}, { repeat: 'always' }],
])('with %s, a cell that is sent again makes every call', async (_, env, entry) => {
  const { bridge, sent, lose } = await open(env, entry)
  await lose(threeMails(20), 2, 200)
  expect((await bridge.call({ code: threeMails(0) })).text).not.toContain('sandbridge')
  expect(sent()).toEqual(['send one', 'send two', 'send one', 'send two', 'send three'])
})

it('an answer is not used again for a call that a rule denies by now, nor for a server with another account', async () => {
  const { bridge, sent, lose } = await open()
  const code = 'text = "one"\nprint(await getattr(mcp_mail, "se" + "nd")(text=text))'
  await lose(`${code}\nimport time; time.sleep(20)`, 1, 200)
  writePermissions(bridge.home, { deny: [{ tool: 'mail__send', when: 'args.text == "one"' }] })
  expect((await bridge.call({ code })).text).toContain('PermissionDenied')
  writePermissions(bridge.home, {})
  const file = path.join(bridge.home, 'MCPs/servers.json')
  writeFileSync(file, readFileSync(file, 'utf8').replace('"args"', '"env":{"ACCOUNT":"other"},"args"'))
  expect((await bridge.call({ code })).text).not.toContain('used again')
  expect(sent()).toEqual(['send one', 'send one'])
})

it('a server that claims to read is believed, unless the name of its tool says otherwise', async () => {
  const { bridge, sent, lose } = openShared()
  const code = 'await mcp_mail.peek(text="it")\nawait mcp_mail.delete_all(text="it")\nimport time; time.sleep(20)'
  await lose(code, 2, 200)
  const { text } = await bridge.call({ code: code.replace('20', '0') })
  expect(text).toContain('used again: mail.delete_all (1).')
  expect(sent()).toEqual(['peek it', 'delete_all it', 'peek it'])
})

it('a changed cell gets no answer of a call with other arguments, and none twice', async () => {
  const { bridge, sent, lose } = openShared()
  const first = `send 1 is number ${sharedMail.sent().length + 1}`
  await lose('await mcp_mail.send(text="1", size=1); import time; time.sleep(20)', 1, 200)
  const code = `for args in ({"text": "1"}, {"text": "1", "size": 1, "more": None}, {"text": "1", "size": 2}, {"text": "1 "},
             {"text": "1", "size": 1}, {"text": "1", "size": 1}):
    try: print(await runtime.call_tool("mail", "send", args))
    except Exception as error: print(type(error).__name__)`
  const { text } = await bridge.call({ code })
  expect(text).toContain('used again: mail.send (1).')
  const lines = text.split('\n').map((line) => line.replaceAll(/x+$/g, ''))
  expect(lines.filter((line) => line === first)).toHaveLength(1)
  expect(new Set(lines.filter((line) => line.includes('is number'))).size).toBe(sent().length)
})

it('a call of runtime.again whose answer was lost is not sent once more unseen', async () => {
  const { bridge, sent, lose } = await open()
  const again = 'await runtime.again(mcp_mail.send(text="silent"))'
  await lose('await mcp_mail.send(text="silent")', 1)
  await lose(again, 1)
  expect((await bridge.call({ code: again })).text).toContain('OutcomeUnknown')
  expect(sent()).toHaveLength(2)
  await lose(again, 1)
  expect(sent()).toHaveLength(3)
})

it('a cell of another language is told of an unknown outcome, and makes the call knowingly', async () => {
  await providerOrSkip('bubblewrap')
  const { bridge, sent, lose } = await open({ ...runtimeEnv('bubblewrap'), MCP_BRIDGE_LANGUAGES: 'javascript, bash' })
  for (const [tool, code, again] of [
    [
      'run_javascript',
      'await mcp_mail.send({ text: "silent" })',
      'await runtime.again(mcp_mail.send({ text: "silent" }))',
    ],
    ['run_bash', 'mcp mail send --text silent,too', 'mcp again mail send --text silent,too'],
  ] as const) {
    await lose(code, 1, 0, tool)
    expect((await bridge.callTool(tool, { code })).text).toMatch(/may or may not have taken effect[^]*again[ (]/)
    await lose(again, 1, 0, tool)
  }
  expect(sent()).toEqual(['send silent', 'send silent', 'send silent,too', 'send silent,too'])
})

it('a person who presses Ctrl-C in sandbridge exec reads what was done until then', async () => {
  const { entry, got } = mailbox()
  const home = makeHome({ mail: entry })
  const code = 'await mcp_mail.send(text="one"); await mcp_mail.send(text="silent")'
  const child = spawn(process.execPath, [CLI, 'exec', '-c', code], { env: bridgeEnv(home), cwd: home })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = consumers.text(child.stderr)
  await got(2)
  child.kill('SIGINT')
  expect(await said).toMatch(/Interrupted\. .*not undone: mail\.send\. Cut off, may or may not .*: mail\.send\./)
})
