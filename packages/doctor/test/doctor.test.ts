// @module-tag whole: it tries every wall
// This file verifies the problems that `sandbridge doctor` finds, its fixes, and its exit codes.
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkSandbox } from '../src/check-sandbox.ts'
import { ensureBundle } from '../../core/src/isolation/pyodide/bundle.ts'
import { KERNEL_FOLDER } from '../../core/src/util/package-root.ts'
import {
  bridgeEnv,
  CLI,
  fixtureServer,
  makeHome,
  REAL_SANDBOX,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { providerOrSkip, runtimeEnv } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { openObserved } from '@sandbridge/core/test/support/bridges/observed-bridge.ts'
import { runCommand, runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'

interface Report {
  findings: { check: string; level: string; message: string; advice?: string }[]
  fixed: string[]
}

function doctorIn(servers: Record<string, ServerEntry>, env: Record<string, string> = {}) {
  const home = makeHome(servers)
  const doctor = async (...args: string[]) => {
    const { code, stdout } = await runProgram(
      process.execPath,
      [CLI, 'doctor', '--json', ...args],
      bridgeEnv(home, env),
    )
    return { code, ...(JSON.parse(stdout) as Report) }
  }
  return { home, doctor }
}

it('doctor finds servers that are listed twice and folders that others may read, and corrects what it may', async () => {
  needsPosix('Windows has no modes')
  const { home, doctor } = doctorIn({})
  expect(await doctor()).toMatchObject({ code: 0, findings: [{ check: 'sources', level: 'ok' }] })
  const self = { command: process.execPath, args: [CLI] }
  const secret = { command: 'notes', env: { NOTES_TOKEN: 'sesame-sesame-1' } }
  writeFileSync(path.join(home, '.claude.json'), JSON.stringify({ mcpServers: { sandbridge: self, notes: secret } }))
  const own = path.join(home, 'MCPs/.sandbridge')
  mkdirSync(own, { recursive: true })
  chmodSync(own, 0o755)
  const report = path.join(home, 'report.json')
  const found = await doctor('--report', report)
  expect(found.code).toBe(1)
  expect(found.findings.map(({ check }) => check).toSorted((a, b) => a.localeCompare(b))).toEqual([
    'clients',
    'folders',
    'sources',
  ])
  expect(found.findings.find(({ check }) => check === 'clients')!.advice).toBe(
    'sandbridge init --move --client claude-code',
  )
  const text = readFileSync(report, 'utf8')
  expect(text).not.toContain('sesame-sesame-1')
  expect(text).not.toContain(home)
  expect(statSync(report).mode & 0o777).toBe(0o600)
  expect((await doctor('--fix')).fixed).toHaveLength(1)
  expect(statSync(own).mode & 0o777).toBe(0o700)
})

it('doctor warns of servers that failed when last asked, and of denials that match no tool', async () => {
  const { home, doctor } = doctorIn({
    good: fixtureServer('raw.mjs', 'good'),
    broken: fixtureServer('raw.mjs', 'exit'),
  })
  const rules = { deny: ['good__delte'], ask: ['god'], allow: ['good__creat'] }
  writeFileSync(path.join(home, 'MCPs/permissions.json'), JSON.stringify({ permissions: rules }))
  await runCommand(['index'], bridgeEnv(home))
  const { code, findings } = await doctor()
  const told = findings.filter(({ check }) => check === 'servers' || check === 'permissions')
  expect(told.map(({ level, message, advice }) => `${level} ${message} ${advice}`)).toEqual([
    expect.stringMatching(/^warning No known tool matches the rule deny "good__delte" .*Correct or remove it/),
    expect.stringMatching(/^warning No known tool matches the rule ask "god" .*Correct or remove it/),
    expect.stringMatching(/^warning broken: .*exited with code \d+.* sandbridge servers broken --log$/s),
  ])
  expect(code).toBe(1)
  // A rule that allows nothing does no harm.
  const { code: shown, stdout } = await runCommand(['doctor'], bridgeEnv(home))
  expect(shown).toBe(1)
  expect(stdout).toMatch(/^ {2}permissions: No known tool matches the rule allow "good__creat"/m)
  expect(stdout.match(/good__delte/g)).toHaveLength(1)
})

it('doctor --thorough tries the walls of the sandbox and every server', async () => {
  const { doctor } = doctorIn(
    {
      good: fixtureServer('raw.mjs', 'good'),
      broken: fixtureServer('raw.mjs', 'exit'),
    },
    REAL_SANDBOX,
  )
  const { code, findings } = await doctor('--deep')
  const of = (check: string) => findings.filter((one) => one.check === check)
  expect(of('network')).toMatchObject([{ level: 'ok' }])
  for (const check of ['memory', 'seccomp', 'processes', 'time']) expect(of(check)).toMatchObject([{ level: 'ok' }])
  expect(of('servers')).toMatchObject([{ level: 'ok' }, { level: 'warning' }])
  expect(of('servers')[0]!.message).toMatch(/^good: 2 tools in \d/)
  expect(of('servers')[1]!.message).toContain('broken failed after')
  expect(code).toBe(1)
})

it('doctor tries all walls of the sandbox in one sandbox', async () => {
  const { bridge, opened, of } = await openObserved({ env: REAL_SANDBOX })
  const session = opened.openSession()
  const findings = await checkSandbox(opened, session, Promise.resolve())
  bridge.events.flush()
  expect(findings.map(({ check, level }) => `${check} ${level}`)).toEqual([
    'network ok',
    'seccomp ok',
    'processes ok',
    'time ok',
    'memory ok',
  ])
  expect(of('sandbox.started')).toHaveLength(1)
})

it('doctor finds a damaged snapshot of the embedded sandbox', async () => {
  const { home, doctor } = doctorIn({})
  // Other tests use the cache that homes share.
  const cacheFolder = path.join(home, 'cache/pyodide')
  rmSync(cacheFolder)
  // Else those of root have another place.
  chmodSync(home, 0o711)
  const bundle = await ensureBundle({
    cacheFolder,
    kernelFolder: KERNEL_FOLDER,
    readableByAll: false,
    build: async () => ({
      snapshot: Buffer.alloc(2_000),
      codeCache: Buffer.from('cache'),
      compiled: { index: '[]', data: Buffer.alloc(0) },
    }),
  })
  truncateSync(path.join(bundle, 'snapshot.bin'), 1_000)
  const { findings } = await doctor()
  expect(findings.filter(({ check }) => check === 'snapshot')).toMatchObject([
    { level: 'warning', message: expect.stringContaining(bundle) },
  ])
})

it('doctor exits with 2 when no cell runs', async () => {
  const { home } = doctorIn({})
  const env = bridgeEnv(home, { MCP_BRIDGE_RUNTIME: 'podman', PATH: '/nowhere' })
  const { code } = await runCommand(['doctor'], env)
  expect(code).toBe(2)
})

describe.each(['podman', 'docker', 'bubblewrap'] as const)('a sandbox of %s', { timeout: 240_000 }, (name) => {
  it(`doctor finds that a sandbox of ${name} holds: filter, processes, CPUs, time, memory and network`, async () => {
    await providerOrSkip(name)
    const home = makeHome({})
    const limits = { MCP_BRIDGE_PIDS: '64', MCP_BRIDGE_CPUS: '0.5', MCP_BRIDGE_MEMORY: '256m' }
    const env = bridgeEnv(home, { ...runtimeEnv(name), ...limits })
    const { code, stdout } = await runCommand(['doctor', '--json', '--deep'], env)
    const { findings } = JSON.parse(stdout) as Report
    const levels = Object.fromEntries(findings.map(({ check, level }) => [check, level]))
    expect(levels).toMatchObject({ network: 'ok', seccomp: 'ok', memory: 'ok', processes: 'ok', time: 'ok' })
    // Rootless podman on cgroup v1 cannot limit CPUs, and bubblewrap has no CPU limit.
    if (name === 'docker') expect(levels['cpus']).toBe('ok')
    expect([0, 1]).toContain(code)
  })
})

it('doctor warns of a file that MCP_SERVERS_CONFIG names and that defines no server', async () => {
  const { home } = doctorIn({})
  const file = path.join(home, 'named.json')
  writeFileSync(file, '{"mcpServers": {}}')
  const env = bridgeEnv(home, { MCP_SERVERS_CONFIG: file })
  const { code, stdout } = await runCommand(['doctor', '--json'], env)
  const { findings } = JSON.parse(stdout) as Report
  expect(findings.find(({ message }) => message.includes(file))).toMatchObject({ check: 'sources', level: 'warning' })
  expect(code).toBe(1)
})
