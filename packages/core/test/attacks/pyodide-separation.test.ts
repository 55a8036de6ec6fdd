// @module-tag whole: it starts several embedded sandboxes
// This file verifies sandboxes against each other and after their end: nothing passes to another one, nothing is left,
// a crash affects no other one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PyodideProvider, prepareBundle } from '../../src/isolation/pyodide/provider.ts'
import { childArguments, nodeFlags, planMemory } from '../../src/isolation/pyodide/command.ts'
import { SANDBOX_CACHE } from '../support/sandboxes/sandbox-cache.ts'
import { sandboxVictim, type Victim } from './victims.ts'
import { needsPosix } from '../support/suite/needs.ts'

const provider = new PyodideProvider({ cacheFolder: SANDBOX_CACHE })
const start = async (memoryBytes = 384 << 20): Promise<Victim> => sandboxVictim(await provider.start({ memoryBytes }))

beforeAll(() => provider.prepare())

describe('two sandboxes', () => {
  let first: Victim
  let second: Victim
  beforeAll(async () => {
    ;[first, second] = await Promise.all([start(), start()])
  })
  afterAll(() => Promise.all([first.close(), second.close()]))

  it('two sandboxes share no state: files, modules, random numbers', async () => {
    await first.run(`import math\nmath.pi = 3\nopen('/workspace/mine', 'w').write('x')\nsecret = 1`)
    const there = await second.run(`import math, os\nprint(math.pi, os.listdir('/workspace'), 'secret' in globals())`)
    expect(there).toBe('3.141592653589793 [] False\n')
    const draw = `import os, random, secrets, uuid\nprint(random.random(), os.urandom(8).hex(), secrets.token_hex(8), uuid.uuid4(), sep='\\n')`
    const [ours, theirs] = await Promise.all([first.run(draw), second.run(draw)])
    const common = ours
      .trim()
      .split('\n')
      .filter((line) => theirs.includes(line))
    expect(ours.trim().split('\n')).toHaveLength(4)
    expect(common).toEqual([])
  })

  it('a sandbox that runs out of memory or corrupts its heap ends alone', async () => {
    const crashes = [
      [`import ctypes\nctypes.memset(1024, 0x41, 20 << 20)`, 'the sandbox ended'],
      [
        `import os\n_, end = os.pipe()\nwhile True: os.write(end, b'x' * (1 << 20))`,
        'the sandbox ended: out-of-memory',
      ],
      [`import os\nos._exit(3)`, 'the sandbox ended: exited'],
    ] as const
    for (const [code, end] of crashes) {
      const victim = first.ended ? await start() : first
      expect(await victim.run(code)).toContain(end)
      await victim.close()
    }
    expect(await second.run('print(6 * 7)')).toBe('42\n')
  })
})

it('a bridge that is killed leaves no busy sandbox behind', async () => {
  needsPosix('signals')
  const bundle = await prepareBundle({ cacheFolder: SANDBOX_CACHE })
  const memory = planMemory(384 << 20)
  const command = [process.execPath, ...nodeFlags(bundle, memory), ...childArguments(bundle, 'serve', memory)]
  // Stands for the bridge: starts the sandbox in a separate process group, sends it an endless loop, and prints its
  // pid.
  const run = `${JSON.stringify({ type: 'run', cell: 1, servers: [], code: "print('busy', flush=True)\nwhile True: pass" })}\n`
  const bridge = spawn(
    process.execPath,
    [
      '-e',
      `const c = require('child_process').spawn(${JSON.stringify(command[0])}, ${JSON.stringify(command.slice(1))}, { detached: true, env: {} });
        c.stdin.write(${JSON.stringify(run)}); c.stdout.on('data', (d) => { if (String(d).includes('busy')) console.log(c.pid) })`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [said] = (await once(bridge.stdout, 'data')) as [Buffer]
  const pid = Number(String(said))
  expect(isAlive(pid)).toBe(true)
  bridge.kill('SIGKILL')
  await until(() => !isAlive(pid))
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Waits until it holds; the test's own timeout is the limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}
