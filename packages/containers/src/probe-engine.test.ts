// Recorded output of engines on machines that a test cannot have. packages/containers/test/contract tests this
// machine's engines.
import { hostname, release } from 'node:os'
import { describe, expect, it, vi } from 'vitest'
import type { CommandResult } from '../../core/src/util/process/run-command.ts'
import { commandEnvironment } from '../../core/src/util/process/find-program.ts'
import { startPodmanMachine } from './podman-machine.ts'
import { probeEngine } from './probe-engine.ts'
import { needsLinux, needsPosix } from '@sandbridge/core/test/support/suite/needs.ts'

const said = (result: Partial<CommandResult>) => async () => ({
  code: 0,
  stdout: '',
  stderr: '',
  missing: false,
  ...result,
})

const ROOTLESS_PODMAN = {
  host: { cgroupControllers: ['cpu', 'memory', 'pids'], cgroupVersion: 'v2', security: { rootless: true } },
  store: {},
  version: { Version: '5.6.0' },
}
const DOCKER = {
  ServerVersion: '28.2.2',
  MemoryLimit: true,
  PidsLimit: true,
  CpuCfsQuota: true,
  OSType: 'linux',
  SecurityOptions: ['name=seccomp'],
}

describe('probeEngine', () => {
  it.each([
    ['podman', ROOTLESS_PODMAN, 'podman 5.6.0, rootless'],
    ['docker', DOCKER, 'docker 28.2.2, rootful'],
    ['docker', { ...DOCKER, SecurityOptions: ['name=rootless'] }, 'docker 28.2.2, rootless'],
    ['docker', ROOTLESS_PODMAN, 'docker (which is podman) 5.6.0, rootless'],
  ] as const)('an engine that works is probed: %s', async (command, info, verdict) => {
    const probe = await probeEngine(command, said({ stdout: JSON.stringify(info) }))
    expect(probe.verdict).toBe(verdict)
    expect(probe.engine?.enforcesLimits).toBe(true)
  })

  it('a line that a wrapper prints before the answer is passed over', async () => {
    const stdout = `Welcome to podman of ACME\n${JSON.stringify(ROOTLESS_PODMAN, undefined, 2)}`
    expect((await probeEngine('podman', said({ stdout }))).verdict).toBe('podman 5.6.0, rootless')
  })

  it('an engine in a usual folder is found where the PATH of a graphical client lacks it', () => {
    needsPosix('Windows has other folders')
    vi.stubEnv('PATH', '/sbin')
    expect(commandEnvironment()['PATH']).toMatch(/^\/sbin:\/usr\/local\/bin:.*\/opt\/homebrew\/bin/)
  })

  it("an engine is local when it has the host's name and kernel, which is not asked over a remote connection", async () => {
    needsLinux('elsewhere containers run in a virtual machine')
    const isLocal = async (command: 'podman' | 'docker', info: object) =>
      (await probeEngine(command, said({ stdout: JSON.stringify(info) }))).engine?.isLocal
    const docker = { ...DOCKER, Name: hostname(), KernelVersion: release() }
    expect(await isLocal('docker', docker)).toBe(true)
    expect(await isLocal('docker', { ...docker, Name: 'docker-desktop' })).toBe(false)
    expect(await isLocal('docker', { ...docker, KernelVersion: '6.6-linuxkit' })).toBe(false)
    expect(await isLocal('docker', DOCKER)).toBe(false)
    const host = { ...ROOTLESS_PODMAN.host, hostname: hostname(), kernel: release() }
    expect(await isLocal('podman', { ...ROOTLESS_PODMAN, host })).toBe(true)
    expect(await isLocal('podman', { ...ROOTLESS_PODMAN, host: { ...host, serviceIsRemote: true } })).toBe(false)
    expect(await isLocal('podman', ROOTLESS_PODMAN)).toBe(false)
  })

  it('docker that is podman in disguise is driven as podman', async () => {
    const { engine } = await probeEngine('docker', said({ stdout: JSON.stringify(ROOTLESS_PODMAN) }))
    expect(engine).toMatchObject({ command: 'docker', dialect: 'podman' })
  })

  it('rootless podman on cgroup v1 is reported as unable to enforce limits', async () => {
    const info = { ...ROOTLESS_PODMAN, host: { ...ROOTLESS_PODMAN.host, cgroupVersion: 'v1', cgroupControllers: [] } }
    const { engine, verdict } = await probeEngine('podman', said({ stdout: JSON.stringify(info) }))
    expect(engine?.enforcesLimits).toBe(false)
    expect(verdict).toContain('enforced inside the sandbox')
    expect([engine?.enforcesCpus, verdict]).toEqual([false, expect.stringContaining('MCP_BRIDGE_CPUS has no effect')])
  })

  it('rootless podman without the cpu controller is reported', async () => {
    const host = { ...ROOTLESS_PODMAN.host, cgroupControllers: ['memory', 'pids'] }
    const { engine, verdict } = await probeEngine(
      'podman',
      said({ stdout: JSON.stringify({ ...ROOTLESS_PODMAN, host }) }),
    )
    expect(engine).toMatchObject({ enforcesLimits: true, enforcesCpus: false })
    expect(verdict).toBe('podman 5.6.0, rootless; it cannot limit CPUs, so MCP_BRIDGE_CPUS has no effect')
  })

  const EMPTY = JSON.stringify({ ...DOCKER, ServerVersion: '' })
  it.each([
    ['not installed', 'docker', { code: null, missing: true }, /not installed/],
    [
      'no daemon',
      'docker',
      { code: 1, stdout: EMPTY, stderr: 'Cannot connect to the Docker daemon at unix:///x. Is it running?' },
      /daemon is not running/,
    ],
    [
      'no daemon, older command',
      'docker',
      { code: 0, stdout: EMPTY, stderr: 'Cannot connect to the Docker daemon' },
      /daemon is not running/,
    ],
    [
      'socket not permitted',
      'docker',
      { code: 1, stderr: 'permission denied while trying to connect to the Docker daemon socket at unix:///x' },
      /no permission for its socket/,
    ],
    ['Windows containers', 'docker', { stdout: JSON.stringify({ ...DOCKER, OSType: 'windows' }) }, /Linux containers/],
    ['no answer', 'docker', { code: null, stderr: 'no answer within 15 s' }, /no answer within 15 s/],
    ['nonsense', 'podman', { stdout: 'null' }, /does not work/],
    [
      'the stub of Docker Desktop',
      'docker',
      { code: 1, stdout: "\nThe command 'docker' could not be found in this WSL 2 distro.\nWe recommend …\n" },
      /not switched on for this distribution of WSL/,
    ],
    [
      'a certificate that is not trusted',
      'docker',
      { stdout: EMPTY, stderr: 'error during connect: Get "https://10.0.0.9": tls: x509: unknown authority' },
      /certificate \(.*x509: unknown authority\); check DOCKER_HOST/,
    ],
    [
      'ids of users that may not be mapped',
      'podman',
      { code: 125, stderr: 'running `/usr/bin/newuidmap 3 0 1000 1`: Operation not permitted\nError: exit status 1' },
      /Operation not permitted.*\/etc\/subuid/,
    ],
    [
      'a service that does not run',
      'podman',
      { code: 125, stderr: 'unable to connect to Podman socket: dial unix /run/user/1000/podman/podman.sock: no file' },
      /service does not run .*podman\.sock/,
    ],
    ['another fault', 'podman', { code: 125, stderr: 'Error: a\nError: no subuid ranges found' }, /no subuid ranges/],
  ] as const)('an engine that cannot be used is explained: %s', async (_, command, result, verdict) => {
    const probe = await probeEngine(command, said(result))
    expect(probe.engine).toBeUndefined()
    expect(probe.verdict).toMatch(verdict)
  })

  it('a stopped podman machine is distinguished from a broken engine', async () => {
    const stderr =
      'Cannot connect to Podman. Please verify your connection to the Linux system using `podman system connection list`, or try `podman machine init` and `podman machine start`'
    expect(await probeEngine('podman', said({ code: 125, stderr }))).toMatchObject({ stoppedMachine: true })
    expect((await probeEngine('podman', said({ missing: true }))).stoppedMachine).toBeUndefined()
  })
})

