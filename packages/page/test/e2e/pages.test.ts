// This file verifies servers that need their user to open a web page before they do what a cell asks: to sign in, or
// for their own reasons.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import {
  type BridgeOptions,
  fixtureServer,
  type RemoteEntry,
  type ServerEntry,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { sharedBridge } from '@sandbridge/core/test/support/bridges/shared-bridge.ts'
import { CLIENT, protectedServer } from '@sandbridge/core/test/support/servers/protected-server.ts'

interface Shown {
  message: string
  url: string
}

/**
 * A bridge with a client that can show links. Each test gives it servers, which the next cell has, and a user who does
 * `act` with each link.
 */
function bridgeWithUser(options: BridgeOptions, elicitation: ClientCapabilities['elicitation'] | null = { url: {} }) {
  let client: Client
  const shared = sharedBridge({
    ...options,
    capabilities: elicitation ? { elicitation } : {},
    prepare: (one) => (client = one),
  })
  return (
    mcpServers: Record<string, ServerEntry | RemoteEntry>,
    act: (url: string) => Promise<'accept' | 'decline'> = visit,
  ) => {
    const shown: Shown[] = []
    writeFileSync(path.join(shared().home, 'MCPs/servers.json'), JSON.stringify({ mcpServers }))
    if (elicitation)
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        shown.push({ message: params.message, url: 'url' in params ? params.url : '' })
        return { action: await act(shown.at(-1)!.url) }
      })
    return { bridge: shared(), shown }
  }
}

/** The user's browser follows every redirect. */
async function visit(url: string): Promise<'accept'> {
  await fetch(url)
  return 'accept'
}

const page = (...args: string[]) => ({ ...fixtureServer('raw.mjs', 'page', ...args), env: { TOKEN: 'hidden-token' } })
const call = 'await mcp_paged.echo(text="done")'
const caught =
  'import mcp.runtime\ntry:\n    await mcp_paged.echo(text="x")\nexcept mcp.runtime.MCPError as e:\n    print(e.code, e, e.hint)'

const begins = {
  legacy: bridgeWithUser({ env: { PROGRAM_SECRET: CLIENT.clientSecret, MCP_BRIDGE_LOG_LEVEL: 'debug' } }),
  modern: bridgeWithUser({ era: 'modern' }),
}
const begin = begins.legacy

describe.each(['legacy', 'modern'] as const)('with a client of the %s era that can show links', (era) => {
  it(`a page that a server wants opened is offered in its name to a client of the ${era} era, and the call continues`, async () => {
    const { bridge, shown } = begins[era]({ paged: page() })
    expect(await bridge.run(call)).toBe("'done'")
    expect(shown).toHaveLength(1)
    expect(shown[0]!.message).toBe("MCP server 'paged' asks: Allow it here.")
    expect(shown[0]!.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/page\?id=page-/)
  })

  it(`a sign-in is offered to a client of the ${era} era, and the call continues`, async () => {
    const server = await protectedServer()
    const { bridge, shown } = begins[era]({ r: { url: server.url } })
    expect(await bridge.run('await mcp_r.echo(text="done")')).toBe("'done'")
    expect(shown.map(({ message }) => message)).toEqual([expect.stringMatching(/^MCP server 'r' asks: Sign in/)])
    expect(server.counts).toEqual({ register: 1, authorize: 1, code: 1, refresh: 0, client: 0, refused: 0 })
  })
})

it('a user who signs in may take longer than the cell, and the cell continues', { tags: ['whole'] }, async () => {
  const server = await protectedServer()
  const slowly = async (url: string): Promise<'accept'> => {
    setTimeout(() => void fetch(url), 6_000)
    return 'accept'
  }
  const { bridge } = begin({ r: { url: server.url } }, slowly)
  await bridge.run('1')
  expect(await bridge.run('await mcp_r.echo(text="done")', { timeout: 4 })).toBe("'done'")
})

it('a server with client credentials asks no user, and cells never see the secret', async () => {
  const server = await protectedServer()
  const oauth = { grant: 'client_credentials', clientId: CLIENT.clientId, clientSecret: '${PROGRAM_SECRET}' }
  const { bridge, shown } = begin({ r: { url: server.url, oauth } })
  expect(await bridge.run('await mcp_r.echo(text="done")')).toBe("'done'")
  expect(server.counts).toMatchObject({ client: 1, authorize: 0 })
  server.valid.clear()
  server.twist.keepInvalid = true
  const text = await bridge.run('await mcp_r.echo(text="x")')
  expect(text).toContain("Server 'r' does not accept its client credentials. Ask the user to correct `oauth`")
  expect(text + bridge.stderr).not.toContain(CLIENT.clientSecret)
  expect(shown).toEqual([])
})

