// @module-tag whole: programs that work without end
// This file verifies that a relay leaves a resident which works in its place, and takes the name of one that hangs.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterAll, expect, it } from 'vitest'
import { Relay } from './relay.ts'
import { residentPlace } from '../reach/run-folder.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** Welcomes its client if it is told to, and then does nothing but its `work`, so that it answers no ping. */
const SILENT = `
const [home, isWelcome, work] = process.argv.slice(1)
require('node:fs').symlinkSync(String(process.pid), home + '/pid')
const blocked = new Int32Array(new SharedArrayBuffer(4))
const until = performance.now() + 60_000
require('node:net').createServer((socket) => socket.once('data', () => {
  const stop = () => { while (performance.now() < until) if (work === 'hangs') Atomics.wait(blocked, 0, 0, 1e6) }
  if (isWelcome) socket.write('\\u0001{"welcome":{"pid":1}}\\n', () => setTimeout(stop))
  else stop()
})).listen(home + '/s', () => console.log('listens'))
`
const folders: string[] = []
const children: ChildProcess[] = []

afterAll(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function keepsItsName(isWelcome: boolean, work: string): Promise<boolean> {
  const stateDir = newFolder()
  folders.push(stateDir)
  const place = residentPlace(stateDir, 'abc')
  mkdirSync(place.home, { recursive: true })
  const child = spawn(process.execPath, ['-e', SILENT, place.home, isWelcome ? '1' : '', work])
  children.push(child)
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const relay = new Relay({
    context: { env: {}, cwd: stateDir, home: stateDir, ownPaths: [] },
    key: { name: 'abc', text: '{}' } as never,
    place,
    cacheDir: stateDir,
    input: new PassThrough(),
    output: new PassThrough(),
    log: () => {},
    serveHere: () => {},
    exit: () => {},
    pingMs: 300,
  })
  // A second one may not be started.
  mkdirSync(place.starting)
  relay.run()
  // Three looks of a second each; one that hangs loses its name after the first.
  const end = performance.now() + 4_000
  while (existsSync(place.home) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 100))
  const kept = existsSync(place.home)
  relay.end(0)
  return kept
}

it.skipIf(process.platform === 'win32').each([
  [true, 'works', true],
  [true, 'hangs', false],
  [false, 'works', true],
  [false, 'hangs', false],
])(
  'a resident that has welcomed its client (%s), then %s and says nothing, keeps its name: %s',
  { concurrent: true },
  async (isWelcome, work, keeps) => expect(await keepsItsName(isWelcome, work)).toBe(keeps),
)
