// This file verifies what clients of both eras get from a bridge that serves them over HTTP: one tool, and a session that is theirs alone.
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { RUN_PYTHON_TOOL } from '../../src/server/run-python-tool.ts'
import { fixtureServer } from '../support/bridge-process.ts'
import { type Era, type HttpBridge, type HttpClient, startHttpBridge } from '../support/http-bridge.ts'
import { descendants, until } from '../support/processes.ts'

/** A conversation whose variables last, in whichever way its era has. */
class Talk {
  readonly client: HttpClient
  session: string | undefined
  readonly #era: Era

  constructor(client: HttpClient, era: Era) {
    this.client = client
    this.#era = era
  }

  async run(code: string, options: Parameters<HttpClient['call']>[1] = {}): Promise<string> {
    const { text } = await this.client.call({ code, ...(this.session && { session: this.session }) }, options)
    if (this.#era === 'legacy' || this.session) return text
    this.session = handleIn(text)
    return text.replace(/\n\[To keep.*\]$/, '')
  }
}

function handleIn(text: string): string {
  return /\[To keep these variables, pass session="([\w-]+)"\.\]$/.exec(text)![1]!
}

async function talk(bridge: HttpBridge, era: Era, options: Parameters<HttpBridge['connect']>[1] = {}): Promise<Talk> {
  return new Talk(await bridge.connect(era, options), era)
}

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  it(`a client of the ${era} era has variables that last, and does not see those of another client`, async () => {
    const bridge = await startHttpBridge()
    const [one, other] = [await talk(bridge, era), await talk(bridge, era)]
    await Promise.all([one.run('x = 20'), other.run('x = 30')])
    expect(await one.run('x + 1')).toBe('21')
    expect(await other.run('x + 1')).toBe('31')
    await other.run('open("/workspace/mine.txt", "w").write("31"); y = 1')
    expect(await one.run('import os; os.listdir("/workspace"), "y" in globals()')).toBe('([], False)')
  })

  it(`a client of the ${era} era reads all of its own output, and none of another client`, async () => {
    const bridge = await startHttpBridge({ env: { MCP_BRIDGE_OUTPUT_TOKENS: '200' } })
    const [one, other] = [await talk(bridge, era), await talk(bridge, 'legacy')]
    const text = await one.run('print("secret-of-one " * 2000)')
    const uri = /sandbridge:\/\/output\/[\w-]+\/\d+/.exec(text)![0]
    const { contents } = await one.client.client.readResource({ uri })
    expect((contents[0] as { text: string }).text.split('secret-of-one')).toHaveLength(2_001)
    await expect(other.client.client.readResource({ uri })).rejects.toThrow(/Unknown output/)
  })

  it(`a client of the ${era} era can cancel a cell, and keeps its variables`, async () => {
    const bridge = await startHttpBridge({ env: { MCP_BRIDGE_TIMEOUT: '600' } })
    const one = await talk(bridge, era)
    await one.run('count = 0')
    const controller = new AbortController()
    const running = one.run('print("on")\nwhile True: count += 1', {
      signal: controller.signal,
      onprogress: () => controller.abort(),
    })
    await expect(running).rejects.toThrow()
    // The cells of a session wait for each other: this one would wait for the ten minutes of the one before.
    expect(await one.run('count > 0')).toBe('True')
  })

  it(`a client of the ${era} era gets progress while a cell runs`, async () => {
    const bridge = await startHttpBridge()
    const one = await talk(bridge, era)
    const heard: (string | undefined)[] = []
    await one.run('import time\nfor i in range(3):\n  print("step", i)\n  time.sleep(0.3)', {
      onprogress: ({ message }) => heard.push(message),
    })
    expect(heard.join('\n')).toMatch(/step 0[\s\S]*step 2/)
  })

  it(`a client of the ${era} era is asked what a server asks while its cell calls it; another client is not`, async () => {
    const bridge = await startHttpBridge({ servers: { asker: fixtureServer('raw.mjs', 'asks', 'elicitation/create') } })
    const asked: string[] = []
    const connect = (who: string) =>
      talk(bridge, era, {
        capabilities: { elicitation: { form: {} } },
        prepare: (client) =>
          client.setRequestHandler('elicitation/create', () => {
            asked.push(who)
            return { action: 'accept', content: { choice: who } }
          }),
      })
    const [one, other] = [await connect('one'), await connect('other')]
    await other.run('"here, too"')
    const question = 'answer = await mcp_asker.echo(text="x")\nanswer'
    expect(await one.run(question)).toMatch(/'action': 'accept'.*'choice': 'one'/)
    expect(await other.run(question)).toMatch(/'action': 'accept'.*'choice': 'other'/)
    expect(asked).toEqual(['one', 'other'])
  })

