// This file verifies a cell's output: within the budget, with a way to read the rest, and while the cell runs.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { beforeAll, describe, expect, it } from 'vitest'
import { published, type TestBridge } from '../support/bridges/bridge-process.ts'
import { sharedObserved } from '../support/bridges/observed-bridge.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'

type Progress = Parameters<NonNullable<NonNullable<Parameters<TestBridge['client']['callTool']>[1]>['onprogress']>>[0]

/** The progress notifications that a client gets while a cell runs. */
async function progressOf(bridge: TestBridge, code: string): Promise<Progress[]> {
  const seen: Progress[] = []
  const options = { timeout: 60_000, onprogress: (progress: Progress) => void seen.push(progress) }
  await bridge.client.callTool({ name: 'run_python', arguments: { code } }, options)
  return seen
}

const servers = { everything: published.everything() }
const older = sharedBridge({ servers })
const modern = sharedBridge({ era: 'modern', servers })

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  let bridge: TestBridge
  beforeAll(() => {
    bridge = era === 'legacy' ? older() : modern()
  })

  it(`a client of the ${era} era gets the ends of a long output within the budget, and all of it from Python and as a resource`, async () => {
    const { text, content, structured } = await bridge.call({
      code: 'for i in range(100_000): print(f"line {i} of the log", "ERROR" if i == 54_321 else "ok")\n"the value"',
    })
    expect(content.length).toBe(1)
    expect(structured).toEqual({})
    expect(countTokens(text)).toBeLessThanOrEqual(6_600)
    expect(countTokens(text)).toBeGreaterThan(3_000)
    expect(text).toMatch(/^line 0 of the log ok\n/)
    expect(text).toMatch(/line 99999 of the log ok\n'the value'\n\[sandbridge: Truncated\./)
    const [, cell, from, to] = /runtime\.output\((\d+)\)\[(\d+):(\d+)\]/.exec(text)!.map(Number)
    const [head, tail] = text.split(/\n\[sandbridge: .* left out: .*\]\n/)

    const inPython = `whole = runtime.output(${cell})\nprint(whole[:${from}] == head + "\\n", whole[${to}:].startswith(tail), len(whole.split("\\n")))`
    const seen = tail!.slice(0, tail!.indexOf("\n'the value'"))
    expect(await bridge.run(`head, tail = ${JSON.stringify(head)}, ${JSON.stringify(seen)}\n${inPython}`)).toBe(
      'True True 100001',
    )
    expect(await bridge.run(`runtime.grep(${cell}, "ERROR")`)).toBe('54322: line 54321 of the log ERROR')

    const uri = /sandbridge:\/\/output\/\S+\/\d+/.exec(text)![0]
    const { contents } = await bridge.client.readResource({ uri })
    expect(contents[0]).toMatchObject({ uri, mimeType: 'text/plain' })
    expect((contents[0] as { text: string }).text.split('\n').length).toBe(100_001)
    const { resourceTemplates } = await bridge.client.listResourceTemplates()
    expect(resourceTemplates.map((template) => template.uriTemplate)).toEqual(['sandbridge://output/{session}/{cell}'])
  })

  it(`a client of the ${era} era is told which output is available, and never another session’s`, async () => {
    expect(await bridge.run('runtime.output(99_999)')).toMatch(/The output of cell 99999 is not stored. Kept: cells/)
    const uri = 'sandbridge://output/6f9619ff-8b86-4d01-b42d-00cf4fc964ff/1'
    await expect(bridge.client.readResource({ uri })).rejects.toThrow(/Unknown output .* only while its session lives/)
  })

  it(`a client of the ${era} era gets what a cell prints, calls and reports while it runs`, async () => {
    const printed = await progressOf(
      bridge,
      'import time\nfor i in range(5):\n    print("step", i)\n    time.sleep(0.12)',
    )
    expect(printed.length).toBeGreaterThan(2)
    const lines = printed.flatMap(({ message = '' }) => message.split('\n'))
    expect(lines).toEqual(['step 0', 'step 1', 'step 2', 'step 3', 'step 4'])

    const code = 'import asyncio\nawait asyncio.gather(*(mcp_everything.echo(message=str(i)) for i in range(12)))'
    const messages = (await progressOf(bridge, code)).map(({ message }) => message)
    expect(messages[0]).toMatch(/^calling everything\.echo \(\d+ of \d+\)$/)

    const said = await progressOf(
      bridge,
      'for i in range(1, 4):\n    runtime.progress(i, 3, f"part {i}")\n    time.sleep(0.12)',
    )
    expect(said.at(-1)).toMatchObject({ progress: 3, total: 3, message: 'part 3' })
    const odd = await progressOf(
      bridge,
      'import time\nruntime.progress(5)\nfor i in range(6):\n    time.sleep(0.12)\n    runtime.progress(0.1 + 0.2, 1 / 3)',
    )
    for (const { progress, message } of odd) {
      expect(String(progress)).toMatch(/^5(\.00\d)?$/)
      expect(['5', '0.3 of 0.333']).toContain(message)
    }
    expect(odd.length).toBeGreaterThan(3)
    for (const seen of [printed, said]) {
      const values = seen.map(({ progress }) => progress)
      expect(values.every((value, index) => index === 0 || value > values[index - 1]!)).toBe(true)
    }
  })

  it(`a client of the ${era} era gets few updates of a progress bar that moves a thousand times, and its last state`, async () => {
    // It stays at its end for a moment: a client ignores progress that arrives together with the response.
    const bar =
      'import sys, time\nfor i in range(1001): print(f"\\r{i / 10:.0f}%", end="", file=sys.stderr, flush=True)\ntime.sleep(0.5)'
    const seen = await progressOf(bridge, bar)
    expect(seen.length).toBeLessThan(200)
    expect(seen.at(-1)!.message).toBe('100%')
    expect(await bridge.run(bar)).toBe('[stderr]\n100%')
  })

  it(`a client of the ${era} era gets no notification that it has not asked for`, async () => {
    const { text } = await bridge.call({ code: 'print("x"); runtime.progress(1)' })
    expect(text).toBe('x')
  })
})

