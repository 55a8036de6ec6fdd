import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { groupExists } from '../../core/src/util/process/process-group.ts'
import { leaveToFinish } from './finish-install.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const SIGNALS = 'Windows asks no process to end'

/**
 * Writes to a file until it is asked to end or `last` times, and ends its step first. Without its output being read it
 * would stop.
 */
const MANAGER = `
const { appendFileSync } = require('node:fs')
const [folder, last] = process.argv.slice(1)
let step = 0
const write = () => {
  appendFileSync(folder + '/package', 'more')
  process.stdout.write('x'.repeat(100_000))
  step += 1
  if (step >= Number(last)) end('complete')
}
const end = (how) => {
  clearInterval(timer)
  setTimeout(() => { appendFileSync(folder + '/' + how, ''); process.exit() }, 300)
}
const timer = setInterval(write, 50)
process.on('SIGTERM', () => end('asked'))
process.stdout.write('started')
`

async function start(last: number, source = MANAGER) {
  const folder = newFolder()
  const child = spawn(process.execPath, ['-e', source, '--', folder, String(last)], { detached: true })
  await once(child.stdout, 'data')
  const finish = (askAfterMs: number, killAfterMs: number, platform = process.platform) =>
    leaveToFinish(child, [{ folder, depth: 1 }], { askAfterMs, killAfterMs }, platform)
  const gone = () => expect.poll(() => groupExists(child.pid!), { timeout: 10_000 }).toBe(false)
  return { child, finish, gone, left: (name: string) => existsSync(path.join(folder, name)) }
}

it('a package manager that writes is left to complete its work, though the bridge reads its output no more', async () => {
  const { child, finish, gone, left } = await start(30)
  finish(1500, 1500)
  child.stdout.destroy()
  await gone()
  expect([left('complete'), left('asked')]).toEqual([true, false])
})

it('a package manager that writes nothing more is asked to end, and ends its step', async () => {
  needsPosix(SIGNALS)
  const { finish, gone, left } = await start(
    1e9,
    MANAGER.replace('setInterval(write, 50)', 'setInterval(() => {}, 50)'),
  )
  finish(0, 5000)
  await gone()
  expect(left('asked')).toBe(true)
})

it('a package manager that writes nothing more and ignores signals is killed', async () => {
  needsPosix(SIGNALS)
  const deaf = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); process.stdout.write('started')"
  const { finish, gone } = await start(1, deaf)
  finish(0, 100)
  await gone()
})

it('a package manager completes its work and can write, though its shell on Windows ended with the bridge', async () => {
  // As cmd.exe, which starts npx.cmd.
  const shell = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(MANAGER)}, '--', ...process.argv.slice(1)], { stdio: 'inherit' })`
  const { child, finish, left } = await start(30, shell)
  finish(1500, 1500, 'win32')
  process.kill(child.pid!, 'SIGKILL')
  child.stdout.destroy()
  await expect.poll(() => left('complete'), { timeout: 10_000 }).toBe(true)
  await expect.poll(() => groupExists(child.pid!), { timeout: 10_000 }).toBe(false)
})
