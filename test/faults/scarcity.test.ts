// @module-tag whole: a fault that takes seconds to make
// This file verifies a bridge without disk space, without write permission, and with few file descriptors: it reports
// this where it matters, still runs cells, and loses nothing that was stored before.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  fixtureServer,
  makeHome,
  REAL_SANDBOX,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { needsLinux, needsRoot, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { SANDBOX_CACHE } from '@sandbridge/core/test/support/sandboxes/sandbox-cache.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const servers = { good: fixtureServer('raw.mjs', 'good') }

/** A home whose state and cache folders are on a separate disk. */
function homeOnDisk() {
  needsLinux('a disk of its own')
  needsRoot('a disk of its own')
  const home = makeHome(servers)
  const disk = newFolder()
  onTestFinished(() => {
    for (const folder of [home, disk]) rmSync(folder, { recursive: true, force: true })
  })
  const mount = (...args: string[]) => spawnSync('mount', [...args, 'tmpfs', disk]).status === 0
  if (!mount('-t', 'tmpfs', '-o', 'size=4m')) skip('this machine does not let its root mount a disk')
  onTestFinished(() => void spawnSync('umount', ['--lazy', disk]))
  const [state, cache] = [path.join(disk, 'state'), path.join(disk, 'cache')]
  for (const folder of [state, cache]) mkdirSync(folder)
  symlinkSync(SANDBOX_CACHE, path.join(cache, 'pyodide'), 'junction')
  writeFileSync(path.join(state, 'servers.json'), JSON.stringify({ mcpServers: servers }))
  return { home, disk, mount, env: { ...REAL_SANDBOX, MCP_BRIDGE_STATE_DIR: state, MCP_BRIDGE_CACHE_DIR: cache } }
}

const save = (name: string) =>
  `try:\n    print(runtime.save_artifact("${name}", "x" * 10_000).version)\nexcept runtime.MCPError as error:\n    print(error.code, error)`

const remember = `try:\n    runtime.save_memory("a", 1)\nexcept runtime.MCPError as error:\n    print(error)`

it('a bridge whose disk is full runs cells and calls, says what it could not keep, and goes on when there is room', async () => {
  const { home, disk, env } = homeOnDisk()
  const first = await startBridge({ home, env })
  expect(await first.run(save('before.txt'))).toContain('1')
  const ballast = path.join(disk, 'ballast')
  spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4096'])
  // The same holds for a bridge that starts now, without a cache.
  const second = await startBridge({ home, env })
  const told: TestBridge[] = []
  const run = async (bridge: TestBridge, code: string): Promise<string> => {
    const [text = '', ...notes] = (await bridge.run(code)).split('\n[sandbridge: The audit log cannot be')
    for (const note of notes) if (note.includes('the disk is full')) told.push(bridge)
    return text
  }
  for (const bridge of [first, second]) {
    expect(await run(bridge, 'await mcp_good.echo(text="hi")')).toBe("'hi'")
    expect(await run(bridge, save('after.txt'))).toMatch(/^STATE_UNWRITABLE .*disk is full/)
    expect(await run(bridge, 'runtime.open_artifact("before.txt").text()[:3]')).toContain('xxx')
    expect(await run(bridge, remember)).toMatch(/disk is full. Nothing was changed/)
    expect(await run(bridge, 'open("/projects/x", "w").write("x" * 9_999) and None')).toMatch(/disk is full/)
    expect(readdirSync(path.join(disk, 'state/.sandbridge')).filter((name) => name.endsWith('.lock'))).toEqual([])
  }
  // The record is written in batches, so the failure may be known only some cells later. Each session is told once.
  await expect
    .poll(async () => await run(second, '1').then(() => told.includes(second)), { timeout: 30_000 })
    .toBe(true)
  for (const bridge of [first, second]) await run(bridge, '1')
  expect(told.includes(first)).toBe(true)
  rmSync(ballast)
  expect(await second.run(save('after.txt'))).toContain('1')
  expect(await first.run('await mcp_good.echo(text="again")')).toBe("'again'")
})

it('a bridge that may not write its folders runs cells and calls, and says what it could not keep', async () => {
  const { home, disk, mount, env } = homeOnDisk()
  const kept = await startBridge({ home, env })
  expect(await kept.run(save('before.txt'))).toContain('1')
  await kept.client.close()
  // A resident has files there until it ends, some time after its client.
  await until(() => mount('-o', 'remount,ro'))
  expect(spawnSync('touch', [path.join(disk, 'x')]).status).not.toBe(0)
  const bridge = await startBridge({ home, env })
  expect(await bridge.run('await mcp_good.echo(text="hi")')).toMatch(/^'hi'/)
  expect(await bridge.run(save('after.txt'))).toMatch(/^STATE_UNWRITABLE .*read-only/)
  expect(await bridge.run('runtime.open_artifact("before.txt").text()[:3]')).toContain('xxx')
  expect(existsSync(path.join(disk, 'state/.sandbridge/artifacts/after.txt'))).toBe(false)
})

it('a bridge with 64 file descriptors runs cells and calls', async () => {
  needsLinux('it limits a process that runs')
  const bridge = await startHttpBridge({ ownProcess: true, servers, env: { MCP_BRIDGE_POOL: '0' } })
  const { status } = spawnSync('prlimit', ['--pid', String(bridge.pid), '--nofile=64'])
  if (status !== 0) skip('prlimit is not here')
  const clients = await Promise.all(Array.from({ length: 3 }, () => bridge.connect('modern')))
  const answers = await Promise.all(clients.map((client) => client.run('await mcp_good.echo(text="hi")')))
  expect(answers).toEqual(clients.map(() => expect.stringContaining("'hi'")))
})
