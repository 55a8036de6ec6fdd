// The client that the MCP conformance suite drives: our upstream side, with a user who agrees to everything.
import { rm } from 'node:fs/promises'
import type { RemoteServer } from '../../packages/core/src/config/entries/server-definition.ts'
import { BridgeError } from '../../packages/core/src/errors.ts'
import { processContext } from '../../packages/core/src/config/settings/client-context.ts'
import { createLog } from '../../packages/core/src/util/log.ts'
import { UpstreamSet } from '../../packages/core/src/upstream/upstream-set.ts'
import { login } from '@sandbridge/sign-in/sign-in/login.ts'
import { createTokenStore } from '../../packages/sign-in/src/tokens/token-store.ts'
import type { UpstreamTool } from '../../packages/core/src/upstream/upstream.ts'
import { fileStore } from '../../packages/core/src/util/stores/open-stores.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A server that needs more logins cannot be satisfied. */
const MAX_LOGINS = 3

/** What the suite tells the client that it starts. */
export interface ClientRun {
  url: string
  scenario: string
  context: {
    toolCalls?: { name: string; arguments: Record<string, unknown> }[]
    client_id?: string
    client_secret?: string
    issuer?: string
  }
}

const clientInfo = { name: 'sandbridge-conformance', version: '1' }
const DOCUMENT = 'https://conformance-test.local/client-metadata.json'

/**
 * Connects, lists the tools and calls them, and logs in where the server asks for it.
 *
 * @param write gets the lines of its log
 */
export async function runClient({ url, scenario, context }: ClientRun, write: (line: string) => void): Promise<void> {
  const folder = newFolder()
  const store = createTokenStore(fileStore(folder))
  const { client_secret: clientSecret, issuer } = context
  const clientId = scenario === 'auth/basic-cimd' ? DOCUMENT : context.client_id
  const server: RemoteServer = {
    type: 'http',
    url,
    headers: {},
    ...(clientId !== undefined && {
      signIn: {
        clientId,
        ...(clientSecret !== undefined && { clientSecret }),
        ...(issuer !== undefined && { issuer }),
      },
    }),
  }
  const upstreams = new UpstreamSet({
    context: processContext(),
    definitions: [{ name: 'server', transport: server, source: { client: 'conformance', file: '' } }],
    clientInfo,
    log: createLog('debug', write),
    tokenStore: store,
    requests: () => ({ elicit: async () => ({ action: 'accept', content: {} }) }),
  })
  let loginCount = 0

  /** Runs `work`, and logs in when its error says that this is needed. */
  async function withLogin<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!BridgeError.isInstance(error) || error.code !== 'UPSTREAM_AUTH_REQUIRED' || loginCount === MAX_LOGINS)
          throw error
        loginCount += 1
        const { scope } = (error.data ?? {}) as { scope?: string }
        await login({
          name: 'server',
          server,
          store,
          clientInfo,
          env: process.env,
          signal: AbortSignal.timeout(20_000),
          // The suite's authorization servers redirect the browser at once.
          showPage: async (page) => void (await fetch(page)),
          ...(scope !== undefined && { scope }),
        })
      }
    }
  }

  try {
    const tools = await withLogin(() => upstreams.listTools('server'))
    const focal = tools.find((tool) => tool.name === 'json_schema_2020_12_tool')
    const calls = context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool) }))
    for (const call of calls) {
      // One scenario checks the schema that the client received.
      if (call.name === 'json_schema_echo') call.arguments = { schema: focal?.inputSchema }
      await withLogin(() => upstreams.callTool('server', call.name, call.arguments))
    }
  } catch (error) {
    // The server of a scenario about lists supports no calls.
    if (!String(error).includes('Method not found (-32601)')) throw error
  } finally {
    await upstreams.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Arguments of the types in a tool's schema. */
function argumentsFor({ inputSchema }: UpstreamTool): Record<string, unknown> {
  const { properties = {} } = (inputSchema ?? {}) as { properties?: Record<string, { type?: string }> }
  const samples: Record<string, unknown> = { number: 5, integer: 5, boolean: true, array: [], object: {} }
  return Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, samples[type ?? ''] ?? 'text']))
}
