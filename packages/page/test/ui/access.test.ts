// This file verifies access to the page: only the browser that opened a link, once, and no other user of the machine or
// the network.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { Access, cookieName } from '../../src/access.ts'
import { servePage } from '../../src/serve-page.ts'
import { launch, openLink } from '../support/browser-page.ts'
import { openObserved, sharedObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'

interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** One bridge for all tests that do not end its page: each opens it with a link of its own. */
const observed = sharedObserved()
let service: Awaited<ReturnType<typeof servePage>>
beforeAll(async () => {
  service = await servePage(observed().bridge, 0)
})
afterAll(() => service.close())
const openInBrowser = async () => openLink(await launch(), service.newLink())

function open() {
  const link = new URL(service.newLink())
  const send = (path: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const where = { host: '127.0.0.1', port: link.port, path, agent: false }
      const sent = httpRequest({ ...where, method, headers }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const redeem = () => send(link.pathname, { method: 'POST', headers: { origin: link.origin } })
  const enter = async () => {
    const { headers, body } = await redeem()
    const cookie = String(headers['set-cookie']).split(';')[0]!
    return { cookie, 'x-sandbridge-key': /#key=([\w-]+)/.exec(body)![1]! }
  }
  return { link, send, redeem, enter }
}

it('a link to the page opens once', async () => {
  const { link, send, redeem } = open()
  for (const purpose of ['prefetch', 'none']) {
    const looked = await send(link.pathname, { headers: { 'sec-purpose': purpose } })
    expect([looked.status, looked.headers['set-cookie']], 'looking at a link redeems it not').toEqual([200, undefined])
  }
  const first = await redeem()
  expect(first.status).toBe(200)
  expect(String(first.headers['set-cookie'])).toMatch(/; HttpOnly; SameSite=Strict$/)
  for (const second of [await send(link.pathname), await redeem()]) {
    expect(second.status).toBe(401)
    expect(second.headers['set-cookie']).toBeUndefined()
  }
  const cookie = String(first.headers['set-cookie']).split(';')[0]!
  expect((await send(link.pathname, { headers: { cookie } })).body, 'Back').toContain('url=/ui/"')
})

it('a link to the page is redeemed by the form of a page of the same origin only', async () => {
  const { link, send } = open()
  expect((await send(link.pathname, { method: 'POST' })).status).toBe(401)
  expect((await send(link.pathname, { method: 'POST', headers: { origin: 'http://evil.example' } })).status).toBe(403)
})

it('a page of another port cannot end the access of the page with a key that it makes up (needs Chromium)', async () => {
  const { page } = await openInBrowser()
  const { origin } = new URL(service.address)
  const other = await page.context().newPage()
  await other.goto(`${origin}/ui/#key=AAAA`)
  // The window that it opens is a page with access, too.
  await other.getByText('live', { exact: true }).waitFor()
  expect(new URL(other.url()).hash).toBe('#/now')
  await page.reload()
  await page.getByText('live', { exact: true }).waitFor()
  // Control: a link of the bridge brings a new key, also to where one is.
  await other.goto(service.newLink())
  await other.getByText('live', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('live', { exact: true }).waitFor()
})

it.each(['/ui/open/', '/ui/open/nonsense', `/ui/open/${'A'.repeat(32)}`])(
  'a link to the page cannot be made up: %s',
  async (path) => {
    expect((await open().send(path)).status).toBe(401)
  },
)

describe('an old token', () => {
  const MINUTE_MS = 60_000
  const sent = (headers: object) => ({ headers }) as IncomingMessage

  it.each([
    [9 * MINUTE_MS, true],
    [11 * MINUTE_MS, false],
  ])('an old token of a link opens the page after %i ms: %s', (age, expected) => {
    let now = 1_000
    const access = new Access(() => now)
    const link = access.newLink()
    now += age
    expect(access.redeem(link) !== undefined).toBe(expected)
  })

  it.each([
    [23 * 60 * MINUTE_MS, true],
    [25 * 60 * MINUTE_MS, false],
  ])('an old token of a page is accepted after %i ms: %s', (age, expected) => {
    let now = 1_000
    const access = new Access(() => now)
    const { cookie, key } = access.redeem(access.newLink())!
    now += age
    const request = sent({ cookie: `${cookieName(7717)}=${cookie}`, 'x-sandbridge-key': key })
    expect([access.hasCookie(request, 7717), access.hasPass(request, 7717)]).toEqual([expected, expected])
    expect(access.hasPass(request, 7718)).toBe(false)
    // Whoever listens at the page's port after it was sent both.
    expect([new Access().hasCookie(request, 7717), new Access().hasPass(request, 7717)]).toEqual([false, false])
  })
})

it('a request of the page needs the cookie and the key', async () => {
  const { send, enter } = open()
  const pass = await enter()
  const { cookie } = pass
  const status = async (headers: Record<string, string>) => (await send('/ui/api/servers', { headers })).status
  expect(await status(pass)).toBe(200)
  expect(await status({})).toBe(401)
  expect(await status({ cookie })).toBe(401)
  expect(await status({ 'x-sandbridge-key': pass['x-sandbridge-key'] })).toBe(401)
  expect(await status({ ...pass, 'x-sandbridge-key': `${pass['x-sandbridge-key'].slice(0, -1)}_` })).toBe(401)
  expect(await status({ ...pass, cookie: cookie.replace(/\.\d+\./, '.9999999999999.') })).toBe(401)
  expect((await send('/ui/')).status).toBe(401)
  expect((await send('/ui/', { headers: { cookie } })).status).toBe(200)
})

it('a program that holds more connections open than there may be does not lock the page out', async () => {
  const { send, enter, link } = open()
  const headers = await enter()
  // In a process of its own: here, both ends would count as open files.
  const strangers = `
    const { connect } = require('node:net')
    let open = 0
    for (let i = 0; i < 600; i += 1) {
      const socket = connect(${link.port}, '127.0.0.1', () => {
        socket.write('GET /ui/ HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nX-')
        setInterval(() => socket.write('a'), 200)
        if (++open === 600) process.stdout.write('open')
      })
      socket.on('error', () => {})
    }`
  const child = spawn(process.execPath, ['-e', strangers])
  onTestFinished(() => void child.kill())
  await once(child.stdout, 'data')
  for (let attempt = 0; attempt < 5; attempt += 1) expect((await send('/ui/api/servers', { headers })).status).toBe(200)
})

it.each([
  ['host', 'evil.example', 403],
  ['host', 'localhost.evil.example', 403],
  ['host', '192.168.1.5', 403],
  ['host', '127.1', 403],
  ['origin', 'https://evil.example', 403],
  ['origin', 'null', 403],
  ['origin', 'http://127.0.0.1:1', 403],
  ['origin', 'http://localhost', 403],
])('a request of the page is refused with %s %s', async (name, value, expected) => {
  const { send, enter } = open()
  const headers = { ...(await enter()), [name]: value }
  expect((await send('/ui/api/servers', { headers })).status).toBe(expected)
  expect((await send('/ui/', { headers })).status).toBe(expected)
})

it.each([
  '/ui/../package.json',
  '/ui/%2e%2e/package.json',
  '/ui/..%2fcli.js',
  '/ui/assets/../../cli.js',
  '/ui/nothing',
])('a request of the page finds no file outside of it: %s', async (path) => {
  const { send, enter } = open()
  const { status, body } = await send(path, { headers: await enter() })
  expect([307, 404]).toContain(status)
  expect(body).not.toContain('devDependencies')
})

it.each([
  ['no JSON', '{'],
  ['another type', '{"name": 7}'],
  ['an unknown server', '{"name": "nobody"}'],
  ['too much', JSON.stringify({ name: 'x'.repeat(3_000_000) })],
])('a request of the page with %s is refused, and the page is still served', async (_, body) => {
  const { send, enter } = open()
  const headers = await enter()
  expect([400, 413]).toContain((await send('/ui/api/server/restart', { method: 'POST', headers, body })).status)
  expect((await send('/ui/api/server/restart', { headers })).status).toBe(405)
  expect((await send('/ui/api/servers', { headers })).status).toBe(200)
})

it('a page in a browser has no access through the cookie alone, as a page at another port could use it', async () => {
  const { page } = await openInBrowser()
  const target = new URL(service.newLink()).origin
  const elsewhere = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>elsewhere</title>')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void elsewhere.close())
  elsewhere.unref()
  const { port } = elsewhere.address() as { port: number }
  const other = await page.context().newPage()
  await other.goto(`http://127.0.0.1:${port}/`)
  const asked = `fetch('${target}/ui/api/servers', {credentials: 'include', headers: {'x-sandbridge-key': 'x'}}).then((r) => r.status, () => 'blocked')`
  expect(await other.evaluate(asked)).toBe('blocked')
  const plain = `fetch('${target}/ui/api/servers', {credentials: 'include', mode: 'no-cors'}).then((r) => r.type, () => 'blocked')`
  expect(['opaque', 'blocked']).toContain(await other.evaluate(plain))
})

it('a page in a browser says that its bridge ended, and needs a new link when another one has its port', async () => {
  const { bridge } = await openObserved()
  const first = await servePage(bridge, 0)
  const browser = await launch()
  const { page } = await openLink(browser, first.newLink())
  const port = Number(new URL(first.newLink()).port)
  first.close()
  await page.getByText('The bridge has ended or does not answer').waitFor()
  const again = await servePage(bridge, port)
  onTestFinished(() => again.close())
  await page.getByText('no access', { exact: true }).waitFor()
  expect(await page.getByText('The bridge has ended').count()).toBe(0)
  await page.goto(again.newLink())
  await page.getByText('live', { exact: true }).waitFor()
})

it('a page in a browser shows what a cell prints as text only', async () => {
  const { page, problems } = await openInBrowser()
  await observed().run(
    [
      'print("<img src=x onerror=document.title=1><script>document.title=2</script>\\x1b[31mred\\x1b[0m\\x1b]0;title\\x07")',
      'print("\\udc80 lone, \\u202egnp.exe")',
      'import sys; sys.stdout.buffer.write(b"\\xff\\xfe raw\\n")',
      'class H:',
      '  def _repr_html_(self): return "<script>document.title=3</script>"',
      '  def __repr__(self): return "<b>plain</b>"',
      'H()',
    ].join('\n'),
  )
  const cell = page.getByRole('article').filter({ hasText: 'plain' })
  await cell.getByText('done').waitFor()
  const text = await cell.locator('.output').innerText()
  expect(text).toContain('<img src=x onerror=')
  expect(text).toContain('red')
  expect(text).not.toContain('\x1b')
  expect(text).toContain('\\u202e')
  expect(text).toContain('<b>plain</b>')
  expect(await page.title()).toBe('Now · Sandbridge')
  expect(await cell.locator('.output img, .output script, .output b').count()).toBe(0)
  expect(problems).toEqual([])
})

it('a page in a browser cuts 50 MB of output, and says so', async () => {
  const { page, problems } = await openInBrowser()
  await observed().run('for _ in range(50): print("0123456789" * 100_000)')
  const cell = page.getByRole('article')
  await cell.getByText(/more characters are not shown/).waitFor()
  expect(await cell.innerText().then((text) => text.length)).toBeLessThan(100_000)
  expect(problems).toEqual([])
})
