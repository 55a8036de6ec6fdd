// This file verifies that the model never reads a value that is masked, on any way out of a cell, while code and servers work with the values themselves.
import { writeFileSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHttpBridge } from '../support/http-bridge.ts'
import { closeTestBridge, fixtureServer, makeHome, openTestBridge, type TestBridge } from '../support/bridge-process.ts'

const EMAIL = 'canary.person@example.com'
const CARD = '4111 1111 1111 1111'
const home = makeHome({ files: fixtureServer('intruder.mjs') })
const journal = path.join(home, 'journal')
const data = path.join(home, 'data.json')
const read = `data = await mcp_files.run(code="return require('fs').readFileSync('${data}', 'utf8')")\nemail, card = data["email"], data["card"]`
const progress: string[] = []
let bridge: TestBridge

beforeAll(async () => {
  writeFileSync(data, JSON.stringify({ email: EMAIL, card: CARD }))
  const mask = [{ name: 'ticket', pattern: 'TCK-[0-9]{6}' }]
  writeFileSync(path.join(home, 'MCPs/permissions.json'), JSON.stringify({ mask }))
  bridge = await openTestBridge({ home, env: { MCP_BRIDGE_MASK: 'email,card' } })
  expect(await bridge.run(`${read}\nlen(email)`)).toBe(String(EMAIL.length))
})
afterAll(() => closeTestBridge(bridge))

async function everythingOf(code: string): Promise<string> {
  const result = await bridge.client.callTool(
    { name: 'run_python', arguments: { code } },
    { timeout: 120_000, onprogress: (update) => progress.push(JSON.stringify(update)) },
  )
  return JSON.stringify(result)
}

const CHANNELS: [string, string][] = [
  ['printed text', 'print("to", email, "with", card)'],
  ['two prints of one line', 'print(email[:9], end="")\nprint(email[9:])'],
  ['text on stderr', 'import sys\nprint(email, card, file=sys.stderr)'],
  ['text with control characters in it', 'print(email[:6] + "\\x1b[0m" + email[6:])'],
  ['the value of the last expression', '{"email": email, email: [card]}'],
  ['a display', 'display({"to": email})'],
  ['an error with its traceback and the values of its line', 'raise ValueError(f"no account for {email} and {card}")'],
  ['an error of a name', 'data[email]'],
  ['a message of a tool', 'await mcp_files.run(code="throw new Error(\'no " + email + "\')")'],
  ['progress', 'runtime.progress(1, 2, f"at {email}")\nimport time\ntime.sleep(0.3)\nprint("done")'],
  ['an artifact with its name', 'runtime.save_artifact(f"for {email}.txt", f"card {card} of {email}")'],
  ['output that is cut', 'print(("x" * 50 + "\\n") * 3000, email, ("y" * 50 + "\\n") * 3000)'],
]

