// This file verifies `sandbridge index`, and what is remembered about failed servers, with the built program.
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { bridgeEnv, CLI, fixtureServer, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { inTerminal, needsTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'

const run = (home: string, args: string[], env: Record<string, string> = {}) => runCommand(args, bridgeEnv(home, env))

async function problems(home: string, env: Record<string, string> = {}): Promise<Record<string, string | undefined>> {
  const { stdout } = await run(home, ['servers', '--json'], env)
  const { servers } = JSON.parse(stdout) as { servers: { name: string; problem?: string }[] }
  return Object.fromEntries(servers.map(({ name, problem }) => [name, problem]))
}

it.each(['SIGINT', 'SIGTERM'] as const)('sandbridge index stores nothing false when %s ends it', async (signal) => {
  needsPosix('Windows ends a process at once')
  const home = makeHome()
  const started = path.join(home, 'started')
  const servers = { slow: fixtureServer('raw.mjs', 'hang', started), quick: fixtureServer('raw.mjs', 'good') }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  const child = spawn(process.execPath, [CLI, 'index'], { env: bridgeEnv(home), stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = new Promise((resolve) => child.on('exit', resolve))
  await until(() => existsSync(started))
  child.kill(signal)
  expect(await ended).toBe(signal === 'SIGINT' ? 130 : 143)
  expect(stderr).toBe('')
  expect((await problems(home))['slow']).toBeUndefined()
})

it('sandbridge index asks every server again, or the named ones, and says how each went', async () => {
  const home = makeHome({ good: fixtureServer('raw.mjs', 'good'), locked: fixtureServer('raw.mjs', 'needs-key') })
  const first = await run(home, ['index'])
  expect(first.code).toBe(1)
  expect(first.stderr).toBe('')
  expect(first.stdout).toMatch(
    /^good {4}2 tools {2}[\d.]+ s\nlocked {2}failed: .*KeyError: the variable KEY is not set/,
  )
  const again = await run(home, ['index', 'locked', '--json'])
  expect(JSON.parse(again.stdout)).toMatchObject([{ name: 'locked', problem: expect.stringContaining('KeyError') }])
  const wrong = await run(home, ['index', 'lokced'])
  expect(wrong.stderr).toBe("sandbridge: Unknown server 'lokced'\nDid you mean locked?\nServers: good, locked\n")
})

it(
  'sandbridge index forgets a failure when a variable or a file that it depended on changes',
  { tags: ['whole'] },
  async () => {
    const home = makeHome()
    const file = path.join(home, 'key.txt')
    const entry = fixtureServer('raw.mjs', 'needs-key', file)
    const servers = { locked: { ...entry, env: { KEY: '${THE_KEY:-}' } } }
    writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
    // A search waits for no server as long as a busy machine may take.
    await run(home, ['index'])
    expect((await problems(home))['locked']).toContain('KeyError')
    expect((await problems(home, { THE_KEY: 'k' }))['locked']).toBeUndefined()
    await expect
      .poll(() => run(home, ['search', 'echo'], { THE_KEY: 'k' }), { timeout: 60_000 })
      .toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('mcp_locked.echo') })

    await run(home, ['index'])
    expect((await problems(home))['locked']).toContain('KeyError')
    writeFileSync(file, 'x')
    expect((await problems(home))['locked']).toBeUndefined()
  },
)

it('sandbridge index of one server ends with its line, and of several with their sum', async () => {
  needsTerminal()
  const home = makeHome({ good: fixtureServer('raw.mjs', 'good'), other: fixtureServer('raw.mjs', 'good') })
  const shown = (...args: string[]) =>
    inTerminal([process.execPath, CLI, 'index', ...args], bridgeEnv(home, { NO_COLOR: '1' }))
  expect(await shown('good')).toMatch(/good +2 tools {2}[\d.]+ s\n[^\n]*$/)
  expect(await shown()).toContain('2 servers ready with 4 tools')
})

it('sandbridge index in a terminal that cannot move its cursor shows only the servers that are finished', async () => {
  needsTerminal()
  const home = makeHome({ good: fixtureServer('raw.mjs', 'good'), named: fixtureServer('raw.mjs', 'named', 'x') })
  const show = (TERM: string) => inTerminal([process.execPath, CLI, 'index'], bridgeEnv(home, { TERM }))
  const screen = await show('dumb')
  expect(screen).not.toMatch(/<\d|starting/)
  for (const line of [/^good +2 tools/m, /^named +1 tool/m]) expect(screen).toMatch(line)
  // The control.
  expect(await show('xterm')).toMatch(/<\dA/)
})
