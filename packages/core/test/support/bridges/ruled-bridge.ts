// A bridge with rules, and a server that logs every call that it gets.
import { mkdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import {
  bridgeEnv,
  type BridgeOptions,
  closeTestBridge,
  fixtureServer,
  makeHome,
  openTestBridge,
  type TestBridge,
} from './bridge-process.ts'
import { runCommand } from '../machine/run-program.ts'
import { startBridge } from './start-bridge.ts'

/** Code that prints whether a call was made or denied. */
export const caught = (call: string) =>
  `try:\n    ${call}\n    print("called")\nexcept runtime.PermissionDenied as error:\n    print("denied:", error)`

/** `sandbridge approve`, which answers in a terminal. @returns what it printed */
export const approve = async (home: string, ...args: string[]) =>
  (await runCommand(['approve', ...args], bridgeEnv(home), { cwd: home })).stdout

export interface RuledBridge {
  bridge: TestBridge
  home: string
  /** The calls that reached the server: name and arguments. */
  reached: () => [string, unknown][]
  /** The questions that the client was asked. */
  questions: string[]
}

export interface RuledOptions extends BridgeOptions {
  permissions?: unknown
  /** The answers of the client's user; missing means that the client cannot ask. */
  answer?: string | ((message: string) => unknown)
}

export async function ruledBridge(
  { permissions, answer, ...options }: RuledOptions = {},
  start: (options: BridgeOptions) => Promise<TestBridge> = startBridge,
): Promise<RuledBridge> {
  const home = options.home ?? makeHome()
  const journal = path.join(home, 'journal')
  const listing = path.join(home, 'listing.json')
  const entry = fixtureServer('ruled.mjs', journal, listing)
  writeFileSync(
    path.join(home, 'MCPs/servers.json'),
    JSON.stringify({ mcpServers: { hub: entry, ...options.servers } }),
  )
  if (permissions !== undefined) writePermissions(home, permissions)
  const questions: string[] = []
  const bridge = await start({
    ...options,
    home,
    ...(answer !== undefined && {
      capabilities: { elicitation: { form: {} } },
      prepare: (client) =>
        client.setRequestHandler('elicitation/create', async ({ params }) => {
          questions.push(params.message)
          const said = typeof answer === 'string' ? answer : await answer(params.message)
          return typeof said === 'string'
            ? { action: 'accept', content: { answer: said } }
            : (said as { action: 'decline' })
        }),
    }),
  })
  const reached = () =>
    existsSync(journal)
      ? readFileSync(journal, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as [string, unknown])
      : []
  return { bridge, home, reached, questions }
}

/**
 * One bridge for several tests, each of which begins with its own rules and with no call that has reached the server.
 */
export function sharedRuledBridge(options: RuledOptions = {}): (permissions: unknown) => RuledBridge {
  let shared: RuledBridge
  beforeAll(async () => {
    shared = await ruledBridge(options, openTestBridge)
  })
  afterAll(() => closeTestBridge(shared.bridge))
  return (permissions) => {
    writePermissions(shared.home, permissions)
    rmSync(path.join(shared.home, 'journal'), { force: true })
    shared.questions.length = 0
    return shared
  }
}

export function writePermissions(home: string, permissions: unknown): void {
  mkdirSync(path.join(home, 'MCPs'), { recursive: true })
  const text = typeof permissions === 'string' ? permissions : JSON.stringify({ permissions })
  writeFileSync(path.join(home, 'MCPs/permissions.json'), text)
}