describe('a masked value', () => {
  it.each(CHANNELS)('does not reach the model in %s', async (_, code) => {
    const text = await everythingOf(code)
    for (const canary of [EMAIL, CARD, CARD.replaceAll(' ', ''), 'person@example', 'canary.person'])
      expect(text).not.toContain(canary)
    expect(text).toMatch(/EMAIL_\d|CARD_\d|done|left out/)
    expect(progress.join('\n')).not.toContain('canary.person')
  })

  it('stands as a token where it was, the same each time', async () => {
    expect(await bridge.run('print(email, card, email)')).toBe('[EMAIL_1] [CARD_1] [EMAIL_1]')
  })

  it('can have a pattern of the user', async () => {
    expect(await bridge.run('print("TCK-" + "123456", "TCK-" + "12345")')).toBe('[TICKET_1] TCK-12345')
  })

  it('is what code computes with, and what a server gets for its token in an argument and in code', async () => {
    expect(await bridge.run('(len(email), email.split("@")[1], len("[EMAIL_1]"))')).toBe(
      `(${EMAIL.length}, 'example.com', ${EMAIL.length})`,
    )
    const write = `return require('fs').appendFileSync('${journal}', '`
    await bridge.run(`await mcp_files.run(code="${write}literal [EMAIL_1];')")`)
    await bridge.run(`token = "[" + "CARD_1]"\nawait mcp_files.run(code="${write}" + token + ";')")`)
    expect(readFileSync(journal, 'utf8')).toBe(`literal ${EMAIL};${CARD};`)
  })

  it('does not reach the model in resources: kept output, artifacts and their names', async () => {
    const { resources } = await bridge.client.listResources()
    expect(JSON.stringify(resources)).not.toContain('canary.person')
    const saved = resources.find(({ mimeType }) => mimeType === 'text/plain')!
    const { contents } = await bridge.client.readResource({ uri: saved.uri })
    expect(contents).toMatchObject([{ text: 'card [CARD_1] of [EMAIL_1]' }])
    const cut = await everythingOf('print(("x" * 50 + "\\n") * 3000, email, ("y" * 50 + "\\n") * 3000)')
    const uri = /sandbridge:\/\/output\/[\w-]+\/\d+/.exec(cut)![0]
    const kept = JSON.stringify(await bridge.client.readResource({ uri }))
    expect(kept).toContain('[EMAIL_1]')
    expect(kept).not.toContain('canary.person')
  })

  it('is told not to have been looked for in images', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const code = `class Picture:\n    def _repr_mimebundle_(self, **_):\n        return {"image/png": "${png}", "text/plain": email}\ndisplay(Picture())`
    const { content, text } = await bridge.call({ code })
    expect(content.map(({ type }) => type)).toContain('image')
    expect(text).toContain('were not searched for personal data')
    expect(text).not.toContain('canary.person')
  })
})

it.each([
  ['email', '[EMAIL_1]'],
  ['', EMAIL],
])(
  "what a server asks the client's model has tokens, and the answer goes back to it whole (MCP_BRIDGE_MASK=%s)",
  async (mask, seen) => {
    const prompt = {
      systemPrompt: `Write as ${EMAIL}`,
      messages: [textMessage('user', `Greet ${EMAIL}`)],
      maxTokens: 5,
    }
    const asked: unknown[] = []
    const asker = fixtureServer('raw.mjs', 'asks', 'sampling/createMessage', JSON.stringify(prompt))
    const asking = await openTestBridge({
      servers: { asker },
      env: { MCP_BRIDGE_MASK: mask },
      capabilities: { sampling: {} },
      prepare: (client) =>
        client.setRequestHandler('sampling/createMessage', ({ params }) => {
          asked.push(params)
          return { model: 'm', ...textMessage('assistant', `Dear ${seen}`) }
        }),
    })
    try {
      const code =
        'answer = str(await mcp_asker.echo(text="x"))\nprint(answer)\nlen(answer.split("Dear canary.person@")[1])'
      const text = await asking.run(code)
      expect(asked).toMatchObject([{ messages: [textMessage('user', `Greet ${seen}`)] }])
      expect(JSON.stringify(asked)).toContain(`Write as ${seen}`)
      expect(JSON.stringify(asked).includes(EMAIL)).toBe(mask === '')
      // The server got the value, and what it says of it is masked again.
      expect(text).toContain(`Dear ${seen}`)
      expect(text.includes(EMAIL)).toBe(mask === '')
      expect(Number(text.split('\n').at(-1))).toBeGreaterThan(0)
    } finally {
      await closeTestBridge(asking)
    }
  },
)

const textMessage = <R extends 'user' | 'assistant'>(role: R, text: string) => ({
  role,
  content: { type: 'text' as const, text },
})

it('a token of another session stands for nothing', async () => {
  const shared = await startHttpBridge({ env: { MCP_BRIDGE_MASK: 'email' } })
  const [one, other] = [await shared.connect('legacy'), await shared.connect('legacy')]
  expect(await one.run(`print("${EMAIL}", len("${EMAIL}"))`)).toBe(`[EMAIL_1] ${EMAIL.length}`)
  expect(await one.run('print(len("[EMAIL_1]"))')).toBe(String(EMAIL.length))
  expect(await other.run('print(len("[EMAIL_1]"))')).toBe(String('[EMAIL_1]'.length))
})

it('reaches the model as it is when nothing is masked: the control', async () => {
  const open = await openTestBridge({ home })
  try {
    expect(await open.run(`${read}\nprint(email, card)`)).toBe(`${EMAIL} ${CARD}`)
  } finally {
    await open.client.close()
  }
})
