// @module-tag whole: it starts npm
// This file verifies that a server that npm has to install gets the time it needs, and that giving it up leaves no
// broken cache.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { installPlace } from '../../src/install-place.ts'
import type { ServerDefinition } from '../../../core/src/config/entries/server-definition.ts'
import { onPath, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { type NpmRegistry, startNpmRegistry } from '@sandbridge/core/test/support/servers/npm-registry.ts'
import { descendants } from '@sandbridge/core/test/support/machine/processes.ts'
import { open, textOf, until } from '@sandbridge/core/test/upstream/support.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

let registry: NpmRegistry
let home: string

beforeAll(async () => {
  registry = await startNpmRegistry(150)
  home = newFolder()
})
afterAll(() => registry.close())

function server(name: string): ServerDefinition {
  const env = {
    HOME: home,
    npm_config_cache: path.join(home, '.npm'),
    npm_config_registry: registry.url,
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
  }
  const source = { client: 'test', file: 'test.json' }
  return { name, transport: { type: 'stdio', command: 'npx', args: ['-y', name, 'good'], env }, source }
}

const folderOf = (name: string) =>
  installPlace({ manager: 'npm', packages: [name] }, { env: { npm_config_cache: path.join(home, '.npm') }, home }).own!
const isInstalled = (name: string) => existsSync(path.join(folderOf(name), 'node_modules/.package-lock.json'))
/** Shorter than npm takes to start. */
const SHORT = { startTimeoutMs: 50 }

describe('a server that npm installs', () => {
  beforeEach(() => {
    if (!onPath('npx')) skip('npx is not installed')
  })

  it('servers with one empty cache are installed one after the other, longer than their timeout, and tell about it', async () => {
    const names = ['first-server', 'second-server']
    const upstreams = open(names.map(server), { ...SHORT, installLimits: { quietMs: 20_000, lookMs: 50 } })
    const heard: string[] = []
    const onProgress = ({ message = '' }) => void heard.push(message)
    const states = new Set<string>()
    const watching = setInterval(() => states.add(upstreams.of('second-server').state), 10)
    const calls = names.map((name) => upstreams.callTool(name, 'echo', { text: name }, { onProgress }))
    expect((await Promise.all(calls)).map(textOf)).toEqual(names)
    clearInterval(watching)
    const [first, second] = names.map((name) =>
      registry.requests.flatMap((one, at) => (one.includes(name) ? [at] : [])),
    )
    expect(Math.max(...first!)).toBeLessThan(Math.min(...second!))
    expect(states).toContain('installing')
    expect(heard.join()).toMatch(/the server is being installed by npm, for \d+ s so far/)
    expect(heard.join()).toMatch(/the server waits for another server that npm installs/)
    expect(upstreams.logged.join()).toContain('A server is being installed')
  })

  it('a server whose installation stops is given up, and npm ends without leaving a lock or half a package', async () => {
    const goOn = registry.pause()
    const limits = { ...SHORT, installLimits: { quietMs: 2_500, lookMs: 50 } }
    const upstreams = open([server('pausing-server')], limits)
    await expect(upstreams.listTools('pausing-server')).rejects.toMatchObject({
      code: 'UPSTREAM_TIMEOUT',
      message: expect.stringMatching(/did not complete its start within \d+ s, and npm installs nothing more/),
    })
    const folder = folderOf('pausing-server')
    goOn()
    await until(() => !existsSync(path.join(folder, 'concurrency.lock')))
    // Killed, npm would leave the lock, and this start would wait for a minute.
    const again = open([server('pausing-server')], { ...SHORT, installLimits: { quietMs: 20_000 } })
    expect(await again.listTools('pausing-server')).toHaveLength(2)
  })

  it('a server that is being installed when the bridge ends is installed to the end', async () => {
    const goOn = registry.pause()
    const upstreams = open([server('late-server')], { ...SHORT, installLimits: { quietMs: 20_000, lookMs: 50 } })
    const listing = upstreams.listTools('late-server')
    await until(() => upstreams.of('late-server').state === 'installing')
    await Promise.all([upstreams.close(), expect(listing).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })])
    expect(isInstalled('late-server')).toBe(false)
    goOn()
    await until(() => isInstalled('late-server'))
    if (process.platform === 'win32') return
    // What waits for npm does not wait for its limit: by then, npm's process id may be another's.
    const isWaiting = () => descendants(process.pid).some(({ command }) => command.includes('askAfterMs'))
    await expect.poll(isWaiting).toBe(false)
  })

  it('a server with an incomplete installation is reported with the folder to remove', async () => {
    const folder = folderOf('broken-server')
    const upstreams = open([server('broken-server')])
    expect(await upstreams.listTools('broken-server')).toHaveLength(2)
    await upstreams.of('broken-server').stop()
    await rm(path.join(folder, 'node_modules/broken-server-parts/index.js'))
    await expect(upstreams.listTools('broken-server')).rejects.toMatchObject({
      code: 'UPSTREAM_UNREACHABLE',
      message: expect.stringContaining("npm's copy of the package seems to be incomplete."),
      userHint: `Remove this folder: ${folder}`,
    })
    await rm(folder, { recursive: true })
    expect(await upstreams.listTools('broken-server')).toHaveLength(2)
  })
})
