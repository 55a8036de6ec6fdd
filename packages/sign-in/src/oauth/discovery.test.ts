import { expect, it } from 'vitest'
import { asker } from './ask.ts'
import { discover } from './discovery.ts'

const url = 'https://mcp.example/mcp'

/** Discovers with these documents, by their addresses; all other places answer 404. */
function discovered(documents: Record<string, object>, signIn = {}) {
  const server = { url, headers: {}, signIn }
  const fetch = (address: string | URL) => {
    const document = documents[String(address)]
    return Promise.resolve(document ? Response.json(document) : new Response('', { status: 404 }))
  }
  return discover({ serverUrl: url, named: signIn, ask: asker({ fetch, server }) })
}

const RESOURCE = 'https://mcp.example/.well-known/oauth-protected-resource/mcp'
const METADATA = '/.well-known/oauth-authorization-server'
const at = (base: string, issuer = base) => ({
  issuer,
  authorization_endpoint: `${base}/authorize`,
  token_endpoint: `${base}/token`,
  registration_endpoint: `${base}/register`,
})

it('a server behind a proxy that takes its own address for one with http is reached with https', async () => {
  const base = 'http://mcp.example'
  const { server, resource } = await discovered({
    [RESOURCE]: { resource: `${base}/mcp`, authorization_servers: [base] },
    [`https://mcp.example${METADATA}`]: at(base),
  })
  expect(server).toMatchObject({
    tokenEndpoint: 'https://mcp.example/token',
    authorizationEndpoint: 'https://mcp.example/authorize',
    registrationEndpoint: 'https://mcp.example/register',
  })
  // It compares this with what it takes for its address.
  expect(resource).toBe(`${base}/mcp`)
})

it.each(['http://other.example', 'http://mcp.example:8080', 'http://mcp.example.evil.example'])(
  '%s, which is another place, is not asked',
  async (base) => {
    const documents = { [RESOURCE]: { resource: url, authorization_servers: [base] }, [`${base}${METADATA}`]: at(base) }
    await expect(discovered(documents)).rejects.toThrow('does not use https')
    const tokens = {
      [RESOURCE]: { resource: url },
      [`https://mcp.example${METADATA}`]: at(base, 'https://mcp.example'),
    }
    await expect(discovered(tokens)).rejects.toThrow('does not use https')
  },
)

it.each([
  'https://as.example/.well-known/oauth-authorization-server/tenant',
  'https://as.example/.well-known/openid-configuration/tenant',
  'https://as.example/tenant/.well-known/openid-configuration',
  'https://as.example/tenant/.well-known/oauth-authorization-server',
  'https://as.example/.well-known/oauth-authorization-server',
  'https://as.example/.well-known/openid-configuration',
])('metadata of an issuer with a path is found at %s', async (place) => {
  const base = 'https://as.example/tenant'
  const { server } = await discovered({
    [RESOURCE]: { resource: url, authorization_servers: [base] },
    [place]: at(base),
  })
  expect(server.tokenEndpoint).toBe(`${base}/token`)
})