it.each([
  ['a call', 'echo', call, "'done'"],
  ['the reading of a resource', 'read_resource', 'await mcp_paged.read_resource("a://b")', "'read'"],
  ['the request for a prompt', 'get_prompt', 'await mcp_paged.get_prompt("p")', '[]'],
])('%s that continues after a page counts once for the limits of a rule', async (_what, tool, code, printed) => {
  const limited = { ...page(), permissions: { allow: [{ tool, perCell: 1 }] } }
  const { bridge, shown } = begin({ paged: limited })
  expect(await bridge.run(code)).toBe(printed)
  expect(shown).toHaveLength(1)
})

it('many calls of one cell make one offer of a page, and a no counts for all of them', async () => {
  const server = await protectedServer()
  const { bridge, shown } = begin({ r: { url: server.url } }, async () => 'decline')
  const code = `import asyncio, mcp.runtime
async def attempt():
    try:
        await mcp_r.echo(text="x")
    except mcp.runtime.MCPError as e:
        return e.code
results = await asyncio.gather(*(attempt() for _ in range(20)))
results.append(await attempt())
set(results)`
  expect(await bridge.run(code)).toBe("{'UPSTREAM_AUTH_REQUIRED'}")
  expect(shown).toHaveLength(1)
  expect(await bridge.run('await mcp_r.echo(text="x")')).toContain('sandbridge login r')
  expect(server.counts).toMatchObject({ authorize: 0, code: 0 })
})

it('a permission that the sign-in lacks is an exception that says what to run, or a link that gets it', async () => {
  const server = await protectedServer()
  let answer: 'accept' | 'decline' = 'accept'
  const { bridge, shown } = begin({ r: { url: server.url } }, async (url) => {
    if (answer === 'accept') await fetch(url)
    return answer
  })
  expect(await bridge.run('await mcp_r.echo(text="done")')).toBe("'done'")
  server.twist.neededScope = 'repo:write'
  answer = 'decline'
  const attempt =
    'import mcp.runtime\ntry:\n    print(await mcp_r.echo(text="x"))\nexcept mcp.runtime.MCPError as e:\n    print(e.code, e, e.hint)'
  const said = await bridge.run(attempt)
  expect(said).toContain("UPSTREAM_AUTH_REQUIRED Server 'r' requires more permissions than the login has: repo:write")
  expect(said).toContain('`sandbridge login r`')
  answer = 'accept'
  expect(await bridge.run('await mcp_r.echo(text="done")')).toBe("'done'")
  expect(shown).toHaveLength(3)
  expect(server.asked.at(-1)).toMatchObject({ scope: 'repo:write' })
})

it('a sign-in that is never finished ends with its cell', async () => {
  const server = await protectedServer()
  const { bridge, shown } = begin({ r: { url: server.url } }, async () => 'accept')
  const abort = new AbortController()
  const running = bridge.call({ code: 'await mcp_r.echo(text="x")' }, { signal: abort.signal })
  running.catch(() => {})
  while (shown.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  abort.abort()
  await expect(running).rejects.toThrow()
  expect(await bridge.run('"still here"')).toBe("'still here'")
})

it('wrong credentials in a header offer no sign-in, since the user has to correct them', async () => {
  const server = await protectedServer()
  const entry = { url: server.url, headers: { Authorization: 'Bearer wrong-token' } }
  const { bridge, shown } = begin({ r: entry })
  const text = await bridge.run('await mcp_r.echo(text="x")')
  expect(text).toContain('does not accept the Authorization header in its entry')
  expect(text).not.toContain('wrong-token')
  expect(shown).toEqual([])
})

describe.each([
  ['that takes forms only', { form: {} }],
  ['that takes no questions', null],
])('a client %s', (what, elicitation) => {
  const beginUnable = bridgeWithUser({}, elicitation)

  it(`a client ${what} gets an error that names the page, without secrets of the server`, async () => {
    const { bridge, shown } = beginUnable({ paged: page() })
    const text = await bridge.run(caught)
    expect(text).toMatch(
      /^UPSTREAM_LINK_REQUIRED Server 'paged' requires the user to open a page before the call of 'echo'/,
    )
    expect(text).toMatch(/Allow it here\. http:\/\/127\.0\.0\.1:\d+\/page\?id=page-\d+&token=\[redacted\]/)
    expect(text).toContain('Ask the user to open the link')
    expect(text).not.toContain('hidden-token')
    expect(shown).toEqual([])
  })
})

it('a server that always wants a page is called once more, and not for ever', async () => {
  const { bridge, shown } = begin({ paged: page('forever') })
  expect(await bridge.run(caught)).toContain('UPSTREAM_LINK_REQUIRED')
  expect(shown).toHaveLength(1)
})

it('a page that a browser must not open is not offered', async () => {
  const { bridge, shown } = begin({ paged: page('nonsense') })
  const text = await bridge.run(caught)
  expect(text).toContain('The user has to allow it (-32042)')
  expect(text).not.toContain('file:')
  expect(shown).toEqual([])
})
