// This file verifies that the model never reads a masked value, on any way out of a cell, while code and servers use
// the real values.
import { writeFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bridgeEnv,
  closeTestBridge,
  fixtureServer,
  makeHome,
  openTestBridge,
  ROOT,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

const EMAIL = 'canary.person@example.com'
const CARD = '4111 1111 1111 1111'
const home = makeHome({ files: fixtureServer('intruder.mjs') })
/** In code, a backslash of Windows would begin an escape sequence. */
const inHome = (name: string): string => path.join(home, name).replaceAll('\\', '/')
const journal = inHome('journal')
const data = inHome('data.json')
const read = `data = await mcp_files.run(code="return require('fs').readFileSync('${data}', 'utf8')")\nemail, card = data["email"], data["card"]`
const mask = [{ name: 'ticket', pattern: 'TCK-[0-9]{6}' }]
const writeRules = (of: string): void => writeFileSync(path.join(of, 'MCPs/permissions.json'), JSON.stringify({ mask }))
const progress: string[] = []
let bridge: TestBridge

beforeAll(async () => {
  writeFileSync(data, JSON.stringify({ email: EMAIL, card: CARD }))
  writeRules(home)
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
  ['a record whose text has a line break before it', 'print({"note": f"to\\n{email}\\t{card}"})'],
  ['JSON of such a record', 'import json\nprint(json.dumps(json.dumps({"note": f"to\\n{email}\\n{card}"})))'],
  ['the value of such an expression', '[f"to\\n{email}\\n{card}"]'],
  ['the value of the last expression', '{"email": email, email: [card]}'],
  ['a display', 'display({"to": email})'],
  ['an error with its traceback and the values of its line', 'raise ValueError(f"no account for {email} and {card}")'],
  ['an error of a name', 'data[email]'],
  ['a message of a tool', 'await mcp_files.run(code="throw new Error(\'no " + email + "\')")'],
  ['progress', 'runtime.progress(1, 2, f"at {email}")\nimport time\ntime.sleep(0.3)\nprint("done")'],
  ['an artifact with its name', 'runtime.save_artifact(f"for {email}.txt", f"card {card} of {email}")'],
  [
    'an artifact whose name is encoded in its address',
    'runtime.save_artifact(f"{card} ä {email}.txt", f"card {card} of {email}")',
  ],
  ['output that is cut', 'print(("x" * 50 + "\\n") * 3000, email, ("y" * 50 + "\\n") * 3000)'],
]

it.each(CHANNELS)('a masked value does not reach the model in %s', async (_, code) => {
  const text = await everythingOf(code)
  for (const canary of [EMAIL, CARD, CARD.replaceAll(' ', ''), '1111%20', 'person@example', 'canary.person'])
    expect(text).not.toContain(canary)
  expect(text).toMatch(/EMAIL_\d|CARD_\d|done|left out/)
  expect(progress.join('\n')).not.toContain('canary.person')
})

it('a masked value is shown as a token, the same each time', async () => {
  expect(await bridge.run('print(email, card, email)')).toBe('[EMAIL_1] [CARD_1] [EMAIL_1]')
})

it('a masked value after a line break has the same token in what shows the break as an escape', async () => {
  const code = 'import json\nprint(email)\nprint([f"to\\n{email}"], json.dumps(f"\\n{email}"))'
  expect(await bridge.run(code)).toBe(`[EMAIL_1]\n${String.raw`['to\n[EMAIL_1]'] "\n[EMAIL_1]"`}`)
})

it('a masked value can have a pattern of the user', async () => {
  expect(await bridge.run('print("TCK-" + "123456", "TCK-" + "12345")')).toBe('[TICKET_1] TCK-12345')
})

it('a masked value is computed with in code, and reaches a server for its token in an argument and in code', async () => {
  expect(await bridge.run('(len(email), email.split("@")[1], len("[EMAIL_1]"))')).toBe(
    `(${EMAIL.length}, 'example.com', ${EMAIL.length})`,
  )
  const write = `return require('fs').appendFileSync('${journal}', '`
  await bridge.run(`await mcp_files.run(code="${write}literal [EMAIL_1];')")`)
  await bridge.run(`token = "[" + "CARD_1]"\nawait mcp_files.run(code="${write}" + token + ";')")`)
  expect(readFileSync(journal, 'utf8')).toBe(`literal ${EMAIL};${CARD};`)
})

it('a masked value does not reach the model in resources: kept output, artifacts and their names', async () => {
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

it('a masked value does not reach the model in what a saved tool says of itself', async () => {
  expect(await bridge.run('print(email)')).toBe('[EMAIL_1]')
  await bridge.run('def mail_them(to="[EMAIL_1]"):\n    """Mails [EMAIL_1]."""\nruntime.save_tool(mail_them)')
  const uri = 'resource://mcp-server-code-execution-mode/capabilities'
  const text = JSON.stringify(await bridge.client.readResource({ uri }))
  expect(text).toContain('Mails [EMAIL_1]')
  expect(text).not.toContain('canary.person')
})

it('images are reported as not searched for masked values', async () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const code = `class Picture:\n    def _repr_mimebundle_(self, **_):\n        return {"image/png": "${png}", "text/plain": email}\ndisplay(Picture())`
  const { content, text } = await bridge.call({ code })
  expect(content.map(({ type }) => type)).toContain('image')
  expect(text).toContain('were not searched for personal data')
  expect(text).not.toContain('canary.person')
})

it.each([
  ['email', '[EMAIL_1]'],
  ['', EMAIL],
])(
  "a sampling request of a server reaches the client's model masked, and its answer goes back unmasked (MCP_BRIDGE_MASK=%s)",
  async (kinds, seen) => {
    const prompt = {
      systemPrompt: `Write as ${EMAIL}`,
      messages: [textMessage('user', `Greet ${EMAIL}`)],
      maxTokens: 5,
    }
    const asked: unknown[] = []
    const asker = fixtureServer('raw.mjs', 'asks', 'sampling/createMessage', JSON.stringify(prompt))
    const asking = await openTestBridge({
      servers: { asker },
      env: { MCP_BRIDGE_MASK: kinds },
      prepareHome: writeRules,
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
      expect(JSON.stringify(asked).includes(EMAIL)).toBe(kinds === '')
      // The server got the value, and its reply is masked again.
      expect(text).toContain(`Dear ${seen}`)
      expect(text.includes(EMAIL)).toBe(kinds === '')
      expect(Number(text.split('\n').at(-1))).toBeGreaterThan(0)
      // Control: a pattern alone masks nothing else.
      if (kinds === '') expect(await asking.run(`print("${EMAIL}", "${CARD}")`)).toBe(`${EMAIL} ${CARD}`)
    } finally {
      await closeTestBridge(asking)
    }
  },
)

const textMessage = <R extends 'user' | 'assistant'>(role: R, text: string) => ({
  role,
  content: { type: 'text' as const, text },
})

it('files are reported as not searched for masked values, and pass unchanged', async () => {
  const { text } = await bridge.call({ code: 'runtime.save_artifact("raw.bin", b"\\x00\\xff" + email.encode())' })
  expect(text).toContain('files were not searched for personal data')
  const { resources } = await bridge.client.listResources()
  const { contents } = await bridge.client.readResource({ uri: resources.find(({ name }) => name === 'raw.bin')!.uri })
  expect(
    Buffer.from((contents[0] as { blob: string }).blob, 'base64')
      .subarray(2)
      .toString(),
  ).toBe(EMAIL)
})

it('a masked value is not found in base64, as the documentation says', async () => {
  expect(await bridge.run('import base64\nprint(base64.b64encode(email.encode()).decode())')).toBe(
    Buffer.from(EMAIL).toString('base64'),
  )
  const documented = readFileSync(path.join(ROOT, 'docs/masking.md'), 'utf8')
  expect(documented.split('## What is not caught')[1]).toMatch(/base64/)
})

// whole: a bridge over HTTP
it('a masked value is not put back for a token of another session', { tags: ['whole'] }, async () => {
  const shared = await startHttpBridge({
    servers: { files: fixtureServer('intruder.mjs') },
    env: { MCP_BRIDGE_MASK: 'email' },
  })
  const [mine, theirs] = [await shared.connect('legacy'), await shared.connect('legacy')]
  const echo = "await mcp_files.run(code=\"return Buffer.from('[EMAIL_1]').toString('hex')\")"
  expect(await theirs.run(`print("their.own" + "@x.example")`)).toBe('[EMAIL_1]')
  expect(await theirs.run(echo)).toContain(Buffer.from('their.own@x.example').toString('hex'))
  expect(await mine.run(echo)).toContain(Buffer.from('[EMAIL_1]').toString('hex'))
  expect(await mine.run('len("[EMAIL_1]"), len("[EMAIL" + "_1]")')).toBe('(9, 9)')
})

it(
  'a resource that is read between sessions has tokens that no session takes for another value',
  { tags: ['whole'] },
  async () => {
    const http = await (await startHttpBridge({ env: { MCP_BRIDGE_MASK: 'email' } })).connect('modern')
    const { client } = http
    const own = async (name: string) => {
      const { text, structured } = await http.call({ code: `value = "${name}" + "@x.example"\nprint(value)` })
      expect(text).toContain('[EMAIL_1]')
      return String(structured['session'])
    }
    const alices = await own('alice')
    const bobs = await own('bob')
    const saved = await http.run('runtime.save_artifact(f"{value} a.txt", f"write to {value}")', { session: alices })
    await http.run('runtime.save_artifact("bob.txt", f"write to {value}")', { session: bobs })
    const { resources } = await client.listResources()
    const reading = async (uri: string) => (await client.readResource({ uri })).contents[0] as { text: string }
    const [ofAlice, ofBob] = [' a.txt', 'bob.txt'].map((name) => resources.find((one) => one.name.endsWith(name))!)
    const tokens = [(await reading(ofAlice!.uri)).text, (await reading(ofBob!.uri)).text]
    expect(tokens).toEqual(['write to [EMAIL_SHARED_1]', 'write to [EMAIL_SHARED_2]'])
    expect(ofAlice!.name).toBe('[EMAIL_SHARED_1] a.txt')
    for (const session of [alices, bobs])
      expect(await http.run(`len("${tokens[0]}"), len("${tokens[1]}")`, { session })).toBe('(25, 25)')
    // The address in a cell's result has a token of its session.
    const ofCell = /sandbridge:\/\/artifact\/[^\s")]+/.exec(saved)?.[0]
    expect(ofCell).toContain('EMAIL_1')
    expect((await reading(ofCell!)).text).toBe(tokens[0])
  },
)

// whole: a bridge and an endpoint of its own
describe('a name that an endpoint finds', { tags: ['whole'] }, () => {
  let works = true
  const endpoint = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      response.statusCode = works ? 200 : 500
      const { text } = JSON.parse(Buffer.concat(parts).toString()) as { text: string }
      const found = [...text.matchAll(/Ada Lovelace/g)].map(({ index, 0: name }) => {
        const start = Array.from(text.slice(0, index)).length
        return { start, end: start + name.length, entity_type: 'PERSON', score: 0.9 }
      })
      response.setHeader('content-type', 'application/json').end(JSON.stringify(found))
    })
  })
  let named: TestBridge
  beforeAll(async () => {
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`
    const servers = { files: fixtureServer('intruder.mjs') }
    named = await openTestBridge({ servers, env: { MCP_BRIDGE_MASK: `email endpoint=${url}` } })
    await named.run('name = "Ada " + "Lovelace"')
  })
  afterAll(async () => {
    endpoint.close()
    await closeTestBridge(named)
  })
  const everything = async (code: string): Promise<string> => {
    works = true
    const updates: unknown[] = []
    const result = await named.client.callTool(
      { name: 'run_python', arguments: { code } },
      { timeout: 120_000, onprogress: (update) => updates.push(update) },
    )
    return JSON.stringify([result, updates])
  }

  it.each([
    ['printed text', 'print("😀", name, "a@x.example")'],
    ['the value of the last expression', '{name: [name]}'],
    ['a display', 'display({"to": name})'],
    ['an error', 'raise ValueError(f"no account for {name}")'],
    ['progress', 'runtime.progress(1, 2, f"at {name}")\nimport time\ntime.sleep(0.3)\nprint(name)'],
    ['an artifact with its name', 'runtime.save_artifact(f"for {name}.txt", name)'],
  ])('a name that an endpoint finds does not reach the model in %s', async (_, code) => {
    const text = await everything(code)
    expect(text).not.toContain('Lovelace')
    expect(text).toContain('[PERSON_1]')
  })

  it('a name that an endpoint finds is put back in code and in arguments', async () => {
    works = true
    expect(await named.run('len("[PERSON_1]")')).toBe('12')
    const hex = "await mcp_files.run(code=\"return Buffer.from('[PERSON_1]').toString('hex')\")"
    expect(await named.run(hex)).toContain(Buffer.from('Ada Lovelace').toString('hex'))
  })

  it('a name that an endpoint finds does not reach the model in resources', async () => {
    works = true
    const { resources } = await named.client.listResources()
    expect(JSON.stringify(resources)).not.toContain('Lovelace')
    const saved = resources.find(({ mimeType }) => mimeType === 'text/plain')!
    expect((await named.client.readResource({ uri: saved.uri })).contents).toMatchObject([{ text: '[PERSON_1]' }])
    works = false
    await expect(named.client.readResource({ uri: saved.uri })).rejects.toThrow('could not be searched for names')
    await expect(named.client.listResources()).rejects.toThrow('could not be searched for names')
  })

  it('all output is withheld when the endpoint for names does not work, and the model is told that the cell has run', async () => {
    works = false
    const result = await named.client.callTool({
      name: 'run_python',
      arguments: { code: 'done = name\nprint(name)\nprint("x", file=__import__("sys").stderr)\nname' },
    })
    expect(JSON.stringify(result)).not.toMatch(/Lovelace|Ada/)
    expect(JSON.stringify(result)).toContain('All output of this cell was left out')
    expect(JSON.stringify(result)).toContain('status 500')
    const failed = await named.call({ code: 'raise KeyError(name)' })
    expect(JSON.stringify(failed)).not.toMatch(/Lovelace|Ada/)
    expect(failed.isError).toBe(true)
    works = true
    expect(await named.run('print(done)')).toBe('[PERSON_1]')
  })
})

it('a command shows what a cell printed, masked, once it has ended', async () => {
  const code = `${read}\nimport sys\nprint("to", email)\nprint("of", card, file=sys.stderr)`
  const env = bridgeEnv(home, { MCP_BRIDGE_MASK: 'email,card' })
  const { stdout, stderr, code: exit } = await runCommand(['exec', '-c', code], env)
  expect(exit).toBe(0)
  expect(stdout).toMatch(/^to \[EMAIL_\w+\]\n$/)
  expect(stderr).toMatch(/of \[CARD_\w+\]/)
})
