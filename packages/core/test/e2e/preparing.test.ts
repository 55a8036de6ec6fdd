// @module-tag whole: it starts sandboxes without a cache
// This file verifies what a client sees while its first cell waits for a sandbox to be prepared: the progress, then the
// result or the reason of a failure.
import { describe, expect, it } from 'vitest'
import type { TestBridge } from '../support/bridges/bridge-process.ts'
import { providerOrSkip, SLIM_IMAGE } from '../support/sandboxes/engines.ts'
import { serveImage } from '../support/servers/image-registry.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { newFolder } from '../support/machine/new-folder.ts'

interface Run {
  text: string
  isError: boolean
  messages: string[]
}

async function run(bridge: TestBridge, code: string): Promise<Run> {
  const messages: string[] = []
  const result = await bridge.client.callTool(
    { name: 'run_python', arguments: { code } },
    { timeout: 120_000, onprogress: ({ message = '' }) => void (isSignOfLife(message) || messages.push(message)) },
  )
  const [block] = result.content as { text: string }[]
  return { text: block!.text, isError: result.isError === true, messages }
}

/** Sent every ten seconds, so there are some on a slow machine. */
const isSignOfLife = (message: string): boolean => message.startsWith('Running for')

function emptyFolder(): string {
  const folder = newFolder()
  // A resident writes until it ends, some time after its last client.
  return folder
}

describe.each(['legacy', 'modern'] as const)('a client of the %s era', (era) => {
  it(`a client of the ${era} era is told that the embedded sandbox is made, with every cell that waits for it, and once`, async () => {
    const bridge = await startBridge({
      era,
      env: { MCP_BRIDGE_RUNTIME: 'pyodide', MCP_BRIDGE_CACHE_DIR: emptyFolder() },
    })
    const [first, second] = await Promise.all([run(bridge, '1 + 1'), run(bridge, '2 + 2')])
    expect(first).toEqual({ text: '2', isError: false, messages: [expect.stringMatching(/^Preparing the embedded/)] })
    expect(second).toEqual({ text: '4', isError: false, messages: first.messages })
    expect((await run(bridge, '3 + 3')).messages).toEqual([])
  })
})

it('an image that is not on this machine is pulled, and the client gets the progress', async () => {
  await providerOrSkip('docker')
  const image = await serveImage(SLIM_IMAGE)
  const bridge = await startBridge({ env: { MCP_BRIDGE_RUNTIME: 'docker', MCP_BRIDGE_IMAGE: image } })
  const { text, isError, messages } = await run(bridge, "open('/etc/os-release').read().splitlines()[0]")
  expect([isError, text]).toEqual([false, expect.stringContaining('PRETTY_NAME')])
  expect(messages[0]).toBe(`Pulling ${image} with docker`)
  expect(messages.length).toBeGreaterThan(1)
  // The image exists now.
  const again = await startBridge({ env: { MCP_BRIDGE_RUNTIME: 'docker', MCP_BRIDGE_IMAGE: image } })
  expect(await run(again, '1 + 1')).toEqual({ text: '2', isError: false, messages: [] })
})

it.for(['podman', 'docker'] as const)(
  'an image that is not on this machine and cannot be pulled by %s is an error, and no cell runs',
  async (engine) => {
    await providerOrSkip(engine)
    const image = '127.0.0.1:1/sandbridge-test/none:1'
    const bridge = await startBridge({ env: { MCP_BRIDGE_RUNTIME: engine, MCP_BRIDGE_IMAGE: image } })
    const { text, isError, messages } = await run(bridge, '1 + 1')
    expect(isError).toBe(true)
    expect(text).toContain(`Image ${image} was not found and cannot be pulled: `)
    expect(text).toMatch(/connection refused/i)
    expect(text).toContain('sandbridge image build slim')
    expect(messages[0]).toBe(`Pulling ${image} with ${engine}`)
  },
)
