// A bridge that serves HTTP, and its clients, for measuring from outside its process.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { bridgeEnv, CLI, makeHome, type ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'

export interface MeasuredBridge {
  child: ChildProcess
  exited: Promise<void>
  connect(era?: 'legacy' | 'modern'): Promise<Client>
  /** Stops it if it still runs, and removes its folder. */
  close(): Promise<void>
}

/** @param shared a folder that it shares with others */
export async function openMeasuredBridge(
  servers: Record<string, ServerEntry>,
  env: Record<string, string> = {},
  shared?: string,
): Promise<MeasuredBridge> {
  const home = shared ?? makeHome(servers)
  const child = spawn(process.execPath, [CLI, 'run', '--http', '0'], {
    env: bridgeEnv(home, { MCP_BRIDGE_SOURCES: 'mcps', MCP_BRIDGE_LOG_LEVEL: 'error', ...env }),
    cwd: home,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const close = async () => {
    if (child.exitCode === null) child.kill('SIGKILL')
    await exited
    if (shared === undefined) await rm(home, { recursive: true, force: true })
  }
  try {
    const url = new URL(await addressOf(child.stderr))
    const token = readFileSync(path.join(home, 'MCPs/.sandbridge/http-token'), 'utf8').trim()
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    const connect = async (era: 'legacy' | 'modern' = 'legacy') => {
      const mode = era === 'legacy' ? era : { pin: '2026-07-28' }
      const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode } })
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
      return client
    }
    return { child, exited, connect, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function addressOf(stderr: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stderr) {
    text += String(chunk)
    const [, url] = /Serving MCP at (\S+) .*\n/.exec(text) ?? []
    if (url) {
      stderr.resume()
      return url
    }
  }
  throw new Error(`The bridge did not start: ${text}`)
}
