// @module-tag whole: a fault that takes seconds to make
// This file verifies clients of a resident bridge while one of the processes between is stopped, is killed at its
// start, or has no room on its disk.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { BUILT_CLI } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsLinux, needsPosix, needsRoot, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { descendants, until } from '@sandbridge/core/test/support/machine/processes.ts'
import { kill, residentHome } from '@sandbridge/core/test/support/bridges/resident-clients.ts'
import { SANDBOX_CACHE } from '@sandbridge/core/test/support/sandboxes/sandbox-cache.ts'

beforeEach(() => needsPosix('residents of Windows have tests of their own: windows.test.ts'))

it('a relay that is stopped holds up no other client, and passes its answer on when it continues', async () => {
  needsPosix('Windows stops no process by a signal')
  const { connect, residents } = residentHome({}, { MCP_BRIDGE_OUTPUT_TOKENS: '1000000' })
  const [ann, bob] = await Promise.all([connect('ann'), connect('bob')])
  await bob.run('kept = 1')
  await ann.run('import asyncio')
  let isAnswered = false
  // More than a socket holds.
  const answer = ann.run('await asyncio.sleep(0.5)\nprint("éa" * 300_000)').finally(() => (isAnswered = true))
  await sleep(100)
  kill(ann.process.pid!, 'SIGSTOP')
  const waited = sleep(2_000)
  for (let count = 0; count < 10; count += 1) expect(await bob.run('print(kept)')).toBe('1')
  await waited
  expect(isAnswered).toBe(false)
  kill(ann.process.pid!, 'SIGCONT')
  expect((await answer).match(/éa/g)?.length).toBe(300_000)
  expect(await ann.run('print(2)')).toBe('2')
  expect(residents()).toHaveLength(1)
})

it.each(['as soon as it is there', 'once it has made its own folder', 'once it has its name'])(
  'a client is served although its resident is killed %s',
  async (when) => {
    needsLinux('it reads /proc')
    const { connect, start, folder } = residentHome({})
    const ann = start('ann')
    const names = (): string[] => (existsSync(folder) ? readdirSync(folder) : [])
    const isDue = (): boolean => {
      if (when === 'as soon as it is there') return true
      const ownFolder = /\.d$|\.\d+$/
      return names().some((name) => (when === 'once it has its name' ? name.endsWith('.d') : ownFolder.test(name)))
    }
    await new Promise<void>((resolve) => {
      const look = (): void => {
        const [child] = descendants(ann.process.pid!)
        if (child === undefined || !isDue()) return void setImmediate(look)
        kill(child.pid, 'SIGKILL')
        resolve()
      }
      look()
    })
    await ann.initialize()
    expect(ann.welcome).toHaveProperty('result.serverInfo')
    expect(await ann.run('print(1)')).toBe('1')
    // And so is the next one.
    ann.process.stdin!.end()
    await ann.exited
    const bob = await connect('bob')
    expect(await bob.run('print(2)')).toBe('2')
    expect(names().filter((name) => name.endsWith('.d'))).toHaveLength(1)
  },
)

it('clients share a resident although there is no room for a copy of the package, and later ones use no half of it', async () => {
  needsLinux('it mounts a disk')
  needsRoot('it mounts a disk')
  const { connect, home, residents } = residentHome({}, {}, BUILT_CLI)
  const copies = path.join(home, 'MCPs/.sandbridge/package-copies')
  const cache = path.join(copies, 'cache')
  mkdirSync(copies, { recursive: true })
  const mount = (size: string, ...how: string[]): boolean =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', [`size=${size}`, 'mode=700', ...how].join(','), 'tmpfs', copies])
      .status === 0
  if (!mount('4m')) skip('this machine does not let its root mount a disk')
  onTestFinished(() => void spawnSync('umount', ['--lazy', copies]))
  mkdirSync(cache)
  symlinkSync(SANDBOX_CACHE, path.join(cache, 'pyodide'), 'junction')
  const env = { MCP_BRIDGE_CACHE_DIR: cache }
  const [ann, bob] = await Promise.all([connect('ann', env), connect('bob', env)])
  expect(await Promise.all([ann.run('print(1)'), bob.run('print(2)')])).toEqual(['1', '2'])
  expect(residents()).toHaveLength(1)
  expect(readdirSync(copies)).toEqual(['cache'])
  for (const client of [ann, bob]) client.process.stdin!.end()
  await Promise.all([ann.exited, bob.exited])
  // Control: with room there is a copy.
  expect(mount('400m', 'remount')).toBe(true)
  await until(() => descendants(1).every(({ pid }) => !residents().includes(pid)))
  const eve = await connect('eve', env)
  expect(await eve.run('print(3)')).toBe('3')
  expect(readdirSync(copies)).toHaveLength(2)
})
