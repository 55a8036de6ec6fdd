// A bridge with rules, and a server that logs every call that it gets.
import { mkdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs'
import path from 'node:path'
import { type BridgeOptions, fixtureServer, makeHome, type TestBridge } from './bridge-process.ts'
import { startBridge } from './start-bridge.ts'

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

export async function ruledBridge({ permissions, answer, ...options }: RuledOptions = {}): Promise<RuledBridge> {
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
  const bridge = await startBridge({
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

export function writePermissions(home: string, permissions: unknown): void {
  mkdirSync(path.join(home, 'MCPs'), { recursive: true })
  const text = typeof permissions === 'string' ? permissions : JSON.stringify({ permissions })
  writeFileSync(path.join(home, 'MCPs/permissions.json'), text)
}
