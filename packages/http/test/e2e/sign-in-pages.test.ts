// This file verifies that people on other machines sign in to servers with their own browsers at the bridge's public
// address, each only for themselves: no user can sign in for another one, knowingly or not.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { freePort } from '@sandbridge/core/test/support/machine/free-port.ts'
import { type HttpBridge, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { connectAs, tokenFor } from '@sandbridge/core/test/support/bridges/http-users.ts'
import { type Protected, protectedServer } from '@sandbridge/core/test/support/servers/protected-server.ts'

async function startPublic(): Promise<{ bridge: HttpBridge; remote: Protected }> {
  const remote = await protectedServer()
  const port = await freePort()
  const bridge = await startHttpBridge({
    servers: { r: { url: remote.url } },
    address: String(port),
    env: { MCP_BRIDGE_PUBLIC_URL: `http://127.0.0.1:${port}/mcp` },
  })
  return { bridge, remote }
}

/** The parts of a browser that matter here: cookies, and headers that scripts cannot set. */
class Browser {
  readonly #cookies = new Map<string, string>()

  async open(
    url: string,
    init: { method?: 'POST'; body?: URLSearchParams; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { cookie, ...init.headers } })
    for (const one of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
      this.#cookies.set(name, value)
    }
    return response
  }

  submit(url: string, fields: Record<string, string>, origin = new URL(url).origin): Promise<Response> {
    return this.open(url, { method: 'POST', body: new URLSearchParams(fields), headers: { origin } })
  }

  /** Follows redirects to the final page. */
  async follow(response: Response): Promise<{ status: number; text: string }> {
    const location = response.headers.get('location')
    if (location === null) return { status: response.status, text: await response.text() }
    return this.follow(await this.open(location))
  }
}

const pageOf = ({ url }: HttpBridge): string => `${url}/sign-in`
const caught = (call: string) =>
  `try:\n    print(${call})\nexcept runtime.MCPError as error:\n    print(error.code, error)`
const CALL = caught('await mcp_r.echo(text="hi")')

it('a user signs in at the bridge’s public address by showing their token, and for themselves alone', async () => {
  const { bridge, remote } = await startPublic()
  const [ann, ben] = await connectAs(bridge, 'ann', 'ben')
  const page = pageOf(bridge)
  expect(await ann!.run(CALL)).toContain(`Ask the user to open ${page}?server=r in a browser`)
  const browser = new Browser()
  const form = await browser.open(`${page}?server=%3Cb%3E`)
  expect(await form.text()).toContain('&lt;b&gt;')
  expect(form.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect((await browser.submit(page, { server: 'r', token: 'wrong' })).status).toBe(403)
  expect(await (await browser.submit(page, { server: 'nowhere', token: ann!.token })).text()).toContain('nowhere')
  const begun = await browser.submit(page, { server: 'r', token: ann!.token })
  expect(begun.status).toBe(303)
  expect(await browser.follow(begun)).toMatchObject({
    status: 200,
    text: expect.stringContaining('received the response'),
  })
  expect(remote.asked.at(-1)!.redirectUri).toBe(`${page}/callback`)
  await expect.poll(() => ann!.run(CALL), { timeout: 10_000 }).toBe('hi')
  expect(await ben!.run(CALL)).toContain('UPSTREAM_AUTH_REQUIRED')
  expect(existsSync(path.join(bridge.home, 'MCPs/.sandbridge/tokens.json'))).toBe(false)
})

it('a user whose client shows links signs in without a token, at a page that says for whom', async () => {
  const { bridge } = await startPublic()
  const browser = new Browser()
  const seen: string[] = []
  const ann = await bridge.connect('legacy', {
    token: tokenFor(bridge, 'ann'),
    capabilities: { elicitation: { url: {} } },
    prepare: (client) =>
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        const { url } = params as { url: string }
        const link = new URL(url).searchParams.get('link')!
        const confirm = await (await browser.open(url)).text()
        const end = await browser.follow(await browser.submit(pageOf(bridge), { link }))
        const again = await browser.submit(pageOf(bridge), { link })
        seen.push(confirm, end.text, String(again.status))
        return { action: 'accept' as const }
      }),
  })
  expect(await ann.run(CALL)).toContain('Run the cell again')
  expect(seen[0]).toMatch(/the user ann of this bridge.*Go on only if this is you/s)
  expect(seen[1]).toContain('received the response')
  expect(seen[2]).toBe('410')
  expect(await ann.run(CALL)).toBe('hi')
})

it('a sign-in ends only in the browser that began it, once, and no other site begins one', async () => {
  const { bridge } = await startPublic()
  const [ann] = await connectAs(bridge, 'ann')
  const page = pageOf(bridge)
  const [hers, other] = [new Browser(), new Browser()]
  const fields = { server: 'r', token: ann!.token }
  expect((await hers.submit(page, fields, 'https://elsewhere.example')).status).toBe(403)
  const withoutOrigin = await hers.open(page, { method: 'POST', body: new URLSearchParams(fields) })
  expect(withoutOrigin.status).toBe(403)
  const begun = await hers.submit(page, fields)
  // Another user opens the same page of the authorization server and agrees there.
  const answer = (await other.open(begun.headers.get('location')!)).headers.get('location')!
  expect((await other.open(answer)).status).toBe(400)
  expect(await ann!.run(CALL)).toContain('UPSTREAM_AUTH_REQUIRED')
  expect((await hers.open(answer.replace(/state=[^&]*/, 'state=guessed'))).status).toBe(400)
  expect((await hers.open(answer)).status).toBe(200)
  expect((await hers.open(answer)).status).toBe(400)
  await expect.poll(() => ann!.run(CALL), { timeout: 10_000 }).toBe('hi')
})
