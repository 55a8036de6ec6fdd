// This file verifies each part of the outer wall's command line, assuming that code runs with all of Node: an attack
// that this part alone stops.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { beforeAll, expect, it } from 'vitest'
import { startOfBubblewrap, wallOrSkip, withoutFlag } from './wall.ts'
import { needsRoot } from '../support/suite/needs.ts'
import { newFolder } from '../support/machine/new-folder.ts'

/** The parts of a bundle that the wall needs, with a file that only root may read. */
let bundle: string

beforeAll(async () => {
  bundle = newFolder()
  await chmod(bundle, 0o755)
  await writeFile(join(bundle, 'child.cjs'), '')
  await writeFile(join(bundle, 'key'), 'ESCAPED: the key', { mode: 0o600 })
})

/** Runs a command in a separate process group, with an environment that holds a secret. Returns its output. */
async function run([program, ...args]: string[], extraInput?: Buffer): Promise<string> {
  const child = spawn(program!, args, {
    env: { PATH: process.env['PATH'], TOKEN: 'ESCAPED' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const filter = child.stdio[3] as Writable
  filter.on('error', () => {}).end(extraInput)
  let text = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (text += String(chunk)))
  await once(child, 'close')
  return text
}

it('the outer wall filters system calls: the process gets no socket but Unix ones', async () => {
  const outer = await wallOrSkip(bundle)
  const attack = `require('net').createServer().listen(0, '127.0.0.1', () => { console.log('ESCAPED'); process.exit() }).on('error', (e) => console.log(e.code))`
  const { command, extraInput } = outer.wrap([outer.node, '-e', attack])
  expect(await run(command, extraInput)).toBe('EPERM\n')
  expect(await run(withoutFlag(command, '--seccomp', 1))).toContain('ESCAPED')
})

it('the outer wall drops root: the process reads no file of root', async () => {
  const outer = await wallOrSkip(bundle)
  needsRoot('other users have no rights to drop')
  const attack = `try { console.log(require('fs').readFileSync('${outer.bundle}/key', 'utf8')) } catch (e) { console.log(e.code) }`
  const { command, extraInput } = outer.wrap([outer.node, '-e', attack])
  expect(await run(command, extraInput)).toBe('EACCES\n')
  expect(await run(command.slice(startOfBubblewrap(command)), extraInput)).toContain('ESCAPED')
})

it('the outer wall drops root: the process has no capability and cannot get one', async () => {
  const outer = await wallOrSkip(bundle)
  const attack = `console.log(/^Cap\\w+:\\s*0*[1-9a-f]/m.test(require('fs').readFileSync('/proc/self/status', 'utf8')) ? 'ESCAPED' : 'none')`
  const { command, extraInput } = outer.wrap([outer.node, '-e', attack])
  // Reading the capabilities needs a /proc, which the wall does not provide.
  const seeing = command.toSpliced(startOfBubblewrap(command) + 1, 0, '--proc', '/proc')
  expect(await run(seeing, extraInput)).toBe('none\n')
  needsRoot('it shows what happens otherwise')
  const asRoot = withoutFlag(seeing.slice(startOfBubblewrap(command)), '--cap-drop', 1)
  expect(await run(asRoot, extraInput)).toContain('ESCAPED')
})

it('the outer wall uses --clearenv: the process gets no variable of its parent', async () => {
  const outer = await wallOrSkip(bundle)
  const { command, extraInput } = outer.wrap([outer.node, '-e', 'console.log(JSON.stringify(process.env))'])
  expect(await run(command, extraInput)).not.toContain('ESCAPED')
  expect(await run(withoutFlag(command, '--clearenv'), extraInput)).toContain('ESCAPED')
})

it("the outer wall uses --new-session: the process ends no other one of its parent's process group", async () => {
  const outer = await wallOrSkip(bundle)
  const { command, extraInput } = outer.wrap([outer.node, '-e', `process.kill(0, 'SIGKILL')`])
  // A neighbour of the same user in the same process group: the shell that waits for it.
  const withNeighbour = (all: string[]): string[] =>
    all.toSpliced(startOfBubblewrap(all), 0, '/bin/sh', '-c', '"$@"; echo survived', 'sh')
  expect(await run(withNeighbour(command), extraInput)).toContain('survived')
  expect(await run(withNeighbour(withoutFlag(command, '--new-session')), extraInput)).not.toContain('survived')
})
