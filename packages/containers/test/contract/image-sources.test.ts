// @module-tag whole: it unpacks images
// This file verifies the sources from which bubblewrap can take an image's system, and that nothing in such a system
// leads back to this machine.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readSettings } from '../../../core/src/config/settings/settings.ts'
import { createLog } from '../../../core/src/util/log.ts'
import { findProvider } from '../../../native/src/choose/detect.ts'
import type { Provider } from '../../../core/src/isolation/provider.ts'
import { findPrograms } from '../../../core/src/util/process/find-program.ts'
import { openRoot } from '../../src/images/open-root.ts'
import { startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { IMAGE_CACHE, providerOrSkip, SLIM_IMAGE } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

/** A folder that every user can enter, on the disk with the images. */
function makeFolder(): string {
  mkdirSync(IMAGE_CACHE, { recursive: true, mode: 0o755 })
  const folder = mkdtempSync(path.join(IMAGE_CACHE, 'test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755)
  return folder
}

async function provide(image: string, env: Record<string, string> = {}): Promise<Provider> {
  const folder = makeFolder()
  const all = { MCP_BRIDGE_RUNTIME: 'bubblewrap', MCP_BRIDGE_IMAGE: image, MCP_BRIDGE_CACHE_DIR: folder, ...env }
  const settings = readSettings(all, { home: newFolder() })
  const { provider } = await findProvider(
    settings,
    createLog('error', () => {}),
  )
  return provider
}

/** The unpacked slim image; skips the test without it. */
async function slimRoot(): Promise<string> {
  await providerOrSkip('bubblewrap-image')
  return (await openRoot(SLIM_IMAGE, IMAGE_CACHE)).folder
}

/** Names in a system that this machine does not have, and one value of its environment. */
const LOOK = `[__import__('sys').executable, os.path.exists('/etc/passwd'), os.environ.get('MARK'), os.path.exists(${JSON.stringify(process.execPath)})]`

async function lookInto(provider: Provider): Promise<unknown> {
  const cells = await startCells(provider)
  await cells.run('import os')
  return cells.evaluate(LOOK)
}

function run(command: string, args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}

it('the system of a bubblewrap sandbox can be a folder', async () => {
  expect(await lookInto(await provide(await slimRoot()))).toEqual(['/usr/bin/python3', true, null, false])
})

it('the system of a bubblewrap sandbox can be an archive of files, made with tar', async () => {
  const root = await slimRoot()
  const archive = path.join(makeFolder(), 'system.tar')
  run('tar', ['--create', '--file', archive, '--directory', root, '.'])
  expect(await lookInto(await provide(archive))).toEqual(['/usr/bin/python3', true, null, false])
})

/** Builds an image, and saves it as an archive. */
function saved(engine: 'podman' | 'docker', context: string, lines: string[], how: string): string {
  writeFileSync(path.join(context, 'Containerfile'), lines.join('\n'))
  const name = `localhost/sandbridge-test-saved:${process.pid}`
  run(engine, ['build', '--network=none', '--file', path.join(context, 'Containerfile'), '--tag', name, context])
  onTestFinished(() => run(engine, ['rmi', '--force', name]))
  const archive = path.join(context, 'saved.tar')
  run('sh', ['-c', `umask 0; : > ${archive}; chmod 777 ${context}; ${engine} ${how} ${name} --output ${archive}`])
  return archive
}

it(
  'the system of a bubblewrap sandbox can be what `docker save` writes, with layers and environment',
  { timeout: 300_000 },
  async () => {
    await slimRoot()
    await providerOrSkip('docker')
    // One of its layers deletes a file of the layer below.
    const layers = [`FROM ${SLIM_IMAGE}`, 'ENV MARK=from-the-image', 'RUN rm /etc/issue && echo new > /etc/motd']
    const cells = await startCells(await provide(saved('docker', makeFolder(), layers, 'save')))
    await cells.run('import os')
    expect(await cells.evaluate(LOOK)).toEqual(['/usr/bin/python3', true, 'from-the-image', false])
    expect(await cells.evaluate("[os.path.exists('/etc/issue'), open('/etc/motd').read()]")).toEqual([false, 'new\n'])
  },
)

// Nothing runs in it: one of Python would take longer to build, save and unpack than to use.
it('what `podman save` writes is unpacked with its layers and environment', { timeout: 300_000 }, async () => {
  await providerOrSkip('podman')
  const context = makeFolder()
  for (const name of ['old', 'new']) writeFileSync(path.join(context, name), name)
  const layers = [
    'FROM scratch',
    'ENV MARK=from-the-image',
    'COPY old /etc/motd',
    'COPY old new /',
    'COPY new /etc/motd',
  ]
  const archive = saved('podman', context, layers, 'save --format oci-archive')
  const { folder, environment } = await openRoot(archive, makeFolder())
  expect(['old', 'new', 'etc/motd'].map((name) => readFileSync(path.join(folder, name), 'utf8'))).toEqual([
    'old',
    'new',
    'new',
  ])
  expect(environment).toContain('MARK=from-the-image')
})

it(
  'the system of a bubblewrap sandbox can be an image of an engine, and needs no engine from then on',
  { timeout: 300_000 },
  async () => {
    await slimRoot()
    const cache = makeFolder()
    const env = { MCP_BRIDGE_CACHE_DIR: cache }
    await (await provide(SLIM_IMAGE, env)).prepare()
    // PATH contains only what bubblewrap needs.
    const bin = path.join(makeFolder())
    for (const name of ['bwrap', 'setpriv']) symlinkSync(findPrograms(name)[0]!, path.join(bin, name))
    vi.stubEnv('PATH', bin)
    expect(await lookInto(await provide(SLIM_IMAGE, env))).toEqual(['/usr/bin/python3', true, null, false])
    // `auto` takes it where no engine is usable. Those in usual folders are found without the PATH.
    for (const name of ['podman', 'docker']) writeFileSync(path.join(bin, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const auto = await provide(SLIM_IMAGE, { ...env, MCP_BRIDGE_RUNTIME: 'auto' })
    expect(auto.name).toBe('bubblewrap')
    expect(await lookInto(auto)).toEqual(['/usr/bin/python3', true, null, false])
  },
)

it('links in a system lead inside of it, also those in the place of our own mounts', async () => {
  const root = path.join(makeFolder(), 'system')
  run('cp', ['--archive', '--link', await slimRoot(), root])
  const secret = path.join(makeFolder(), 'secret')
  writeFileSync(secret, 'secret of the host')
  chmodSync(secret, 0o644)
  const links = { host: path.dirname(secret), up: `../../../../../../..${path.dirname(secret)}` }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, path.join(root, name))
  for (const name of ['tmp', 'workspace', 'proc', 'mnt', 'opt', 'dev', 'run', 'etc']) {
    rmSync(path.join(root, name), { recursive: true, force: true })
    symlinkSync(path.dirname(secret), path.join(root, name))
  }
  const mounted = makeFolder()
  writeFileSync(path.join(mounted, 'note'), 'mounted')
  const cells = await startCells(await provide(root, { MCP_BRIDGE_MOUNT: mounted }))
  const seen = await cells.evaluate<string[]>(
    `[open(f'/{name}/secret').read() for name in __import__('os').listdir('/') if __import__('os').path.exists(f'/{name}/secret')]`,
  )
  expect(seen).toEqual([])
  expect(await cells.evaluate(`open('/mnt/${path.basename(mounted)}/note').read()`)).toBe('mounted')
  expect(await cells.evaluate(`open('/tmp/mine', 'w').write('x')`)).toBe(1)
  // The control: the same links, followed on this machine.
  expect(readFileSync(path.join(root, 'host/secret'), 'utf8')).toBe('secret of the host')
  expect(readdirSync(path.dirname(secret))).toEqual(['secret'])
})

describe('a system that cannot be used is refused in words', () => {
  const cases: [what: string, image: (folder: string) => string, words: RegExp][] = [
    ['nothing there', (folder) => path.join(folder, 'none.tar'), /is not there, or cannot be read/],
    [
      'no archive',
      (folder) => (writeFileSync(path.join(folder, 'x.tar'), 'x'), path.join(folder, 'x.tar')),
      /is damaged, or not a supported archive/,
    ],
    ['the whole machine', () => '/', /also holds .*, which cells must not read/],
    [
      'no Python',
      (folder) => (mkdirSync(path.join(folder, 'usr')), folder),
      /cannot run the python3 of .*No such file/,
    ],
    [
      'a name that no engine has',
      () => 'localhost/no-such:1',
      /Image localhost\/no-such:1 was not found|No engine can fetch/,
    ],
  ]
  it.for(cases)('a system that cannot be used is refused in words: %s', async ([, image, words]) => {
    await providerOrSkip('bubblewrap')
    const provider = await provide(image(makeFolder()))
    await expect(provider.prepare()).rejects.toThrow(words)
  })

  it('an engine refuses a folder or an archive as its system, in words', async () => {
    const archive = path.resolve('/some/system.tar')
    const refused = provide(archive, { MCP_BRIDGE_RUNTIME: 'podman' })
    await expect(refused).rejects.toThrow(`podman cannot use a folder or an archive: ${archive}`)
  })
})
