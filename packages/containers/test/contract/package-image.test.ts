// @module-tag whole: it builds images
// This file verifies MCP_BRIDGE_PACKAGES in containers: the image's own pip installs them once into a new image, from
// its configured index. Here that is a folder of wheels in the image, so that no test needs a network.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { probeEngine } from '../../src/probe-engine.ts'
import { ContainerProvider } from '../../src/provider.ts'
import { startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import {
  makeProvider,
  providerOrSkip,
  removeImageOf,
  runtimeEnv,
  whyNot,
} from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { makeWheel } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import { needsIndex, needsWholeRun, skip, WHY_NOT_NOW } from '@sandbridge/core/test/support/suite/needs.ts'
import { addPip, buildImage, hostPip, removeImages } from '@sandbridge/core/test/support/sandboxes/pip-image.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const LABEL = 'sandbridge.test=packages'
const WITHOUT_PIP = 'localhost/sandbridge-test-no-pip:1'
const WITH_PIP = 'localhost/sandbridge-test-pip:1'
/** Its pip has no configuration: the public index is its index. */
const WITH_INDEX = 'localhost/sandbridge-test-pip-index:1'

const served = (version: string) =>
  makeWheel({ name: 'served', version, files: { 'served.py': `VERSION = '${version}'\n` } })

function writeWheel(folder: string, { fileName, data }: ReturnType<typeof makeWheel>): string {
  writeFileSync(path.join(folder, fileName), data)
  return path.join(folder, fileName)
}

describe.each(['podman', 'docker'] as const)('%s: packages that have to be installed', (engine) => {
  const folder = newFolder()
  const pip = hostPip()
  let problem = ''

  function build(name: string, lines: string[]): void {
    problem ||= buildImage(engine, name, folder, [`LABEL ${LABEL}`, ...lines])
  }

  beforeAll(async () => {
    // Each test skips itself.
    if ((await whyNot(makeProvider(engine))) !== undefined || (engine === 'docker' && WHY_NOT_NOW)) return
    // Those of an earlier run that was killed: an existing image would not be built again.
    removeImages(engine, LABEL)
    chmodSync(folder, 0o755)
    if (pip === undefined) return
    const withPip = addPip(pip, folder)
    mkdirSync(path.join(folder, 'wheels'))
    for (const version of ['1.0', '2.0']) writeWheel(path.join(folder, 'wheels'), served(version))
    writeFileSync(path.join(folder, 'pip.conf'), '[global]\nno-index = true\nfind-links = /srv/wheels\n')
    build(WITHOUT_PIP, [])
    build(WITH_INDEX, withPip)
    build(WITH_PIP, [...withPip, 'COPY wheels /srv/wheels', 'COPY pip.conf /etc/pip.conf'])
  }, 240_000)

  afterAll(() => {
    removeImages(engine, LABEL)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  function provide(packages: string[], image = WITH_PIP): ContainerProvider {
    return new ContainerProvider(engine, { image, user: '65534:65534', pidsCount: 128, packages })
  }

  async function needEngine(): Promise<void> {
    // The same code with podman is tried in each run.
    if (engine === 'docker') needsWholeRun()
    await providerOrSkip(engine)
    if (pip === undefined) skip('python3 of this machine has no pip')
    // For this, rootless engines need a device that not every machine has.
    if (/slirp4netns|pasta/.test(problem)) skip(`${engine} cannot give a build step a network here`)
    expect(problem).toBe('')
  }

  it(
    'packages that need pip are installed once, next to wheel files, and cells import them',
    { timeout: 240_000 },
    async () => {
      await needEngine()
      const packages = ['served>=1.5', writeWheel(folder, makeWheel())]
      const [first, second]: [string[], string[]] = [[], []]
      await provide(packages).prepare((message) => first.push(message))
      expect(first[0]).toMatch(`Building an image with ${engine} (once): `)
      expect(first.join('\n')).toContain('Successfully installed served-2.0 tinypkg-1.0')

      const provider = provide(packages)
      await provider.prepare((message) => second.push(message))
      expect(second).toEqual([])
      const cells = await startCells(provider)
      removeImageOf(cells.kernel.sandbox)
      expect((await cells.run('import served, tinypkg\n(served.VERSION, tinypkg.ANSWER)')).value).toBe("('2.0', 42)")
      // The installer is gone, and with it any network access it had.
      expect((await cells.run('import pip')).error?.name).toBe('ModuleNotFoundError')
      const interfaces = "[line.split(':')[0].strip() for line in open('/proc/net/dev').readlines()[2:]]"
      expect(await cells.evaluate(interfaces)).toEqual(['lo'])
    },
  )

  it('packages of the index work', { timeout: 600_000 }, async () => {
    needsWholeRun()
    await needEngine()
    needsIndex()
    // One with compiled parts, in one engine: with another, what installs them is the same, only its network is not.
    // data-packages.test.ts installs large ones, and data-image.test.ts uses such in containers.
    const [packages, cell, shown] =
      engine === 'podman'
        ? [['numpy'], 'import numpy\nint(numpy.linalg.det([[2, 0], [0, 3]]).round())', '6']
        : [['six'], 'import six\nsix.u("x")', "'x'"]
    const provider = provide(packages, WITH_INDEX)
    const cells = await startCells(provider)
    removeImageOf(cells.kernel.sandbox)
    // This machine reaches the index; a build step has another network, or none.
    const [missing] = provider.missingPackages
    if (missing && /index cannot be reached|No matching distribution/.test(missing.reason))
      skip(`${engine} cannot give a build step a network here`)
    const { value, error } = await cells.run(cell)
    expect(error?.traceback).toBeUndefined()
    expect(value).toBe(shown)
  })

  // Its JavaScript engine reserves more address space than a sandbox may have that counts its memory itself.
  it('a chart of Altair is an image where the host counts memory', { timeout: 600_000 }, async () => {
    needsWholeRun()
    await needEngine()
    needsIndex()
    const { engine: found } = await probeEngine(engine)
    if (!found!.enforcesLimits) skip('the host does not count the memory of this engine')
    const packages = ['altair', 'vl-convert-python']
    // No client waits so long.
    await provide(packages, WITH_INDEX).prepare()
    const bridge = await startBridge({
      env: { ...runtimeEnv(engine, WITH_INDEX), MCP_BRIDGE_PACKAGES: packages.join(' ') },
    })
    const { content, text } = await bridge.call({
      code: 'import altair as alt\nalt.Chart(alt.Data(values=[{"x": 1}])).mark_bar().encode(x="x:Q")',
    })
    expect(
      content.map(({ type }) => type).filter((type) => type === 'image'),
      text,
    ).toEqual(['image'])
  })

  it('a package that does not exist is missing, and the others are there', { timeout: 240_000 }, async () => {
    await needEngine()
    const provider = provide(['served', 'no-such-package'])
    const cells = await startCells(provider)
    removeImageOf(cells.kernel.sandbox)
    expect(provider.missingPackages).toMatchObject([
      {
        word: 'no-such-package',
        reason: 'No matching distribution found for no-such-package',
      },
    ])
    expect((await cells.run('import served\nserved.VERSION')).value).toBe("'2.0'")
    // No container of the failed step is left.
    const containers = spawnSync(engine, ['ps', '--all', '--no-trunc', '--format', '{{.Command}}'], {
      encoding: 'utf8',
    })
    expect(containers.stdout).not.toContain('--only-binary')
  })

  it('an image without pip and ensurepip runs cells, without the packages', { timeout: 240_000 }, async () => {
    await needEngine()
    const has = spawnSync(engine, ['run', '--rm', '--network=none', WITHOUT_PIP, 'python3', '-c', 'import ensurepip'])
    if (has.status === 0) skip('the slim image has ensurepip')
    const provider = provide(['served'], WITHOUT_PIP)
    const cells = await startCells(provider)
    expect((await cells.run('1 + 1')).value).toBe('2')
    expect(provider.missingPackages?.[0]?.reason).toMatch(/No module named ensurepip$/)
  })
})
