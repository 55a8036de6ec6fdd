// @module-tag whole: it runs a published host of apps
// This file verifies apps in a real browser, with the published host and app sides of MCP Apps.
//   npm ci --prefix test/clients --ignore-scripts
import { createSocket } from 'node:dgram'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { expect, it, onTestFinished, type TestContext } from 'vitest'
import { launch } from '@sandbridge/page/test/support/browser-page.ts'
import { fixtureServer, type TestBridge } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { installed } from './installed.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'
import { needsWholeRun } from '@sandbridge/core/test/support/suite/needs.ts'

/** Of the specification, for a resource that declares nothing (MCP Apps 2026-01-26, Host Behavior). */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'"
const HOSTS = [
  ['with the policy of the specification', POLICY],
  ['that adds no policy', undefined],
] as const
/** An attack has it easier in the other host. */
const leaveOutPolicy = (policy?: string) => policy !== undefined && needsWholeRun()

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
async function openHost(context: TestContext, policy?: string, start?: 'insecure'): Promise<Host> {
  const script = await bundled('host.js', context)
  const hits: string[] = []
  let view = ''
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('Content-Type', 'text/html')
    if (url === '/host') return response.end('<!doctype html><link rel=icon href=data:,><body></body>')
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
  if (start === 'insecure') await page.setContent('<!doctype html><body></body>')
  else await page.goto(`${address}/host`)
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
    const file = path.join(newFolder(), 'app.html')
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

/** Frames in which the text of the script that makes them runs again. There, it connects. */
const TEXT = 'document.currentScript.text'
const ATTRIBUTE = `${TEXT}.replaceAll('&', '&amp;').replaceAll('"', '&quot;')`
const COPIES = {
  copiedScript: `'<script>' + ${TEXT} + '<\\/script>'`,
  copiedModule: `'<script type=module>' + ${TEXT} + '<\\/script>'`,
  copiedHandler: `'<img src=x: onerror="' + ${ATTRIBUTE} + '">'`,
  copiedForm: `'<form><input name=window><input name=globalThis><img src=x: onerror="' + ${ATTRIBUTE} + '"></form>'`,
  copiedLink: `'<iframe src="javascript:' + encodeURIComponent(${TEXT}) + '"></iframe>'`,
}

/** Each connects in its own way, to a STUN server or in a frame that does. */
const WAYS: Record<string, string> = {
  itself: 'connect()',
  text: `document.documentElement.insertAdjacentHTML('beforeend', frame)`,
  written: `document.write(frame)`,
  made: `child('iframe', { srcdoc: code })`,
  handler: `child('iframe', { srcdoc: '<img src=x: onerror="' + source + '">' })`,
  vector: `child('iframe', { srcdoc: '<svg onload="' + source + '">' })`,
  link: `child('iframe', { src: 'javascript:' + source })`,
  blank: `connect(add(document.createElement('iframe')).contentWindow.RTCPeerConnection)`,
  object: `connect(child('object', { data: 'about:blank' }).contentWindow.RTCPeerConnection)`,
  prefixed: `connect(webkitRTCPeerConnection)`,
  shadow: `shadow({ mode: 'closed' }).innerHTML = frame`,
  clone: `const to = shadow({ mode: 'closed', clonable: true }); to.innerHTML = frame; add(to.host.cloneNode(true))`,
  parsed: `add(document.createElement('div')).setHTMLUnsafe('<p><template shadowrootmode=closed>' + frame + '</template></p>')`,
  poisoned: `Object.prototype.attributeFilter = 1; try { shadow({ mode: 'open' }) } catch {} finally { delete Object.prototype.attributeFilter }
    roots.at(-1).shadowRoot.innerHTML = frame`,
  throwing: `const options = { mode: 'open' }; Object.defineProperty(Object.prototype, 'attributes', { configurable: true, get() { throw 0 } })
    try { shadow(options) } catch {} finally { delete Object.prototype.attributes } roots.at(-1).shadowRoot.innerHTML = frame`,
  counted: `const { length } = Object.getOwnPropertyDescriptors(NodeList.prototype); Object.defineProperty(NodeList.prototype, 'length', { configurable: true, get: () => 0 })
    add(document.createElement('p')).innerHTML = frame; setTimeout(() => Object.defineProperty(NodeList.prototype, 'length', length), 500)`,
  trapped: `const { apply } = Reflect; Reflect.apply = new Proxy(apply, { apply: () => 0 }); add(document.createElement('p')).innerHTML = frame; Reflect.apply = apply`,
  adopted: `add(document.adoptNode(new DOMParser().parseFromString(frame, 'text/html').querySelector('iframe')))`,
  fragment: `add(document.createRange().createContextualFragment(frame))`,
  script: `child('script', { text: source })`,
  attribute: `const to = document.createElement('img'); to.setAttribute('onerror', source); to.src = 'x:'; add(to)`,
  blob: `child('iframe', { src: URL.createObjectURL(new Blob([code], { type: 'text/html' })) })`,
  data: `child('iframe', { src: 'data:text/html,' + encodeURIComponent(code) })`,
  embed: `child('embed', { type: 'text/html', src: 'data:text/html,' + encodeURIComponent(code) })`,
  objectData: `child('object', { data: 'data:text/html,' + encodeURIComponent(code) })`,
  inner: `child('iframe', { srcdoc: frame.replace('<iframe', '<iframe onload=""') })`,
  ...Object.fromEntries(
    Object.entries(COPIES).map(([name, html]) => [
      name,
      `if (document.getElementById('copy') || document.URL === 'about:blank') connect()
      else child('iframe', { srcdoc: '<p id=copy>' + ${html} })`,
    ]),
  ),
}
/** In the page's text, which no script of it makes. */
const MARKUP: Record<string, (source: string) => string> = {
  frame: (source) => `<iframe srcdoc="<script>${source}</script>"></iframe>`,
  rooted: (source) =>
    `<div><template shadowrootmode="closed"><iframe srcdoc="<script>${source}</script>"></iframe></template></div>`,
  image: (source) => `<img src="x:" onerror="${source}">`,
  module: (source) => `<script type="module">${source}; function window() {}</script>`,
  hoisted: (source) => `<script>${source}; function self() {}</script>`,
  strict: (source) => `<script>'use strict'; ${source}</script>`,
}

/** A page that tries each way, to the way's own port. */
function connecting(port: (way: string) => number): string {
  const sourceOf = (way: string): string =>
    `{ const one = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${port(way)}' }] });` +
    `one.createDataChannel('x'); one.createOffer().then((offer) => one.setLocalDescription(offer)) }`
  const markup = Object.entries(MARKUP).map(([way, html]) => html(sourceOf(way)))
  const scripts = Object.entries(WAYS).map(([way, script]) => {
    const source = sourceOf(way)
    const helpers = `const source = ${JSON.stringify(source)}, code = '<script>' + source + '<\\/script>', roots = [],
      frame = '<iframe srcdoc="' + code + '"></iframe>', add = (node) => (document.documentElement.append(node), node),
      child = (tag, given) => add(Object.assign(document.createElement(tag), given)),
      shadow = (options) => (roots.push(add(document.createElement('div'))), roots.at(-1).attachShadow(options)),
      connect = (Connection = RTCPeerConnection) => { ${source.replace('RTCPeerConnection', 'Connection')} };`
    return `<script>try { (() => { ${helpers}\n${script} })() } catch {}</script>`
  })
  return [...markup, ...scripts].join('\n')
}

/** For each name, a port that counts what it gets. */
async function countingPorts(names: string[]): Promise<{ port: (name: string) => number; reached: () => string[] }> {
  const reached = new Set<string>()
  const ports = new Map<string, number>()
  for (const name of names) {
    const socket = createSocket('udp4').on('message', () => reached.add(name))
    onTestFinished(() => void socket.close())
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    ports.set(name, socket.address().port)
  }
  return { port: (name) => ports.get(name)!, reached: () => [...reached].toSorted() }
}

it.for(HOSTS)('a page reaches no other machine over WebRTC in a host %s', async ([, policy], context) => {
  leaveOutPolicy(policy)
  const { page, show, address } = await openHost(context, policy)
  const ways = [...Object.keys(MARKUP), ...Object.keys(WAYS)].toSorted()
  const { port, reached } = await countingPorts(ways)
  const bridge = await withApps()
  const html = `<!doctype html><html><body>${connecting(port)}<p id="out"></p><script>out.textContent = 'ran'</script></body></html>`
  await bridge.run(`print(runtime.show_app(${JSON.stringify(html)}))`)
  const args = { artifact: 'app-1.html' }
  const result = await bridge.client.callTool({ name: 'show_app', arguments: args })
  await show(await viewerOf(bridge), args, result)
  const app = page.frameLocator('iframe').frameLocator('iframe')
  await app.getByText('ran', { exact: true }).waitFor()
  await page.waitForTimeout(2_000)
  expect(reached()).toEqual([])

  // The same page without the viewer.
  const open = await page.context().browser()!.newPage()
  await open.route(`${address}/page`, (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await open.goto(`${address}/page`)
  await expect.poll(reached, { timeout: 10_000 }).toEqual(ways)
})

it('shows no app where the browser cannot hash its scripts', async (context) => {
  const { page, show } = await openHost(context, undefined, 'insecure')
  const bridge = await withApps()
  await bridge.run('print(runtime.show_app("<p>rows</p>"))')
  const args = { artifact: 'app-1.html' }
  await show(await viewerOf(bridge), args, await bridge.client.callTool({ name: 'show_app', arguments: args }))
  const app = page.frameLocator('iframe').frameLocator('iframe')
  await app.getByText('The app is not shown: this client does not use HTTPS.').waitFor()
})

it('runs the scripts, modules and handlers of a page in their order, in the mode of its doctype', async (context) => {
  const { page, show } = await openHost(context, POLICY)
  const bridge = await withApps()
  const html = `<!doctype html><html lang="de"><head><script>window.log = []; const first = 1</script></head>
<body onload="log.push('load'); out.textContent = log.join()"><p id="out"></p><button onclick="out.textContent = this.id" id="pressed">b</button>
<script type="module">const first = 2; log.push('module' + first + (this === undefined)); await 0; log.push('awaited')</script>
<script type="application/json" id="data">{"a": "<b>"}</script>
<script>log.push('script' + first + document.compatMode + document.documentElement.lang + JSON.parse(document.getElementById('data').text).a)</script>
</body></html>`
  await bridge.run(`print(runtime.show_app(${JSON.stringify(html)}))`)
  const args = { artifact: 'app-1.html' }
  await show(await viewerOf(bridge), args, await bridge.client.callTool({ name: 'show_app', arguments: args }))
  const app = page.frameLocator('iframe').frameLocator('iframe')
  await app.getByText('script1CSS1Compatde<b>,module2true,awaited,load', { exact: true }).waitFor()
  await app.locator('button').click()
  await app.getByText('pressed', { exact: true }).waitFor()
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
  leaveOutPolicy(policy)
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
  expect(page.url()).toBe(`${address}/host`)

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
    leaveOutPolicy(policy)
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
