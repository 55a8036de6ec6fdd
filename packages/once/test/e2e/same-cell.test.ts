// This file verifies that a cell that is sent again over stdio repeats no write, whatever its first result was lost to.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { makeHome, type TestBridge } from '@sandbridge/core/test/support/bridge-process.ts'
import { startBridge } from '@sandbridge/core/test/support/start-bridge.ts'

const SERVER = path.join(import.meta.dirname, '../support/mailbox.mjs')

interface Mailbox {
  bridge: TestBridge
  home: string
  sent: () => string[]
  /** Sends a cell and gives up when the server has got so many writes, as a client does at its timeout. */
  lose: (code: string, writes: number, afterMs?: number) => Promise<void>
  open: () => Promise<TestBridge>
}

async function open(env: Record<string, string> = {}, more: object = {}): Promise<Mailbox> {
  const home = makeHome()
  const file = path.join(home, 'sent.txt')
  writeFileSync(file, '')
  const mail = { command: 'node', args: [SERVER, file], ...more }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { mail } }))
  const bridge = await startBridge({ home, env })
  const sent = () => readFileSync(file, 'utf8').split('\n').slice(0, -1)
  const lose = async (code: string, writes: number, afterMs = 0) => {
    const leave = new AbortController()
    const before = sent().length
    const call = { name: 'run_python', arguments: { code } }
    const lost = bridge.client.callTool(call, { signal: leave.signal }).catch(() => undefined)
    while (sent().length < before + writes) await sleep(10)
    await sleep(afterMs)
    leave.abort()
    await lost
  }
  return { bridge, home, sent, lose, open: () => startBridge({ home, env }) }
}

const THREE = `a = await mcp_mail.send(text="one")
b = await mcp_mail.send(text="two")
import time; time.sleep(SECONDS)
c = await mcp_mail.send(text="three")
print(a, b, c)`
const three = (seconds: number) => THREE.replace('SECONDS', String(seconds))

it('a cell that is sent again after its client gave up gets the answers of its calls, and says so', async () => {
  const { bridge, sent, lose } = await open()
  await lose(three(20), 2, 200)
  const code = `# again\n${three(0)}`
  const { text } = await bridge.call({ code: code })
  expect(sent()).toEqual(['send one', 'send two', 'send three'])
  expect(text).toContain('send one is number 1 send two is number 2 send three is number 3')
  expect(text).toContain(
    '[sandbridge: 2 calls had been answered before the connection broke; their answers were used again: mail.send (2).]',
  )
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
  const { bridge, sent } = await open()
  const loop = 'for _ in range(10): await mcp_mail.send(text="same")'
  for (const _ of [1, 2]) expect((await bridge.call({ code: loop })).text).not.toContain('sandbridge')
  expect(sent()).toEqual(Array(20).fill('send same'))
})
