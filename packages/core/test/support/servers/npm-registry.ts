// A registry of npm packages on this machine that can be slow: each package is an MCP server with one dependency.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { ROOT } from '../bridges/bridge-process.ts'

export interface NpmRegistry {
  url: string
  /** Paths of the requests so far. */
  requests: string[]
  /** Sends no more than half of each tarball until the returned function is called. */
  pause: () => () => void
  close: () => Promise<void>
}

const VERSION = '1.0.0'
const BLOCK = 512

/** @param delayMs before each response */
export async function startNpmRegistry(delayMs = 0): Promise<NpmRegistry> {
  const requests: string[] = []
  let going = Promise.resolve()
  const answer = async (asked: string, response: ServerResponse): Promise<void> => {
    requests.push(asked)
    const [, name = '', ...rest] = decodeURIComponent(asked).split('/')
    await sleep(delayMs)
    if (rest.length === 0) {
      response.end(JSON.stringify(packument(name, url)))
      return
    }
    const tarball = tarballOf(name)
    response.writeHead(200, { 'content-length': tarball.length })
    response.write(tarball.subarray(0, tarball.length / 2))
    await going
    response.end(tarball.subarray(tarball.length / 2))
  }
  const http = createServer((request, response) => void answer(request.url!, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`
  const close = async () => {
    http.closeAllConnections()
    http.close()
    await once(http, 'close')
  }
  const pause = () => {
    let goOn = (): void => {}
    going = new Promise((resolve) => (goOn = resolve))
    return goOn
  }
  return { url, requests, pause, close }
}

function packument(name: string, url: string): object {
  const tarball = tarballOf(name)
  const dist = {
    tarball: `${url}${name}/-/${name}-${VERSION}.tgz`,
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
  }
  return { name, 'dist-tags': { latest: VERSION }, versions: { [VERSION]: { ...manifest(name), dist } } }
}

function manifest(name: string): object {
  const isServer = !name.endsWith('-parts')
  return {
    name,
    version: VERSION,
    type: 'module',
    ...(isServer && { bin: { [name]: 'server.mjs' }, dependencies: { [`${name}-parts`]: VERSION } }),
  }
}

function tarballOf(name: string): Buffer {
  const server = readFileSync(path.join(ROOT, 'packages/core/test/fixtures/servers/raw.mjs'), 'utf8')
  const source = name.endsWith('-parts')
    ? { 'index.js': 'export default 1\n' }
    : { 'server.mjs': `#!/usr/bin/env node\nimport '${name}-parts'\n${server}` }
  const files = { 'package.json': JSON.stringify(manifest(name)), ...source }
  const entries = Object.entries(files).map(([file, text]) => entry(`package/${file}`, Buffer.from(text)))
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]))
}

/** A file in the ustar format. */
function entry(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, '0')
  header.write(name, 0)
  header.write(octal(0o755, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(content.length, 12), 124)
  header.write(octal(0, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)}\0 `, 148)
  return Buffer.concat([header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)])
}
