// @module-tag whole: a published suite
// Runs those server scenarios of the MCP conformance suite that are not about HTTP against a resident bridge, through a
// relay. The suite speaks only HTTP, so a small gateway passes each message to the relay of its session, unchanged but
// for its id.
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLineSplitter } from '../../core/src/util/bytes/line-splitter.ts'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridge-process.ts'
import { needsLinux, skip } from '@sandbridge/core/test/support/needs.ts'
import { runProgram } from '@sandbridge/core/test/support/run-program.ts'
import { missing, runSuite } from '../../../test/conformance/suite.ts'

const SCENARIOS: Record<string, string[]> = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list'],
  '2026-07-28': ['tools-list', 'sep-2164-resource-not-found'],
}

type Message = { id?: unknown; method?: string }

/** A client's end of a relay. */
class RelaySession {
  readonly #child
  readonly #waiting = new Map<number, (answer: Message) => void>()
  #count = 0

  constructor(env: Record<string, string>) {
    this.#child = spawn(process.execPath, [CLI], { env, cwd: env['HOME'], stdio: ['pipe', 'pipe', 'ignore'] })
    const lines = createLineSplitter({
      maxBytes: 1 << 20,
      onLine: (line) => {
        const message = JSON.parse(line.toString()) as Message
        if (message.method === undefined) this.#waiting.get(Number(message.id))?.(message)
      },
      onTooLong: () => {},
    })
    this.#child.stdout.on('data', (chunk: Buffer) => lines.push(chunk))
  }

  /** @returns the answer; undefined for a notification */
  async say(message: Message): Promise<Message | undefined> {
    const { id } = message
    const own = (this.#count += 1)
    this.#child.stdin.write(`${JSON.stringify(id === undefined ? message : { ...message, id: own })}\n`)
    if (id === undefined) return undefined
    const answer = await new Promise<Message>((resolve) => this.#waiting.set(own, resolve))
    return { ...answer, id }
  }

  end(): void {
    this.#child.stdin.end()
  }
}

/** @returns a URL behind which each session has a relay, and all without a session share one */
async function serveRelays(): Promise<{ url: string; residents: () => Promise<unknown[]> }> {
  const env = bridgeEnv(makeHome(), { MCP_BRIDGE_RESIDENT: 'on idle=1' })
  const sessions = new Map<string, RelaySession>()
  const gateway = createServer((request, response) => {
    const answer = async ({ method, headers }: IncomingMessage): Promise<void> => {
      if (method !== 'POST') return void response.writeHead(405).end()
      const message = JSON.parse(await text(request)) as Message
      const name = message.method === 'initialize' ? String(sessions.size) : (headers['mcp-session-id'] ?? '')
      const session = sessions.get(String(name)) ?? new RelaySession(env)
      sessions.set(String(name), session)
      const said = await session.say(message)
      if (said === undefined) return void response.writeHead(202).end()
      const more = message.method === 'initialize' ? { 'mcp-session-id': name } : {}
      return void response.writeHead(200, { 'content-type': 'application/json', ...more }).end(JSON.stringify(said))
    }
    answer(request).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const session of sessions.values()) session.end()
    gateway.closeAllConnections()
    gateway.close()
  })
  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/mcp`,
    residents: async () => JSON.parse((await runProgram(process.execPath, [CLI, 'status', '--json'], env)).stdout),
  }
}

describe.each(Object.entries(SCENARIOS))('revision %s', (revision, scenarios) => {
  it.for(scenarios)('a resident bridge passes the server scenario %s', async (scenario) => {
    if (missing !== undefined) skip(missing)
    needsLinux('a resident bridge is tried there')
    const { url, residents } = await serveRelays()
    const wanted = ['server', '--url', url, '--scenario', scenario, '--spec-version', revision]
    const checks = (await runSuite(wanted))(scenario)
    expect(checks.filter(({ status }) => status === 'FAILURE')).toEqual([])
    // A suite that checks nothing must not pass.
    expect(checks.map(({ status }) => status)).toContain('SUCCESS')
    expect(await residents()).toHaveLength(1)
  })
})
