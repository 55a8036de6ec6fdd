// @module-tag whole: it waits for clients that are gone
// This file verifies that a command whose output is cut off by its reader, as by `| head -1`, ends without a stack
// trace, and that one whose output cannot be written says why.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '../support/bridges/bridge-process.ts'
import { skip } from '../support/suite/needs.ts'

/** Runs a command and closes its stdout after the first piece of output, or before it. */
async function cutShort(home: string, args: string[], readsFirst: boolean) {
  const child = spawn(process.execPath, [CLI, ...args], { env: bridgeEnv(home), stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  if (readsFirst) await once(child.stdout, 'data')
  child.stdout.destroy()
  const stderr = await text(child.stderr)
  const [code] = (await exited) as [number | null]
  return { code, stderr }
}

it.each([
  ['artifacts', ['artifacts', '--json'], false],
  ['servers', ['servers', '--sources'], false],
  ['saved', ['saved', '--json'], false],
  ['doctor', ['doctor'], false],
  ['exec', ['exec', '-c', 'while True: print("x" * 10_000)', '-t', '100'], true],
])('sandbridge %s ends when the reader of its output is gone', async (_, args, readsFirst) => {
  const { code, stderr } = await cutShort(makeHome(), args, readsFirst)
  expect(stderr).not.toMatch(/EPIPE|cannot be written|at .*\.js:\d+/)
  // As of a program that ends by SIGPIPE.
  expect([code, stderr]).toEqual([141, ''])
})

it.each([
  ['servers', ['servers', '--sources']],
  ['doctor', ['doctor']],
  ['exec', ['exec', '-c', 'print("x" * 10_000)\nimport time\ntime.sleep(60)']],
])('sandbridge %s fails and names the cause when the disk of its output is full', (_, args) => {
  if (!existsSync('/dev/full')) skip('this system has no /dev/full')
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = spawnSync(process.execPath, [CLI, ...args], {
    env: bridgeEnv(makeHome()),
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  })
  closeSync(full)
  expect(stderr.match(/^sandbridge: the output cannot be written: .*no space left on device.*$/gm)).toHaveLength(1)
  expect(stderr).not.toMatch(/at .*\.js:\d+/)
  expect(status).toBe(1)
})
