// This file verifies what clients of both eras get from a bridge over HTTP: one tool, and a session of their own.
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RUN_PYTHON_TOOL } from '../../../core/src/serve/mcp/tool/run-python-tool.ts'
import { fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { descendants, until } from '@sandbridge/core/test/support/machine/processes.ts'
import { type Talk, talk } from '@sandbridge/core/test/support/bridges/http-talk.ts'
import { sharedHttpBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { needsLinux } from '@sandbridge/core/test/support/suite/needs.ts'

// The time limit is long, so that a cell which is not cancelled holds up the next one.
const shared = sharedHttpBridge({
  servers: {
    asker: fixtureServer('raw.mjs', 'asks', 'elicitation/create'),
    slow: fixtureServer('raw.mjs', 'lingers'),
  },
  env: { MCP_BRIDGE_OUTPUT_TOKENS: '1000', MCP_BRIDGE_TIMEOUT: '600' },
})

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  /** Two clients of the shared bridge, each with a session of its own. */
  let one: Talk
  let other: Talk
  const asked: string[] = []
  const questions: string[] = []
  const ends: (() => Promise<void>)[] = []
  beforeAll(async () => {
    const connect = (who: string) =>
      talk(shared(), era, {
        capabilities: { elicitation: { form: {} } },
        prepare: (client) =>
          client.setRequestHandler('elicitation/create', ({ params }) => {
            asked.push(who)
            questions.push(`${who}: ${params.message}`)
            return { action: 'accept', content: { choice: who } }
          }),
        atEnd: (end) => ends.push(end),
      })
    ;[one, other] = await Promise.all([connect('one'), connect('other')])
    await Promise.all([one.run('1'), other.run('1')])
  })
  afterAll(() => Promise.all(ends.map((end) => end())))

  it(`a client of the ${era} era has variables that last, and does not see those of another client`, async () => {
    await Promise.all([one.run('x = 20'), other.run('x = 30')])
    expect(await one.run('x + 1')).toBe('21')
    expect(await other.run('x + 1')).toBe('31')
    await other.run('open("mine.txt", "w").write("31"); y = 1')
    expect(await one.run('import os; os.listdir(), "y" in globals()')).toBe('([], False)')
  })

  it(`a client of the ${era} era reads all of its own output, and none of another client`, async () => {
    const text = await one.run('print("secret-of-one " * 2000)')
    const uri = /sandbridge:\/\/output\/[\w-]+\/\d+/.exec(text)![0]
    const { contents } = await one.client.client.readResource({ uri })
    expect((contents[0] as { text: string }).text.split('secret-of-one')).toHaveLength(2_001)
    const stranger = await shared().connect('legacy')
    await expect(stranger.client.readResource({ uri })).rejects.toThrow(/Unknown output/)
  })

  it(`a client of the ${era} era can cancel a cell, and keeps its variables`, async () => {
    await one.run('count = 0')
    const controller = new AbortController()
    const running = one.run('count += 1\nprint("on")\nwhile True: pass', {
      signal: controller.signal,
      onprogress: () => controller.abort(),
    })
    await expect(running).rejects.toThrow()
    // Cells of a session run one at a time: without the cancellation, this one would wait ten minutes for the previous
    // one.
    expect(await one.run('count')).toBe('1')
  })

  it(`a client of the ${era} era gets progress while a cell runs`, async () => {
    const heard: (string | undefined)[] = []
    await one.run('import time\nfor i in range(3):\n  print("step", i)\n  time.sleep(0.3)', {
      onprogress: ({ message }) => heard.push(message),
    })
    expect(heard.join('\n')).toMatch(/step 0[\s\S]*step 2/)
  })

  it(`a client of the ${era} era is asked what a server asks while its cell calls it; another client is not`, async () => {
    asked.length = 0
    const question = 'answer = await mcp_asker.echo(text="x")\nanswer'
    expect(await one.run(question)).toMatch(/'action': 'accept'.*'choice': 'one'/)
    expect(await other.run(question)).toMatch(/'action': 'accept'.*'choice': 'other'/)
    expect(asked).toEqual(['one', 'other'])
  })

  it(`a client of the ${era} era is not asked what a call of another client left behind, nor told of it in an error`, async () => {
    const [bridge, caller, bystander] = [shared(), one, other]
    questions.length = 0
    const linger = `
import asyncio
try:
    await asyncio.wait_for(mcp_slow.linger(text="s3cret of ${era}"), 2)
except TimeoutError:
    print("given up")`
    // The control: while the server works for one client only, that client is questions.
    expect(await caller.run('await mcp_slow.next(text="x")')).toContain('accept')
    expect(questions.splice(0)).toEqual(["one: MCP server 'slow' asks: about nothing"])
    expect(await caller.run(linger)).toContain('given up')
    expect(await bystander.run('await mcp_slow.next(text="x")')).toContain('decline')
    expect(questions).toEqual([])
    // The client that made the call may be questions.
    expect(await caller.run('await mcp_slow.next(text="x")')).toContain('accept')
    expect(questions).toEqual([`one: MCP server 'slow' asks: about s3cret of ${era}`])

    const death = await bystander.run('await mcp_slow.die(text="y")')
    expect(death).toContain('exited with code 7')
    expect(death).not.toContain('s3cret')
    await until(() => bridge.stderr().includes(`working on s3cret of ${era}, then on y`))

    // The control: without leftovers of another client, it gets the log message and the question.
    expect(await bystander.run('await mcp_slow.next(text="z")')).toContain('accept')
    const own = await bystander.run('await mcp_slow.die(text="z")')
    expect(own).toContain('working on nothing, then on z')
    expect(own).toContain('log of nothing')
    expect(own).not.toContain('booted up')
  })

  it(`many clients of the ${era} era are served at once`, async () => {
    const talks = [one, other, await talk(shared(), era), await talk(shared(), era)]
    await Promise.all(talks.map((client, index) => client.run(`x = ${index}`)))
    const values = await Promise.all(talks.map((client) => client.run('x')))
    expect(values).toEqual(['0', '1', '2', '3'])
  })
})