  it(`a client of the ${era} era is not asked what a call of another client left behind, nor told of it in an error`, async () => {
    const bridge = await startHttpBridge({ servers: { slow: fixtureServer('raw.mjs', 'lingers') } })
    const asked: string[] = []
    const connect = (who: string) =>
      talk(bridge, era, {
        capabilities: { elicitation: { form: {} } },
        prepare: (client) =>
          client.setRequestHandler('elicitation/create', ({ params }) => {
            asked.push(`${who}: ${params.message}`)
            return { action: 'accept', content: {} }
          }),
      })
    const [one, other] = [await connect('one'), await connect('other')]
    const linger = `
import asyncio
try:
    await asyncio.wait_for(mcp_slow.linger(text="s3cret of one"), 2)
except TimeoutError:
    print("given up")`
    // The control: while the server is at work for one client only, that one is asked.
    expect(await one.run('await mcp_slow.next(text="x")')).toContain('accept')
    expect(asked.splice(0)).toEqual(["one: MCP server 'slow' asks: about nothing"])
    expect(await one.run(linger)).toContain('given up')
    expect(await other.run('await mcp_slow.next(text="x")')).toContain('decline')
    expect(asked).toEqual([])
    // It may be asked of the one whose call that is.
    expect(await one.run('await mcp_slow.next(text="x")')).toContain('accept')
    expect(asked).toEqual(["one: MCP server 'slow' asks: about s3cret of one"])

    const death = await other.run('await mcp_slow.die(text="y")')
    expect(death).toContain('exited with code 7')
    expect(death).not.toContain('s3cret')
    await until(() => bridge.stderr().includes('working on s3cret of one, then on y'))

    // The control: with nothing of another client left, it is told what was said, and asked.
    expect(await other.run('await mcp_slow.next(text="z")')).toContain('accept')
    const own = await other.run('await mcp_slow.die(text="z")')
    expect(own).toContain('working on nothing, then on z')
    expect(own).toContain('log of nothing')
    expect(own).not.toContain('booted up')
  })

  it(`many clients of the ${era} era are served at once`, async () => {
    const bridge = await startHttpBridge()
    const talks = await Promise.all(Array.from({ length: 4 }, () => talk(bridge, era)))
    await Promise.all(talks.map((one, index) => one.run(`x = ${index}`)))
    const values = await Promise.all(talks.map((one) => one.run('x')))
    expect(values).toEqual(['0', '1', '2', '3'])
  })
})

