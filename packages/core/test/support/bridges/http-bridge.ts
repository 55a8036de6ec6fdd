// Starts the built bridge on a free HTTP port of this machine, and connects real clients.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { HostedProcess } from './bridge-host/hosted-process.ts'
import {
  bridgeEnv,
  canBeHosted,
  CLI,
  makeHome,
  PLAIN_CLI,
  type RemoteEntry,
  type ServerEntry,
} from './bridge-process.ts'
import { linkCode, WARM_CACHES } from '../sandboxes/warm-files.ts'

export type Era = 'legacy' | 'modern'

interface ConnectOptions {
  token?: string
  capabilities?: ClientCapabilities
  prepare?: (client: Client) => void
  clientName?: string
  /** Of the address, such as `tools=direct`. */
  query?: string
  /** Gets what closes the client: with the test, unless several share it. */
  atEnd?: (end: () => Promise<void>) => void
}

export interface Answer {
  text: string
  isError: boolean
  structured: Record<string, unknown>
}

/** One client, with methods that call run_python. */
export class HttpClient {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
  /** The token it sends to the bridge. */
  readonly token: string

  constructor(client: Client, transport: StreamableHTTPClientTransport, token: string) {
    this.client = client
    this.transport = transport
    this.token = token
  }

  async call(args: Record<string, unknown>, options: Parameters<Client['callTool']>[1] = {}): Promise<Answer> {
    const result = await this.client.callTool({ name: 'run_python', arguments: args }, { timeout: 120_000, ...options })
    const text = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
    return {
      text,
      isError: result.isError === true,
      structured: (result.structuredContent ?? {}) as Record<string, unknown>,
    }
  }

  async run(
    code: string,
    args: Record<string, unknown> = {},
    options: Parameters<Client['callTool']>[1] = {},
  ): Promise<string> {
    return (await this.call({ code, ...args }, options)).text
  }
}

export class HttpBridge {
  readonly home: string
  readonly child: ChildProcess | HostedProcess
  readonly url: string
  readonly token: string
  readonly stderr: () => string

  constructor(parts: Pick<HttpBridge, 'home' | 'child' | 'url' | 'token' | 'stderr'>) {
    this.home = parts.home
    this.child = parts.child
    this.url = parts.url
    this.token = parts.token
    this.stderr = parts.stderr
  }

  get pid(): number {
    if (this.child instanceof HostedProcess) throw new Error('Only a bridge with `ownProcess` has an id.')
    return this.child.pid!
  }

  /** A new client for each call. */
  async connect(
    era: Era,
    {
      token = this.token,
      capabilities = {},
      prepare,
      // It gets results as data, too.
      clientName = 'inspector-cli',
      query = '',
      atEnd = onTestFinished,
    }: ConnectOptions = {},
  ) {
    const transport = new StreamableHTTPClientTransport(new URL(query && `?${query}`, this.url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    })
    const client = new Client(
      { name: clientName, version: '1' },
      { capabilities, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
    )
    prepare?.(client)
    await client.connect(transport)
    atEnd(() => client.close())
    return new HttpClient(client, transport, token)
  }
}

export interface HttpBridgeOptions {
  servers?: Record<string, ServerEntry | RemoteEntry>
  env?: Record<string, string>
  /** The value of `--http`. */
  address?: string
  /** Further arguments of the command line. */
  args?: string[]
  /** An existing home folder. */
  home?: string
  /** As of a bridge over stdio. */
  ownProcess?: boolean
  /** Prepares the home folder before the bridge starts. */
  prepareHome?: (home: string) => void
}

/** `atEnd` gets what ends the bridge: with the test, unless several share it. */
export async function startHttpBridge(
  {
    servers = {},
    env = {},
    address = '0',
    args = [],
    home = makeHome(servers),
    ownProcess = false,
    prepareHome,
  }: HttpBridgeOptions = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<HttpBridge> {
  prepareHome?.(home)
  const words = ['run', '--http', address, ...args]
  const place = { env: bridgeEnv(home, env), cwd: home }
  const child =
    ownProcess || !canBeHosted(place.env)
      ? spawn(process.execPath, [CLI, ...words], { ...place, stdio: ['ignore', 'ignore', 'pipe'] })
      : new HostedProcess({ cli: PLAIN_CLI, args: words, ...place })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  atEnd(async () => {
    child.kill('SIGTERM')
    await exited
    linkCode(path.join(home, 'cache'), WARM_CACHES)
    // A bridge that a host plays may finish a write after its end.
    await rm(home, { recursive: true, force: true, maxRetries: 10 })
  })
  let stderr = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
      const [, found] = /Serving MCP at (\S+) .*\n/.exec(stderr) ?? []
      if (found) resolve(found)
    })
    void exited.then(() => reject(new Error(`The bridge did not start: ${stderr}`)))
  })
  const token =
    env['MCP_BRIDGE_HTTP_TOKEN'] ?? readFileSync(path.join(home, 'MCPs/.sandbridge/http-token'), 'utf8').trim()
  return new HttpBridge({ home, child, url, token, stderr: () => stderr })
}
