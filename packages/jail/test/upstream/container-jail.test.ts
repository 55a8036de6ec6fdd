// @module-tag whole: it needs an engine
// This file verifies what is specific to a jail that is a container: secrets, mounts inside mounts, images, and that
// nothing of it is left.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type {
  ServerDefinition,
  ServerSandbox,
  StdioServer,
} from '../../../core/src/config/entries/server-definition.ts'
import { findJailMaker } from '../../src/jail-maker.ts'
import { SLIM_IMAGE } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { open, program, textOf, until } from '@sandbridge/core/test/upstream/support.ts'
import { needsRoot, skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const ENGINES = ['podman', 'docker'] as const
const FIXTURES = path.join(import.meta.dirname, '../../../core/test/fixtures/servers')

async function whyNot(engine: (typeof ENGINES)[number]): Promise<string | undefined> {
  for (const image of [undefined, SLIM_IMAGE]) {
    const found = await findJailMaker(image, [engine])
    if (typeof found === 'string' && (process.env['SANDBRIDGE_TEST_ENGINES'] ?? '').includes(engine))
      throw new Error(found)
    if (typeof found === 'string') return found
  }
  return undefined
}
const REASONS = await Promise.all(ENGINES.map(whyNot))

describe.each(ENGINES)('a server in a container of %s', (engine) => {
  beforeEach(() => {
    const why = REASONS[ENGINES.indexOf(engine)]
    if (why !== undefined) skip(why)
  })
  const home = realpathSync(newFolder())
  const project = path.join(home, 'project')
  const stateDir = path.join(home, 'MCPs')
  mkdirSync(path.join(stateDir, '.sandbridge/jail'), { recursive: true })
  mkdirSync(project)
  for (const one of [home, project]) chmodSync(one, 0o777)
  const jail = { home, stateDir, hidden: () => [], makers: [engine] }

  const intruder = (sandbox: ServerSandbox, env: Record<string, string> = {}): ServerDefinition => {
    const definition = program('intruder', path.join(FIXTURES, 'intruder.mjs'))
    return { ...definition, transport: { ...(definition.transport as StdioServer), sandbox, env } }
  }
  const start = (definition: ServerDefinition) => {
    const upstreams = open([definition], { jail, cwd: project })
    const run = async (code: string) => textOf(await upstreams.callTool('intruder', 'run', { code }))
    return Object.assign(upstreams, { run })
  }
  const filter = `label=sandbridge.bridge=${process.pid}`
  const allContainers = (): string[] =>
    execFileSync(engine, ['ps', '--all', '--filter', filter, '--format', '{{.Names}}']).toString().trim().split('\n')
  /** Test files share worker processes, so an earlier file's containers have the same label. */
  let before: string[] = []
  beforeAll(() => {
    if (REASONS[ENGINES.indexOf(engine)] === undefined) before = allContainers()
  })
  const containers = (): string =>
    allContainers()
      .filter((name) => !before.includes(name))
      .join('\n')
  /** Every command line on this machine. */
  const commandLines = (): string =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        } catch {
          return ''
        }
      })
      .join('\n')

  it(`a server in a container of ${engine} gets its secrets, and no command line has them`, async () => {
    const env = { TOKEN: `token-${engine}-5fd1`, PATH: process.env['PATH']!, DOCKER_HOST: 'tcp://nowhere.invalid:1' }
    const { run } = start(intruder({}, env))
    expect(await run('return [process.env.TOKEN, process.env.DOCKER_HOST, process.env.HOME].join()')).toBe(
      `token-${engine}-5fd1,tcp://nowhere.invalid:1,${home}`,
    )
    expect(commandLines()).toContain(containers())
    expect(commandLines()).not.toContain(`token-${engine}`)
  })

  it(`a server in a container of ${engine} gets only the variables that its definition passes on`, async () => {
    process.env['BRIDGE_SECRET'] = 'of-the-bridge'
    onTestFinished(() => void delete process.env['BRIDGE_SECRET'])
    const { run } = start(intruder({}, { 'BRIDGE_*': 'x' }))
    expect(await run('return JSON.stringify(process.env)')).not.toContain('of-the-bridge')
  })

  it(`a server in a container of ${engine} is killed when its container is removed, which a bridge that ends does not wait for`, async () => {
    const { run } = start(intruder({}))
    await run('return 1')
    const asked = [containers(), '--format', '{{.Config.StopTimeout}}']
    expect(
      execFileSync(engine, ['inspect', ...asked])
        .toString()
        .trim(),
    ).toBe('0')
  })

  it(`a server in a container of ${engine} has no capabilities, no new privileges and a filter of system calls`, async () => {
    const { run } = start(intruder({}))
    const status = await run("return require('node:fs').readFileSync('/proc/self/status', 'utf8')")
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(status).toMatch(/^CapBnd:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(await run("return require('node:fs').readdirSync('/sys/class/net').join()")).toBe('lo')
  })

  it(`a server in a container of ${engine} leaves nothing when it is stopped, when it crashes, and when it does not want to end`, async () => {
    const temporary = path.join(home, 'tmp')
    mkdirSync(temporary)
    chmodSync(temporary, 0o777)
    vi.stubEnv('TMPDIR', temporary)
    const ownFolders = (): string[] => readdirSync(temporary).filter((name) => /^sandbridge-\w{6}$/.test(name))
    for (const last of [
      'return 1',
      "setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50); setTimeout(() => process.exit(3), 100); return 1",
      "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); return 1",
    ]) {
      const upstreams = start(intruder({ network: { allowedDomains: ['*'] } }))
      await upstreams.run(last)
      if (last.startsWith('setTimeout')) await until(() => containers() === '')
      else {
        expect(containers()).not.toBe('')
        expect(ownFolders()).toHaveLength(1)
        expect(commandLines()).toContain(temporary)
      }
      await upstreams.close()
      expect(containers()).toBe('')
    }
    expect(ownFolders()).toEqual([])
    // The watchdog of the containers has the folder in its arguments.
    await until(() => !commandLines().includes(temporary))
  })

  it(`a server in a container of ${engine} cannot write to a disk that is mounted inside a folder it may read`, async () => {
    needsRoot('it mounts a disk')
    const inner = path.join(project, 'inner')
    mkdirSync(inner)
    chmodSync(inner, 0o777)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=777', 'tmpfs', inner])
    onTestFinished(() => void spawnSync('umount', ['--lazy', inner]))
    const code = `require('node:fs').writeFileSync(${JSON.stringify(path.join(inner, 'x'))}, 'x'); return 'written'`
    expect(await start(intruder({ filesystem: { allowWrite: [project] } })).run(code)).toBe('written')
    expect(await start(intruder({})).run(code)).toBe('failed: EROFS')
  })

  it(`a server in a container of ${engine} runs with the programs of an image when its definition names one`, async () => {
    const file = path.join(project, 'stubborn.py')
    execFileSync('cp', [path.join(FIXTURES, 'stubborn.py'), file])
    chmodSync(file, 0o644)
    const transport: StdioServer = {
      type: 'stdio',
      command: 'python3',
      args: [file],
      env: { TOKEN: 'given' },
      sandbox: { image: SLIM_IMAGE },
    }
    const upstreams = open([{ ...intruder({}), transport }], { jail, cwd: project })
    const seen: unknown = JSON.parse(textOf(await upstreams.callTool('intruder', 'look', {})))
    expect(seen).toMatchObject({ token: 'given', '/usr/bin/node': false, [path.join(home, '.ssh')]: false })
    expect(existsSync('/usr/bin/node') || existsSync(process.execPath)).toBe(true)
  })

  it(`a server in a container of ${engine} is not started when its image does not exist, or its name is an option`, async () => {
    await expect(start(intruder({ image: 'localhost/none:1' })).run('1')).rejects.toMatchObject({
      code: 'UPSTREAM_JAIL_UNAVAILABLE',
      message: expect.stringContaining(`${engine} has no image localhost/none:1`) as string,
    })
    await expect(start(intruder({ image: '--privileged' })).run('1')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it(`a server in a container of ${engine} is not started with a path that would be read as an option of a mount`, async () => {
    const odd = path.join(home, 'a,readonly=false')
    mkdirSync(odd, { recursive: true })
    await expect(start(intruder({ filesystem: { allowWrite: [odd] } })).run('1')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('comma') as string,
    })
  })
})