it('the tool of an older client is the same over HTTP as over stdio', async () => {
  const bridge = await startHttpBridge()
  const { client } = await bridge.connect('legacy')
  const listed = (await client.listTools()).tools
  expect(listed).toEqual([RUN_PYTHON_TOOL])
  expect(listed[0]!._meta).toEqual({ 'anthropic/alwaysLoad': true })
  expect(client.getInstructions()).toContain('tools of every MCP server')
  const { client: modern } = await bridge.connect('modern')
  const { tools } = await modern.listTools()
  expect(Object.keys(tools[0]!.inputSchema.properties!)).toEqual(['code', 'servers', 'timeout', 'session'])
  expect(encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(175)
})

it('the tool of an older client takes no session handle', async () => {
  const bridge = await startHttpBridge()
  const client = await bridge.connect('legacy')
  expect(await client.call({ code: '1', session: 'x' })).toMatchObject({
    isError: false,
    text: expect.stringMatching(/^1\n[^]*'session' was ignored/) as string,
  })
})

describe('the handle of a modern client’s session', () => {
  it('the session handle of a modern client comes with its first result only, in the text and in the data', async () => {
    const bridge = await startHttpBridge()
    const client = await bridge.connect('modern')
    const first = await client.call({ code: 'x = 1' })
    const session = handleIn(first.text)
    expect(first.structured).toEqual({ status: 'ok', session })
    expect(await client.call({ code: 'x', session })).toEqual({
      text: '1',
      isError: false,
      structured: { status: 'ok', value: '1' },
    })
  })

  it('the session handle of a modern client reaches a model whose client shows nothing but text', async () => {
    const bridge = await startHttpBridge()
    const client = await bridge.connect('modern', { clientName: 'claude-code' })
    const { text, structured } = await client.call({ code: 'x = 1' })
    expect(structured).toEqual({})
    expect((await client.call({ code: 'x', session: handleIn(text) })).text).toBe('1')
  })

  it('a modern client without a session handle gets a new session', async () => {
    const bridge = await startHttpBridge()
    const client = await bridge.connect('modern')
    const first = await client.call({ code: 'x = 1' })
    const second = await client.call({ code: 'x' })
    expect(second.text).toMatch(/NameError/)
    expect(handleIn(second.text)).not.toBe(handleIn(first.text))
  })

  it('an unknown session handle of a modern client is an error, and nothing runs', async () => {
    const bridge = await startHttpBridge()
    const client = await bridge.connect('modern')
    const legacy = await bridge.connect('legacy')
    for (const session of ['nonsense', 'A'.repeat(24), legacy.transport.sessionId!]) {
      const answer = await client.call({ code: 'print("it ran")', session })
      expect(answer).toMatchObject({ isError: true, structured: { error: { code: 'SESSION_UNKNOWN' } } })
      expect(answer.text).toMatch(/variables are gone[\s\S]*without `session`/)
      expect(answer.text).not.toContain('it ran')
    }
    for (const session of ['', 7, {}]) {
      expect(await client.call({ code: '1', session })).toMatchObject({
        isError: true,
        structured: { error: { code: 'TOOL_ARGUMENTS_INVALID' } },
      })
    }
  })

  it('the session of a modern client expires when it is not used for a while, with its sandbox', async (ctx) => {
    if (process.platform !== 'linux') ctx.skip('processes are read from /proc, which only Linux has')
    const bridge = await startHttpBridge({ env: { MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT: '1', MCP_BRIDGE_POOL: '0' } })
    const client = await bridge.connect('modern')
    const session = handleIn(await client.run('x = 1'))
    await until(() => descendants(bridge.child.pid!).length === 0)
    expect(await client.call({ code: 'x', session })).toMatchObject({
      isError: true,
      structured: { error: { code: 'SESSION_UNKNOWN' } },
    })
  })

  it('the session of a modern client keeps output where each cell has a sandbox of its own', async () => {
    const bridge = await startHttpBridge({ env: { MCP_BRIDGE_SESSION: 'fresh' } })
    const client = await bridge.connect('modern')
    const text = await client.run('print("kept")')
    const [, session] = /To keep the output of this cell, pass session="([\w-]+)"/.exec(text)!
    expect(await client.run('runtime.output(1)', { session })).toBe("'kept'")
  })
})

describe('sessions of older clients', () => {
  it('DELETE ends the session of an older client, and its sandbox', async (ctx) => {
    if (process.platform !== 'linux') ctx.skip('processes are read from /proc, which only Linux has')
    const bridge = await startHttpBridge({ env: { MCP_BRIDGE_POOL: '0' } })
    const [one, other] = [await bridge.connect('legacy'), await bridge.connect('legacy')]
    // What sandboxes are forked from is of both.
    const own = () => descendants(bridge.child.pid!).filter(({ command }) => !command.includes('-forks kernelBytes='))
    const sandboxes = () => own().map(({ pid }) => pid)
    await one.run('x = 1')
    const ofOne = sandboxes()
    await other.run('x = 2')
    const ofOther = sandboxes().filter((pid) => !ofOne.includes(pid))
    expect([ofOne.length, ofOther.length].every(Boolean)).toBe(true)
    await one.transport.terminateSession()
    await until(() => !sandboxes().some((pid) => ofOne.includes(pid)))
    expect(sandboxes()).toEqual(expect.arrayContaining(ofOther))
    await expect(one.run('x')).rejects.toThrow()
    expect(await other.run('x')).toBe('2')
  })

  it('an older client can cancel its cell while that waits for the user’s answer', async () => {
    const bridge = await startHttpBridge({ servers: { asker: fixtureServer('raw.mjs', 'asks', 'elicitation/create') } })
    const controller = new AbortController()
    const one = await talk(bridge, 'legacy', {
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', () => {
          controller.abort()
          return new Promise<never>(() => {})
        }),
    })
    await one.run('x = 1')
    await expect(one.run('await mcp_asker.echo(text="x")', { signal: controller.signal })).rejects.toThrow()
    expect(await one.run('x')).toBe('1')
  })

  it('the session id of an older client does not open its session without the token', async () => {
    const bridge = await startHttpBridge()
    const client = await bridge.connect('legacy')
    await client.run('x = 1')
    const send = (token: string) =>
      fetch(bridge.url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-session-id': client.transport.sessionId!,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 99, method: 'tools/list' }),
      }).then(({ status }) => status)
    expect(await send(`${bridge.token}x`)).toBe(401)
    expect(await send(bridge.token)).toBe(200)
  })

  it('the sessions of older clients are limited in number, and none is ended while it is used', async () => {
    const bridge = await startHttpBridge({ env: { MCP_BRIDGE_HTTP_SESSIONS: '1' } })
    const one = await bridge.connect('legacy')
    await one.run('x = 1')
    await expect(bridge.connect('legacy')).rejects.toThrow(/MCP_BRIDGE_HTTP_SESSIONS/)
    const modern = await bridge.connect('modern')
    expect(await modern.call({ code: '1' })).toMatchObject({ structured: { error: { code: 'SESSION_LIMIT' } } })
    expect(await one.run('x')).toBe('1')
    await one.transport.terminateSession()
    expect(await modern.run('1')).toMatch(/^1/)
  })
})

