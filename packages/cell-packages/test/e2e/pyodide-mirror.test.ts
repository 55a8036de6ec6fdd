// @module-tag whole: it starts sandboxes without a cache
// This file verifies that the embedded sandbox gets Pyodide's packages from a mirror: the files that the installed
// `pyodide` package names, from the mirror's folder. Its hashes are pinned, so that files made here are always refused.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { LockFile } from '../../src/distribution.ts'
import { makeWheel } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

const lockFile = createRequire(import.meta.url).resolve('pyodide/pyodide-lock.json')
const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as LockFile

it('a mirror is asked for the files of the distribution, and one that it lacks or forges stops no cell', async () => {
  const [forged, missing] = ['six', 'attrs'].map((name) => packages[name]!.file_name)
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    if (path.basename(request.url ?? '') === forged) response.end(makeWheel({ name: 'six' }).data)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}/of/pyodide`
  const bridge = await startBridge({
    env: { MCP_BRIDGE_RUNTIME: `pyodide mirror=${mirror}`, MCP_BRIDGE_PACKAGES: 'six attrs' },
  })
  const first = await bridge.run('1 + 1')
  expect(first).toMatch(/^2\n/)
  expect(first).toContain(`${forged} has a wrong checksum`)
  expect(first).toContain(`${missing} cannot be downloaded: HTTP 404`)
  expect(await bridge.run('import six')).toMatch(/six is not in this sandbox\. It could not be installed: .*checksum/)
  expect(new Set(asked)).toEqual(new Set([forged, missing].map((name) => `/of/pyodide/${name}`)))
})