describe('a client that is known', () => {
  const figure = 'type("F", (), {"_repr_png_": lambda self: b"\\x89PNG", "__repr__": lambda self: "<F>"})()'
  const cellsAs = (env: Record<string, string> = {}) => {
    const observed = sharedObserved({ env, unobserved: true })
    return async (clientName: string, code: string) => {
      const client = await observed().connect(clientName)
      return client.callTool({ name: 'run_python', arguments: { code } }, { timeout: 120_000 })
    }
  }
  const runAs = cellsAs()

  it.each([
    ['mcp-inspector', { status: 'ok', value: '<F>' }, { status: 'ok', value: '7' }],
    ['claude-code', undefined, undefined],
    ['a client that nobody knows', undefined, undefined],
  ])(
    'a client gets text and images, and the same as data only if it shows that: %s',
    async (clientName, ofImage, ofText) => {
      const { content, structuredContent } = await runAs(clientName, figure)
      expect(content).toEqual([
        { type: 'text', text: '<F>' },
        { type: 'image', data: 'iVBORw==', mimeType: 'image/png' },
      ])
      expect(structuredContent).toEqual(ofImage)
      expect((await runAs(clientName, '3 + 4')).structuredContent).toEqual(ofText)
    },
  )

  it.each(['Cline', 'continue-client'])(
    'a client that turns images into text gets a link and a line: %s',
    async (clientName) => {
      const { content } = await runAs(clientName, `display(${figure})\n"the value"`)
      const name = 'image-0f4636c7.png'
      expect(content).toEqual([
        {
          type: 'text',
          text: `<F>\n'the value'\n[sandbridge: This client cannot show the image to you. It is the artifact ${name}, and the user gets a link.]`,
        },
        expect.objectContaining({ type: 'resource_link', name }),
      ])
      expect(JSON.stringify(content)).not.toContain('iVBORw')
      expect((await runAs(clientName, `runtime.open_artifact("${name}").read()`)).content).toEqual([
        { type: 'text', text: String.raw`b'\x89PNG'` },
      ])
    },
  )

  // whole: a bridge of its own
  describe('with much room', { tags: ['whole'] }, () => {
    const runWithMuchRoomAs = cellsAs({ MCP_BRIDGE_OUTPUT_TOKENS: '30000' })

    it('a client that cuts results at 10,000 tokens gets no more, whatever the setting', async () => {
      const tokens = async (clientName: string) => {
        const { content } = await runWithMuchRoomAs(
          clientName,
          'for i in range(100_000): print("a line of the log", i)',
        )
        return countTokens(content.map((block) => (block.type === 'text' ? block.text : '')).join('\n'))
      }
      expect(await tokens('codex-mcp-client')).toBeLessThanOrEqual(10_000)
      expect(await tokens('other')).toBeGreaterThan(15_000)
    })
  })
})

describe('a result', () => {
  it('a result names a tool that can do what the sandbox cannot, and none that does something else', async () => {
    await older().run('await runtime.list_tools("everything")')
    const failing = (url: string) => older().run(`import urllib.error\nraise urllib.error.URLError("${url}")`)
    expect(await failing('https://api.everything.com')).toMatch(
      /Hint: The sandbox has no network.*\n {2}await mcp_everything\./,
    )
    expect(await failing('https://example.com')).toMatch(/Hint: The sandbox has no network[^\n]*reach out\.\s*$/)
  })

  it('the result of a timeout says where the time went', async () => {
    const text = await older().run('await mcp_everything.trigger_long_running_operation(duration=30, steps=2)', {
      timeout: 1,
    })
    expect(text).toMatch(/Time in tool calls: everything\.trigger_long_running_operation [\d.]+ s, still running\./)
  })

  it('a result shows the images of a tool as images', async () => {
    const { content } = await older().call({ code: 'await mcp_everything.get_tiny_image()' })
    const parts = 'for part in await mcp_everything.get_tiny_image():\n    if not isinstance(part, str): display(part)'
    const shown = await older().call({ code: parts })
    expect(shown.content.map(({ type }) => type)).toEqual(['text', 'image'])
    // Inside a list, they stand before the list's text, in which each has its place.
    expect(content.map(({ type }) => type)).toEqual(['image', 'text'])
    expect(content[1]!['text']).toMatch(/^\["Here[^\n]*, <image\/png, [\d,]+ bytes>, /)
  })

  it('a client gets the progress of the tools that a cell calls', async () => {
    const code = 'await mcp_everything.trigger_long_running_operation(duration=1, steps=4)'
    const messages = (await progressOf(older(), code)).map(({ message }) => message)
    expect(messages).toContain('everything.trigger-long-running-operation: 2 of 4')
  })
})

it('a result in toon mode has a table shorter than JSON and shorter than its repr', async () => {
  const bridge = await startBridge({ env: { MCP_BRIDGE_OUTPUT_MODE: 'toon' } })
  const text = await bridge.run('[{"id": i, "name": f"item {i}", "open": True} for i in range(50)]')
  expect(text).toContain('{id,name,open}')
  expect(countTokens(text)).toBeLessThan(600)
})
