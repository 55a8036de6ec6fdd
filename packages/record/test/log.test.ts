// This file verifies `sandbridge log` with the record of built bridges.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { bridgeEnv, CLI, fixtureServer } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

it('sandbridge log shows runs and calls of running and ended bridges, and whether the record was changed', async () => {
  const bridge = await startBridge({ servers: { raw: fixtureServer('raw.mjs', 'good') } })
  await bridge.run('await mcp_raw.echo(text="a")')
  const { home } = bridge
  const env = bridgeEnv(home)
  const log = (...args: string[]) => runCommand(['log', ...args], env)

  // The record is written shortly after the response.
  await expect.poll(async () => (await log()).stdout).toMatch(/run .*ok/)
  expect((await log()).stdout).toMatch(/call +raw__echo +ok/)
  // A word of others does not read as the columns after it.
  await bridge.run('raise type("ok   0.1 s", (Exception,), {})()')
  await expect.poll(async () => (await log()).stdout).toContain('error  ok\\u0020{3}0.1 s')
  const lines = (await log('--json')).stdout.trim().split('\n').slice(0, 2)
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(entries.map(({ type }) => type)).toEqual(['call', 'run'])
  expect((await log('--server', 'other')).stdout).toBe('')
  expect((await log('--denied')).stdout).toBe('')
  const session = String(entries[0]!['session'])
  expect((await log('--session', session, '--since', '1h', '--json')).stdout.trim().split('\n')).toHaveLength(3)
  expect((await log('--since', '2026-01-01', '--json')).stdout.trim().split('\n').length).toBeGreaterThan(2)
  // Dates of long ago to JavaScript.
  for (const text of ['tomorrow', '5', '2026', '11/22']) {
    const wrong = await log('--since', text)
    expect(wrong.stderr).toContain(`'${text}' is not a time`)
    expect(wrong.code).toBe(2)
  }

  const follower = spawn(process.execPath, [CLI, 'log', '--follow', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void follower.kill())
  let followed = ''
  follower.stdout.on('data', (chunk: Buffer) => (followed += chunk.toString()))
  while (!followed.includes('"type":"run"')) await sleep(20)
  await bridge.run('"second cell"')
  while (followed.split('"type":"run"').length < 3) await sleep(20)

  expect(await log('--verify')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No change was found') as string,
  })
  const folder = path.join(home, 'MCPs/.sandbridge/audit')
  const file = path.join(folder, readdirSync(folder)[0]!)
  writeFileSync(file, readFileSync(file, 'utf8').replace('"name":"echo"', '"name":"ohce"'))
  const changed = await log('--verify')
  expect(changed.stdout).toContain('was edited')
  expect(changed.code).toBe(1)
})
