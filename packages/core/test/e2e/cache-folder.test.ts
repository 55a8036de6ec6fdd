// @module-tag whole: it starts sandboxes without a cache
// This file verifies that after a run that uses a server, root's sandboxes, which run as another user, can still read
// packages in the cache folder.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { published } from '../support/bridges/bridge-process.ts'
import { providerOrSkip } from '../support/sandboxes/engines.ts'
import { makeWheel } from '../support/servers/make-wheel.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { newFolder } from '../support/machine/new-folder.ts'

function openFolder(): string {
  const folder = newFolder()
  chmodSync(folder, 0o755)
  return folder
}

it.for([
  ['a folder that the first run makes', false],
  ['a folder that an earlier version has closed', true],
] as const)('packages can be installed after a server has run, in %s', async ([, isClosed]) => {
  await providerOrSkip('bubblewrap')
  const folder = openFolder()
  const cache = path.join(folder, 'cache')
  if (isClosed) mkdirSync(cache, { mode: 0o700 })
  const env = { MCP_BRIDGE_RUNTIME: 'bubblewrap', MCP_BRIDGE_CACHE_DIR: cache }
  const first = await startBridge({ servers: { everything: published.everything() }, env })
  expect(await first.run('await mcp_everything.echo(message="hi")')).toBe("'Echo: hi'")
  const { fileName, data } = makeWheel({ name: 'tiny', version: '1', files: { 'tiny.py': 'VALUE = 7\n' } })
  writeFileSync(path.join(folder, fileName), data)
  const second = await startBridge({ env: { ...env, MCP_BRIDGE_PACKAGES: path.join(folder, fileName) } })
  expect(await second.run('import tiny\ntiny.VALUE')).toBe('7')
})