it('a modern client that drops its connection interrupts its cell', async () => {
  const bridge = await startHttpBridge()
  const one = await talk(bridge, 'modern')
  await one.run('state = "idle"')
  const dropped = new AbortController()
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    progressToken: 1,
  }
  const code = `
import time
state = "running"
print("on", flush=True)
try:
    time.sleep(25)
    state = "finished"
except KeyboardInterrupt:
    state = "interrupted"`
  const params = { name: 'run_python', arguments: { code, session: one.session }, _meta: meta }
  const response = await fetch(bridge.url, {
    method: 'POST',
    signal: dropped.signal,
    headers: {
      authorization: `Bearer ${bridge.token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'run_python',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const reader = response.body!.getReader()
  for (let heard = ''; !heard.includes('on');) heard += Buffer.from((await reader.read()).value ?? []).toString()
  dropped.abort()
  expect(await one.run('state')).toBe("'interrupted'")
})

it('a modern client that drops its connection in its first call leaves no sandbox behind', async (ctx) => {
  if (process.platform !== 'linux') ctx.skip('processes are read from /proc, which only Linux has')
  const bridge = await startHttpBridge({ env: { MCP_BRIDGE_POOL: '0' } })
  const client = await bridge.connect('modern')
  const controller = new AbortController()
  const running = client.call(
    { code: 'print("on")\nwhile True: pass' },
    { signal: controller.signal, onprogress: () => controller.abort() },
  )
  await expect(running).rejects.toThrow()
  await until(() => descendants(bridge.child.pid!).length === 0)
})

it('a cell is not run again when its client never answers a question', async () => {
  const bridge = await startHttpBridge()
  const client = await bridge.connect('modern')
  const meta = { requestState: 'no-such-run', inputResponses: {} }
  const result = await client.client.request({
    method: 'tools/call',
    params: { name: 'run_python', arguments: { code: 'print("it ran")' }, ...meta },
  } as never)
  expect(JSON.stringify(result)).toMatch(/has ended/)
  expect(JSON.stringify(result)).not.toContain('it ran')
})

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it(`${signal} ends a busy bridge over HTTP, with every child`, async (ctx) => {
    if (process.platform !== 'linux') ctx.skip('processes are read from /proc, which only Linux has')
    const bridge = await startHttpBridge({ servers: { stubborn: fixtureServer('raw.mjs', 'ignores-signals') } })
    const [one, two] = [await talk(bridge, 'legacy'), await talk(bridge, 'modern')]
    await one.run('await mcp_stubborn.echo(text="x")')
    await two.run('1')
    let isOn = false
    // Its client tries for a while to find the bridge again.
    one.run('print("on")\nwhile True: pass', { onprogress: () => (isOn = true) }).catch(() => {})
    await until(() => isOn)
    const children = descendants(bridge.child.pid!).map(({ pid }) => pid)
    expect(children.length).toBeGreaterThanOrEqual(3)
    const exited = new Promise((resolve) => bridge.child.once('exit', resolve))
    bridge.child.kill(signal)
    await exited
    const isAlive = (pid: number) => {
      try {
        return process.kill(pid, 0)
      } catch {
        return false
      }
    }
    await until(() => !children.some(isAlive))
    await expect(fetch(bridge.url)).rejects.toThrow()
  })
})
