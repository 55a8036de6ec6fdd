// @module-tag whole: it starts many bridges over HTTP; http.test.ts has the journey
// This file verifies `run --http` with TLS and behind a proxy: how it starts, what it prints, and that it loads a
// renewed certificate.
import { renameSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { request } from 'node:https'
import path from 'node:path'
import { connect } from 'node:tls'
import { expect, it } from 'vitest'
import { bridgeEnv, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { type HttpBridge, startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { makeCertificate, type Pair } from '@sandbridge/core/test/support/machine/make-certificate.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { runHeaders } from '../support/raw-http.ts'

const FLAGS = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem']

/** Writes like programs that renew certificates: one file after the other, each atomically. */
function write(home: string, pair: Partial<Pair>): void {
  for (const [name, text] of Object.entries(pair)) {
    const file = path.join(home, `${name}.pem`)
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
}

function start(pair: Pair): Promise<HttpBridge> {
  // The files are named as seen from its folder.
  return startHttpBridge({ ownProcess: true, args: FLAGS, prepareHome: (home) => write(home, pair) })
}

/** The common name of the certificate that a new client gets. */
function servedName({ url }: HttpBridge): Promise<string> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

function tryToStart(...args: string[]) {
  const home = makeHome()
  return runCommand(['run', ...args], bridgeEnv(home))
}

it('the bridge serves a cell over TLS', async () => {
  const pair = makeCertificate()
  const bridge = await start(pair)
  expect(bridge.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/mcp$/)
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  }
  const params = { name: 'run_python', arguments: { code: '20 + 1' }, _meta: meta }
  const answer = await new Promise<string>((resolve, reject) => {
    const sent = request(
      bridge.url,
      {
        ca: pair.cert,
        method: 'POST',
        headers: runHeaders(bridge.token),
      },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString())).on('end', () => resolve(text))
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
  })
  expect(answer).toMatch(/"text":"21\b/)
})

it('the bridge uses a renewed certificate, and keeps the old one while the new one is invalid', async () => {
  const [first, second] = [makeCertificate('first'), makeCertificate('second')]
  const bridge = await start(first)
  expect(await servedName(bridge)).toBe('first')
  write(bridge.home, { cert: second.cert })
  await expect.poll(bridge.stderr, { timeout: 30_000 }).toMatch(/new certificate is not used.*mismatch/)
  expect(await servedName(bridge)).toBe('first')
  write(bridge.home, { key: second.key })
  await expect.poll(() => servedName(bridge), { timeout: 30_000 }).toBe('second')
  await rm(path.join(bridge.home, 'key.pem'))
  await expect.poll(bridge.stderr, { timeout: 30_000 }).toMatch(/new certificate is not used.*ENOENT/)
  expect(await servedName(bridge)).toBe('second')
  expect(bridge.stderr()).not.toContain('PRIVATE KEY')
})

it('the bridge does not start with flags of TLS that contradict each other', async () => {
  for (const [args, message] of [
    [['--http', '0', '--tls-cert', 'cert.pem'], /--tls-cert is given alone/],
    [['--http', '0', '--tls-key', 'key.pem'], /--tls-key is given alone/],
    [['--http', '0', ...FLAGS], /--tls-cert: ENOENT/],
    [['--http', '0', '--trusted-proxy', 'proxy.example'], /--trusted-proxy "proxy.example" is not an address/],
    [['--trusted-proxy', '10.0.0.0/8'], /are for serving over HTTP/],
    [FLAGS, /are for serving over HTTP/],
  ] as const) {
    const { code, stderr } = await tryToStart(...args)
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
  }
})

it('the bridge warns when others can read the connection', async () => {
  const env = { MCP_BRIDGE_HTTP_TOKEN: 'a-token-of-this-test' }
  const warning = /Other machines can read the token/
  const open = await startHttpBridge({ address: '0.0.0.0:0', env })
  await expect.poll(open.stderr).toMatch(warning)
  const behind = await startHttpBridge({ address: '0.0.0.0:0', env, args: ['--trusted-proxy', '10.0.0.0/8', '::1'] })
  const pair = makeCertificate()
  const prepareHome = (home: string) => write(home, pair)
  const encrypted = await startHttpBridge({ ownProcess: true, address: '0.0.0.0:0', env, args: FLAGS, prepareHome })
  const local = await startHttpBridge({ env })
  for (const bridge of [behind, encrypted, local]) expect(bridge.stderr()).not.toMatch(warning)
})