const machine = (list: object[], start: Partial<CommandResult> = {}) => {
  const commands: string[] = []
  const run = async (_command: string, args: readonly string[]) => {
    commands.push(args.join(' '))
    return said(args[1] === 'list' ? { stdout: JSON.stringify(list) } : start)()
  }
  return { commands, run }
}

it('startPodmanMachine starts the default machine, and does nothing else', async () => {
  const { commands, run } = machine([
    { Name: 'other' },
    { Name: 'podman-machine-default*', Default: true, Running: false },
  ])
  const progress: string[] = []
  await startPodmanMachine((message) => progress.push(message), run)
  expect(commands).toEqual(['machine list --format json', 'machine start podman-machine-default'])
  expect(progress).toHaveLength(1)
})

it('startPodmanMachine leaves a running machine alone', async () => {
  const { commands, run } = machine([{ Name: 'a', Running: true }])
  await startPodmanMachine(undefined, run)
  expect(commands).toEqual(['machine list --format json'])
})

it('startPodmanMachine creates no machine', async () => {
  const { commands, run } = machine([])
  await expect(startPodmanMachine(undefined, run)).rejects.toMatchObject({ code: 'SANDBOX_ENGINE_MISSING' })
  expect(commands).toHaveLength(1)
})

it('startPodmanMachine reports why a machine does not start', async () => {
  const { run } = machine([{ Name: 'a' }], { code: 125, stderr: 'Error: qemu is missing' })
  await expect(startPodmanMachine(undefined, run)).rejects.toThrow(/qemu is missing/)
})
