// A bridge with servers that return what a test gives them, and that log the calls that act.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import {
  type BridgeOptions,
  closeTestBridge,
  fixtureServer,
  makeHome,
  openTestBridge,
  type ServerEntry,
  type TestBridge,
} from './bridge-process.ts'
import { writePermissions } from './ruled-bridge.ts'
import { startBridge } from './start-bridge.ts'

export interface TellingBridge {
  bridge: TestBridge
  home: string
  /** The calls that reached a server and act: server, tool and arguments. */
  reached: () => [string, string, Record<string, unknown>][]
  /** The questions that the client was asked. */
  questions: string[]
  /** Replaces what a server returns. */
  tell: (server: string, data: Record<string, unknown>) => void
}

export interface TellingOptions extends BridgeOptions {
  /** What each server returns, by name: see packages/core/test/fixtures/servers/teller.mjs. */
  told: Record<string, Record<string, unknown>>
  /** Names of servers whose text the user trusts. */
  trusted?: readonly string[]
  permissions?: unknown
  /** More servers. */
  others?: Record<string, ServerEntry>
  answer?: string | ((message: string) => string)
  /** Whether the client can ask its user. */
  canAsk?: boolean
}

/** Code that prints whether a call was made or denied. */
export const caught = (call: string) => `
try:
    await ${call}
    print("made")
except runtime.PermissionDenied as error:
    print("denied:", error)`

const fileOf = (folder: string, server: string, what: 'journal' | 'json') => path.join(folder, `${server}.${what}`)

/** Servers that return what they are told, by name. Their files are in `folder`. */
export function tellers(folder: string, told: TellingOptions['told']): Record<string, ServerEntry> {
  return Object.fromEntries(
    Object.entries(told).map(([server, data]) => {
      const file = fileOf(folder, server, 'json')
      writeFileSync(file, JSON.stringify(data))
      return [server, fixtureServer('teller.mjs', fileOf(folder, server, 'journal'), file)]
    }),
  )
}

/** The calls that reached the servers in `folder` and act. */
export const callsOf = (folder: string, told: TellingOptions['told']): ReturnType<TellingBridge['reached']> =>
  Object.keys(told).flatMap((server) => {
    const journal = fileOf(folder, server, 'journal')
    if (!existsSync(journal)) return []
    const lines = readFileSync(journal, 'utf8').trim().split('\n')
    return lines.map((line): [string, string, Record<string, unknown>] => {
      const [tool, args] = JSON.parse(line) as [string, Record<string, unknown>]
      return [server, tool, args]
    })
  })

export async function tellingBridge(
  options: TellingOptions,
  start: (options: BridgeOptions) => Promise<TestBridge> = startBridge,
): Promise<TellingBridge> {
  const { told, trusted = [], permissions, others, answer = 'no', canAsk = true, env, ...rest } = options
  const home = rest.home ?? makeHome()
  const mcpServers = Object.fromEntries(
    Object.entries(tellers(home, told)).map(([server, entry]) => [
      server,
      trusted.includes(server) ? { ...entry, trusted: true } : entry,
    ]),
  )
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: { ...mcpServers, ...others } }))
  if (permissions !== undefined) writePermissions(home, permissions)
  const questions: string[] = []
  const bridge = await start({
    ...rest,
    home,
    env: { MCP_BRIDGE_FLOW: 'ask', ...env },
    ...(canAsk && {
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(params.message)
          return { action: 'accept', content: { answer: typeof answer === 'string' ? answer : answer(params.message) } }
        }),
    }),
  })
  const reached = () => callsOf(home, told)
  const tell: TellingBridge['tell'] = (server, data) => void tellers(home, { [server]: data })
  return { bridge, home, reached, questions, tell }
}

/** One bridge, and one session, for several tests, each of which begins with no question and no call. */
export function sharedTellingBridge(options: TellingOptions): () => TellingBridge {
  let shared: TellingBridge
  beforeAll(async () => {
    shared = await tellingBridge(options, openTestBridge)
  })
  afterAll(() => closeTestBridge(shared.bridge))
  return () => {
    for (const server of Object.keys(options.told)) rmSync(path.join(shared.home, `${server}.journal`), { force: true })
    shared.questions.length = 0
    return shared
  }
}
