// This file verifies that the built commands serve the page, and that a failure to serve it does not affect clients.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, CLI, makeHome, ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'

const LINK = /http:\/\/127\.0\.0\.1:\d+\/ui\/open\/[\w-]+/

function start(args: string[], home = makeHome()): ChildProcess {
  const child = spawn(process.execPath, [CLI, ...args], { env: bridgeEnv(home), cwd: home, stdio: 'pipe' })
  onTestFinished(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  return child
}

async function outputUntil(stream: NodeJS.ReadableStream, wanted: RegExp): Promise<string> {
  let text = ''
  for await (const piece of stream) {
    text += String(piece)
    const found = wanted.exec(text)
    if (found) return found[0]
  }
  throw new Error(`The program ended, and wrote: ${text}`)
}

it.each([
  ['ui', ['ui'], 'stdout'],
  ['ui --json', ['ui', '--json'], 'stdout'],
  ['run --ui', ['run', '--ui'], 'stderr'],
  ['run --http --ui', ['run', '--http', '127.0.0.1:0', '--ui'], 'stderr'],
] as const)('sandbridge %s prints a link that opens the page', async (_, args, stream) => {
  const child = start([...args])
  const link = await outputUntil(child[stream]!, LINK)
  expect((await fetch(link)).status, 'a preview').toBe(200)
  const opened = await fetch(link, { method: 'POST', headers: { origin: new URL(link).origin } })
  expect(opened.status).toBe(200)
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!
  const page = await fetch(new URL('/ui/', link), { headers: { cookie } })
  expect(await page.text()).toContain('<title>Sandbridge</title>')
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self';/,
  )
})

it('a bridge serves its client when the port of the page is taken, and says so', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as { port: number }
  const child = start(['run', '--ui', String(port)])
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
  child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello })}\n`)
  child.stdin!.write(
    `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n${JSON.stringify(message)}\n`,
  )
  // Resolve only when the output has these words.
  await Promise.all([
    outputUntil(child.stderr!, /The page cannot be served at 127\.0\.0\.1:\d+/),
    outputUntil(child.stdout!, /run_python/),
  ])
})

it.each(['-1', '70000', 'x'])('a bridge refuses %s as the port of its page', async (port) => {
  const child = start(['ui', '--port', port])
  expect(await outputUntil(child.stderr!, /is not a port/)).toBe('is not a port')
})

it('sandbridge ui opens each page with a bridge of its own where there is no resident, and says of a port that it is taken', async () => {
  const home = makeHome()
  const first = await outputUntil(start(['ui'], home).stdout!, LINK)
  const { port } = new URL(first)
  const other = await outputUntil(start(['ui'], home).stdout!, LINK)
  expect(new URL(other).port).not.toBe(port)
  const refused = start(['ui', '--port', port], home)
  const ended = once(refused, 'exit')
  await outputUntil(refused.stderr!, /The page cannot be served at 127\.0\.0\.1:\d+[^]*Choose another port/)
  expect((await ended)[0]).toBe(2)
})

it('the built page takes at most 400 kB when it is compressed', () => {
  const files = readdirSync(path.join(ROOT, 'dist/web'), { recursive: true, withFileTypes: true })
  const sizes = files
    .filter((file) => file.isFile())
    .map((file) => gzipSync(readFileSync(path.join(file.parentPath, file.name))).length)
  expect(sizes.length).toBeGreaterThan(2)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(400_000)
})