it('the tool of an older client is the same over HTTP as over stdio', async () => {
  const bridge = shared()
  const { client } = await bridge.connect('legacy')
  const listed = (await client.listTools()).tools
  expect(listed).toEqual([{ ...RUN_PYTHON_TOOL, execution: { taskSupport: 'optional' } }])
  expect(listed[0]!._meta).toEqual({ 'anthropic/alwaysLoad': true })
  expect(client.getInstructions()).toContain('tools of every MCP server')
  const { client: modern } = await bridge.connect('modern')
  const { tools } = await modern.listTools()
  expect(Object.keys(tools[0]!.inputSchema.properties!)).toEqual(['code', 'servers', 'timeout', 'session'])
  expect(encode(JSON.stringify(tools)).length).toBeLessThanOrEqual(175)
})

it('the tool of an older client takes no session handle', async () => {
  const bridge = shared()
  const client = await bridge.connect('legacy')
  expect(await client.call({ code: '1', session: 'x' })).toMatchObject({
    isError: false,
    text: expect.stringMatching(/^1\n[^]*'session' was ignored/) as string,
  })
})

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it(
    `${signal} ends a busy bridge over HTTP, with every child`,
    { tags: signal === 'SIGINT' ? ['whole'] : [] },
    async () => {
      needsLinux('processes are read from /proc')
      const bridge = await startHttpBridge({
        ownProcess: true,
        servers: { stubborn: fixtureServer('raw.mjs', 'ignores-signals') },
      })
      const [one, two] = [await talk(bridge, 'legacy'), await talk(bridge, 'modern')]
      await one.run('await mcp_stubborn.echo(text="x")')
      await two.run('1')
      let isOn = false
      // Its client tries for a while to reconnect to the bridge.
      one.run('print("on")\nwhile True: pass', { onprogress: () => (isOn = true) }).catch(() => {})
      await until(() => isOn)
      const children = descendants(bridge.pid).map(({ pid }) => pid)
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
    },
  )
})
