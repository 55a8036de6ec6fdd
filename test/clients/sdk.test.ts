// This file verifies what the MCP SDK's clients get from the bridge: version 2 in both eras of the protocol, and
// version 1 as published.
//   npm ci --prefix test/clients --ignore-scripts
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished, type TestContext } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { CELLS, IMAGE, SHOWN } from './cells.ts'
import { installed } from './installed.ts'

interface Result {
  content: { type: string; text?: string; data?: string }[]
  isError?: boolean
}

/** The common part of the package's two major versions. */
interface SdkClient {
  listTools(): Promise<{ tools: { name: string }[] }>
  run(code: string, options?: { signal?: AbortSignal; onprogress?: () => void }): Promise<Result>
}

interface FirstLine {
  Client: new (info: object) => {
    connect(transport: unknown): Promise<void>
    close(): Promise<void>
    listTools: SdkClient['listTools']
    callTool(params: object, schema: undefined, options: object): Promise<Result>
  }
  StdioClientTransport: new (server: object) => unknown
}

async function firstLine(context: TestContext): Promise<SdkClient> {
  const modules = ['index.js', 'stdio.js'].map(async (file) => {
    const found = installed(`@modelcontextprotocol/sdk/dist/esm/client/${file}`, context)
    return (await import(pathToFileURL(found).href)) as Partial<FirstLine>
  })
  const { Client, StdioClientTransport } = Object.assign({}, ...(await Promise.all(modules))) as FirstLine
  const client = new Client({ name: 'first line', version: '1' })
  onTestFinished(() => client.close())
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [CLI], env: bridgeEnv(makeHome()) }))
  return {
    listTools: () => client.listTools(),
    run: (code, options = {}) =>
      client.callTool({ name: 'run_python', arguments: { code } }, undefined, { timeout: 120_000, ...options }),
  }
}

async function secondLine(era: 'legacy' | 'modern'): Promise<SdkClient> {
  const { client } = await startBridge({ era })
  return {
    listTools: () => client.listTools(),
    run: async (code, options = {}) =>
      (await client.callTool(
        { name: 'run_python', arguments: { code } },
        { timeout: 120_000, ...options },
      )) as unknown as Result,
  }
}

const CLIENTS: [string, (context: TestContext) => Promise<SdkClient>][] = [
  ['client 2, legacy era', () => secondLine('legacy')],
  ['client 2, revision 2026-07-28', () => secondLine('modern')],
  ['sdk 1', firstLine],
]

it.for(CLIENTS)(
  'a client made with %s lists tools, runs cells, shows images, gets errors and cancels',
  async ([, open], context) => {
    const client = await open(context)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['run_python'])

    expect((await client.run(CELLS.text)).content).toEqual([{ type: 'text', text: SHOWN.text }])
    const { content } = await client.run(CELLS.image)
    expect(content).toEqual([
      { type: 'text', text: SHOWN.image },
      { type: 'image', data: IMAGE, mimeType: 'image/png' },
    ])
    const failed = await client.run(CELLS.error)
    expect([failed.isError, failed.content[0]!.text]).toEqual([true, expect.stringContaining(SHOWN.error)])

    const cancel = new AbortController()
    const busy = client.run('kept = 7\nprint("started")\nwhile True: pass', {
      signal: cancel.signal,
      onprogress: () => cancel.abort('enough'),
    })
    await expect(busy).rejects.toThrow(/enough/)
    // The cell was interrupted, and the session still has its variables.
    expect((await client.run('kept')).content[0]!.text).toBe('7')
  },
)
