import { expect, it } from 'vitest'
import { asker } from './ask.ts'

/** Asks an address for a server, and tells which requests were sent. */
async function ask(
  address: string,
  server: string | object,
  answers: (url: URL) => Response = () => Response.json({}),
) {
  const sent: { url: string; key: string | null }[] = []
  const one = typeof server === 'string' ? { url: server } : (server as { url: string })
  const asking = asker({
    server: { headers: { 'X-Api-Key': 'k', Authorization: 'Bearer t', Cookie: 'c' }, ...one },
    fetch: (url, init) => {
      const headers = new Headers(init?.headers)
      sent.push({
        url: String(url),
        key: ['x-api-key', 'cookie', 'authorization'].map((name) => headers.get(name)).join(),
      })
      return Promise.resolve(answers(new URL(url)))
    },
  })
  const answer = await asking(address).catch((error: Error) => error.message)
  return { sent, answer }
}

const PUBLIC = 'https://mcp.example/mcp'

it('headers of a definition go to the origin of its server only, and none of its Authorization header', async () => {
  expect((await ask('https://mcp.example/.well-known/x', PUBLIC)).sent).toMatchObject([{ key: 'k,c,' }])
  for (const other of ['https://as.example/token', 'https://mcp.example:8443/', 'https://mcp.example.evil.example/'])
    expect((await ask(other, PUBLIC)).sent).toMatchObject([{ key: ',,' }])
})

it('a redirect is followed within an origin only, and not for ever', async () => {
  const to = (location: string) => () => new Response(null, { status: 302, headers: { location } })
  expect((await ask('https://as.example/a', PUBLIC, to('https://evil.example/'))).sent).toHaveLength(1)
  expect((await ask('https://as.example/a', PUBLIC, to('http://127.0.0.1/'))).sent).toHaveLength(1)
  const { sent, answer } = await ask('https://as.example/a', PUBLIC, to('/a'))
  expect(sent).toHaveLength(6)
  expect(answer).toMatchObject({ status: 302 })
})

it.each([
  'http://127.0.0.1:8080/',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://a.localhost/',
  'https://0.0.0.0/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://2130706433/',
  'http://192.168.1.1/',
  'http://as.example/token',
  'file:///etc/passwd',
])(
  'a server elsewhere cannot have %s asked, and one of this machine or an entry that names it can',
  async (address) => {
    const { sent, answer } = await ask(address, PUBLIC)
    expect(sent).toEqual([])
    expect(answer).toMatch(/only a server of this machine|does not use https/)
    if (address.startsWith('file:')) return
    const named = await ask(address, { url: PUBLIC, signIn: { issuer: new URL('/', address).href } })
    expect(named.sent).toHaveLength(1)
    if (/localhost|127|\[/i.test(address)) expect((await ask(address, 'http://[::1]:3000/mcp')).sent).toHaveLength(1)
  },
)

it('a body without an end is not read to its end', async () => {
  let cancelled = false
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(32)),
        cancel: () => void (cancelled = true),
      }),
    )
  expect((await ask('https://as.example/', PUBLIC, endless)).answer).toMatchObject({ fields: undefined })
  expect(cancelled).toBe(true)
})
