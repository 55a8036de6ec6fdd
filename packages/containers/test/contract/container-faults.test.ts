// @module-tag whole: engines that fail, each for some seconds
// This file verifies real faults of engines and images: each is a clear error and affects nothing that worked.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeExit } from '../../../core/src/cell/kernel/channel.ts'
import { Kernel } from '../../../core/src/cell/kernel/kernel.ts'
import { ContainerProvider } from '../../src/provider.ts'
import { newContainerName, ownerLabels, removeLeftovers } from '../../src/owner.ts'
import { probeEngine } from '../../src/probe-engine.ts'
import { runCommand } from '../../../core/src/util/process/run-command.ts'
import { languages } from '@sandbridge/core/parts'
import { buildImage } from '../../src/build-image.ts'
import { MEMORY_BYTES, startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { startEngineProxy } from '../support/engine-proxy.ts'
import {
  DATA_IMAGE,
  makeProvider,
  NODE_IMAGE,
  providerOrSkip,
} from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { SLIM_IMAGE, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { programOnPath } from '../support/program-on-path.ts'
import { needsRoot, needsWholeRun } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const DOCKER_SOCKET = '/var/run/docker.sock'

const withImage = (engine: 'podman' | 'docker', image: string) =>
  new ContainerProvider(engine, { image, user: '65534:65534', pidsCount: 128 })

function setEnv(name: string, value: string): void {
  vi.stubEnv(name, value)
}

describe.each(['podman', 'docker'] as const)('%s: images', (engine) => {
  const empty = 'localhost/sandbridge-test-empty:1'
  const volumes = 'localhost/sandbridge-test-volumes:1'

  beforeAll(async () => {
    // Each test skips itself.
    if ((await whyNot(makeProvider(engine))) !== undefined) return
    const tar = spawnSync('tar', ['-c', '-C', import.meta.dirname, 'container-faults.test.ts']).stdout
    spawnSync(engine, ['import', '-', empty], { input: tar })
    spawnSync(engine, ['build', '--tag', volumes, '-'], {
      input: `FROM ${SLIM_IMAGE}\nVOLUME /data /tmp /workspace /dev/shm /tmp/data\n`,
    })
  })
  afterAll(() => void spawnSync(engine, ['rmi', '--force', empty, volumes]))

  it('an image that does not exist and has no registry is reported', async () => {
    await providerOrSkip(engine)
    const missing = withImage(engine, 'localhost/no-such-image:1')
    await expect(missing.prepare()).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_MISSING',
      message: expect.stringContaining('localhost/no-such-image:1'),
      hint: expect.stringContaining('sandbridge image build slim'),
    })
  })

  it('an image that cannot be pulled is reported with the progress and the reason', async () => {
    await providerOrSkip(engine)
    const progress: string[] = []
    // A separate registry for each engine, because an unreachable one is remembered for a while.
    const image = `localhost:${engine === 'docker' ? 1 : 2}/python:3`
    const missing = withImage(engine, image)
    const problem = missing.prepare((message) => void progress.push(message))
    await expect(problem).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_MISSING',
      message: expect.stringMatching(/connection refused/i),
    })
    expect(progress[0]).toBe(`Pulling ${image} with ${engine}`)
    expect(progress.length).toBeGreaterThan(1)
  })

  it('an image without python3 is reported', async () => {
    await providerOrSkip(engine)
    const sandbox = await withImage(engine, empty).start({ memoryBytes: MEMORY_BYTES })
    await expect(Kernel.attach(sandbox)).rejects.toThrow(`Image ${empty} has no working python3`)
  })

  it('an image that declares a volume gets none', async () => {
    await providerOrSkip(engine)
    const writes = "open('/data/x', 'w').write('x')"
    const bare = spawnSync(engine, ['run', '--rm', '--network=none', '--read-only', volumes, 'python3', '-c', writes])
    expect(bare.status, String(bare.stderr)).toBe(0)
    const cells = await startCells(withImage(engine, volumes))
    expect((await cells.run(writes)).error?.message).toMatch(/Read-only file system|Permission denied/)
    // In a sandbox with its own folders, these stay unchanged.
    for (const folder of ['/tmp', '/workspace', '/dev/shm'])
      expect((await cells.run(`open('${folder}/x', 'w').write('x')`)).error?.message).toBeUndefined()
    expect((await cells.run(writes.replace('/data', '/tmp/data'))).error?.message).toMatch(/Read-only file system/)
  })

  it('the data image groups a DataFrame and draws', async () => {
    if (engine === 'docker') needsWholeRun()
    const cells = await startCells(await providerOrSkip(engine, DATA_IMAGE))
    const grouped = await cells.run(
      "import pandas as pd\npd.DataFrame({'k': list('aab'), 'v': [1, 2, 3]}).groupby('k').v.sum().to_dict()",
    )
    expect([grouped.error?.traceback, grouped.value]).toEqual([undefined, "{'a': 3, 'b': 3}"])
    const drawn = await cells.run(
      `import io, matplotlib.pyplot as plt, numpy as np
from PIL import Image
from scipy import stats
from sklearn.linear_model import LinearRegression
x = np.arange(10.0)
slope = LinearRegression().fit(x[:, None], 2 * x).coef_[0]
figure, axes = plt.subplots()
axes.plot(x, stats.norm.pdf(x))
buffer = io.BytesIO()
figure.savefig(buffer, format='png')
plt.close(figure)
Image.open(buffer).size, round(slope, 6)`,
    )
    expect([drawn.error?.traceback, drawn.value]).toEqual([
      undefined,
      expect.stringMatching(/^\(\(640, 480\), .*2\.0\)?\)$/),
    ])
  })
})

describe.each(['podman', 'docker'] as const)('%s: containers that come and go', (engine) => {
  it('a container that was removed from outside is a dead kernel, and the next one starts', async () => {
    const provider = await providerOrSkip(engine)
    const cells = await startCells(provider)
    const running = cells.run("print('here', flush=True)\nimport time\ntime.sleep(600)")
    await cells.printed('here')
    await runCommand(engine, ['kill', cells.kernel.sandbox.id])
    expect(await running).toMatchObject({ status: 'died', exit: { reason: 'killed' } })
    expect((await (await startCells(provider)).run('1 + 1')).value).toBe('2')
  })

  it('leftover containers of dead bridges are removed, and those of living bridges stay', async () => {
    await providerOrSkip(engine)
    const { engine: found } = await probeEngine(engine)
    const ended = spawnSync('true').pid
    const dead = `sandbridge-${ended}-12345-${Date.now().toString(16)}`
    const alive = newContainerName()
    for (const name of [dead, alive]) {
      const labels = Object.entries(ownerLabels(name)).flatMap(([key, value]) => ['--label', `${key}=${value}`])
      const { code, stderr } = await runCommand(engine, [
        'create',
        '--name',
        name,
        '--network=none',
        ...labels,
        SLIM_IMAGE,
        'true',
      ])
      expect([code, stderr]).toEqual([0, expect.any(String)])
    }
    // Not together with the other one, which is gone then: podman 4.3 would remove neither.
    onTestFinished(async () => void (await runCommand(engine, ['rm', '--force', alive])))
    const removed = await removeLeftovers(found!)
    expect(removed).toContain(dead)
    expect(removed).not.toContain(alive)
    await until(async () => (await runCommand(engine, ['ps', '-aq', '--filter', `name=${dead}`])).stdout === '')
    expect((await runCommand(engine, ['ps', '-aq', '--filter', `name=${alive}`])).stdout).not.toBe('')
  })

  it('the containers of a session are of the image that was found first, though its name may move to another', async () => {
    const provider = await providerOrSkip(engine)
    const cells = await startCells(provider)
    const { stdout } = await runCommand(engine, ['inspect', '--format', '{{.Image}}', cells.kernel.sandbox.id])
    const image = await runCommand(engine, ['image', 'inspect', '--format', '{{json .}}', SLIM_IMAGE])
    expect(image.stdout).toContain(stdout)
  })

  it('a container is labelled with its bridge and its sandbox', async () => {
    const cells = await startCells(await providerOrSkip(engine))
    const { id } = cells.kernel.sandbox
    const { stdout } = await runCommand(engine, ['inspect', '--format', '{{json .Config.Labels}}', id])
    expect(JSON.parse(stdout)).toMatchObject({ 'sandbridge.bridge': String(process.pid), 'sandbridge.sandbox': id })
  })
})

it('an engine that does not work is reported', async () => {
  // One that is missing cannot be simulated: the usual folders are searched, whatever the PATH is.
  programOnPath('docker', 'echo "the daemon is broken" >&2\nexit 1')
  await expect(withImage('docker', SLIM_IMAGE).prepare()).rejects.toMatchObject({
    code: 'SANDBOX_ENGINE_MISSING',
    message: expect.stringContaining('the daemon is broken'),
  })
})

it('a daemon that is not running is reported', async () => {
  await providerOrSkip('docker')
  setEnv('DOCKER_HOST', 'unix:///nonexistent/docker.sock')
  const provider = withImage('docker', SLIM_IMAGE)
  await expect(provider.prepare()).rejects.toThrow(/daemon is not running/)
  // When the engine is back, the same provider works.
  vi.unstubAllEnvs()
  await provider.prepare()
})

it('a daemon that stops in the middle of a cell loses the sandbox, and works again later', async () => {
  await providerOrSkip('docker')
  const { address, cut } = await startEngineProxy(DOCKER_SOCKET)
  setEnv('DOCKER_HOST', address)
  const provider = withImage('docker', SLIM_IMAGE)
  const cells = await startCells(provider)
  const running = cells.run("print('here', flush=True)\nimport time\ntime.sleep(600)")
  await cells.printed('here')
  cut()
  const { status, exit } = await running
  expect([status, exit?.reason]).toEqual(['died', 'engine-gone'])
  expect(describeExit(exit!)).toBe('the container engine that ran it stopped, or the connection to it broke')
  await expect(provider.start({ memoryBytes: MEMORY_BYTES })).rejects.toMatchObject({
    code: 'SANDBOX_ENGINE_MISSING',
    message: expect.stringContaining('daemon is not running'),
  })
  vi.unstubAllEnvs()
  expect((await (await startCells(provider)).run('1 + 1')).value).toBe('2')
})

it('a daemon that stops between two sandboxes is reported', async () => {
  await providerOrSkip('docker')
  const { address, cut } = await startEngineProxy(DOCKER_SOCKET)
  setEnv('DOCKER_HOST', address)
  const provider = withImage('docker', SLIM_IMAGE)
  await provider.prepare()
  cut()
  const attaching = Kernel.attach(await provider.start({ memoryBytes: MEMORY_BYTES }))
  await expect(attaching).rejects.toMatchObject({
    code: 'SANDBOX_ENGINE_MISSING',
    message: expect.stringContaining('daemon is not running'),
  })
})

it('a socket of the daemon that this user may not use is reported', async () => {
  await providerOrSkip('docker')
  needsRoot('it becomes a user without the right')
  const real = spawnSync('sh', ['-c', 'command -v docker']).stdout.toString().trim()
  programOnPath('docker', `exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/ ${real} "$@"`)
  await expect(withImage('docker', SLIM_IMAGE).prepare()).rejects.toThrow(/no permission for its socket/)
})

it('docker that is podman in disguise runs cells', async () => {
  await providerOrSkip('podman')
  programOnPath('docker', 'exec podman "$@"')
  expect((await probeEngine('docker')).verdict).toMatch(/docker \(which is podman\)/)
  const cells = await startCells(withImage('docker', SLIM_IMAGE))
  expect((await cells.run('1 + 1')).value).toBe('2')
  await cells.kernel.dispose()
})

it('proxies in docker’s configuration do not reach the sandbox', async () => {
  const provider = await providerOrSkip('docker')
  const folder = newFolder()
  const proxy = 'http://user:password@proxy.invalid:3128'
  writeFileSync(
    path.join(folder, 'config.json'),
    JSON.stringify({ proxies: { default: { httpProxy: proxy, httpsProxy: proxy, noProxy: proxy } } }),
  )
  setEnv('DOCKER_CONFIG', folder)
  const plain = await runCommand('docker', ['run', '--rm', '--network=none', SLIM_IMAGE, 'env'])
  expect(plain.stdout).toContain('password')
  const cells = await startCells(provider)
  const environment = await cells.evaluate<string>(
    "open('/proc/self/environ').read() + str(dict(__import__('os').environ))",
  )
  expect(environment).not.toContain('password')
})

it('the host’s proxies stay out of podman’s sandboxes', async () => {
  const provider = await providerOrSkip('podman')
  setEnv('http_proxy', 'http://user:password@proxy.invalid:3128')
  const plain = await runCommand('podman', ['run', '--rm', '--network=none', SLIM_IMAGE, 'env'])
  expect(plain.stdout).toContain('password')
  const cells = await startCells(provider)
  expect(await cells.evaluate<string>("str(dict(__import__('os').environ))")).not.toContain('password')
})

it('cells as root are refused', () => {
  for (const user of ['0', '0:0', 'root', 'root:root', '00']) {
    const make = () => new ContainerProvider('docker', { image: SLIM_IMAGE, user, pidsCount: 128 })
    expect(make).toThrow(/may not run as root/)
  }
})

it('an unknown OCI runtime, and a user that the image does not have, are named', async () => {
  await providerOrSkip('docker')
  const wrong = { image: SLIM_IMAGE, pidsCount: 128 }
  const runtime = new ContainerProvider('docker', { ...wrong, user: '65534', ociRuntime: 'no-such-runtime' })
  await expect(Kernel.attach(await runtime.start({ memoryBytes: MEMORY_BYTES }))).rejects.toThrow(/no-such-runtime/)
  const user = new ContainerProvider('docker', { ...wrong, user: 'no-such-user' })
  await expect(Kernel.attach(await user.start({ memoryBytes: MEMORY_BYTES }))).rejects.toThrow(/no-such-user/)
  await expect(user.start({ memoryBytes: 1000 })).rejects.toThrow(/64 MiB/)
})

it('a number of CPUs that docker refuses is reported as the setting', async () => {
  await providerOrSkip('docker')
  for (const cpus of [0.001, 1000]) {
    const provider = new ContainerProvider('docker', { image: SLIM_IMAGE, pidsCount: 128, user: '65534', cpus })
    const attaching = Kernel.attach(await provider.start({ memoryBytes: MEMORY_BYTES }))
    await expect(attaching).rejects.toThrow(`docker could not create a container with MCP_BRIDGE_CPUS=${cpus}: `)
  }
})

it('podman applies a number of CPUs, or says that it cannot', async () => {
  await providerOrSkip('podman')
  const { engine, verdict } = await probeEngine('podman')
  const provider = new ContainerProvider('podman', { image: SLIM_IMAGE, pidsCount: 128, user: '65534', cpus: 0.5 })
  const cells = await startCells(provider)
  if (!engine!.enforcesCpus) {
    expect(verdict).toContain('MCP_BRIDGE_CPUS has no effect')
    return
  }
  const quota = "open('/sys/fs/cgroup/cpu.max').read().split()"
  expect(await cells.evaluate(quota)).toEqual(['50000', '100000'])
})

it('podman reports a user that the image does not have, and does not blame Python', async () => {
  await providerOrSkip('podman')
  const provider = new ContainerProvider('podman', { image: SLIM_IMAGE, pidsCount: 128, user: 'no-such-user' })
  const attaching = Kernel.attach(await provider.start({ memoryBytes: MEMORY_BYTES }))
  await expect(attaching).rejects.toThrow(
    `Image ${SLIM_IMAGE} has no user no-such-user, which MCP_BRIDGE_CONTAINER_USER`,
  )
})

it('the slim image can be built from its Containerfile', async () => {
  // The engines of CI get theirs so.
  needsWholeRun()
  await providerOrSkip('docker')
  const name = 'localhost/sandbridge-slim:latest'
  const hadOne = spawnSync('docker', ['image', 'inspect', name]).status === 0
  onTestFinished(() => void (hadOne || spawnSync('docker', ['rmi', '--force', name])))
  const lines: string[] = []
  const built = await buildImage('slim', { engine: 'docker', base: SLIM_IMAGE, onLine: (line) => lines.push(line) })
  expect(built).toEqual({ engine: 'docker', image: name })
  expect(lines.length).toBeGreaterThan(3)
  const cells = await startCells(withImage('docker', built.image))
  expect((await cells.run('1 + 1')).value).toBe('2')
})

it('the node image can be built from its Containerfile, and runs JavaScript', async () => {
  needsWholeRun()
  await providerOrSkip('docker', NODE_IMAGE)
  const name = 'localhost/sandbridge-node:latest'
  const hadOne = spawnSync('docker', ['image', 'inspect', name]).status === 0
  onTestFinished(() => void (hadOne || spawnSync('docker', ['rmi', '--force', name])))
  const { image } = await buildImage('node', { engine: 'docker', base: SLIM_IMAGE, node: NODE_IMAGE })
  const cells = await startCells(withImage('docker', image))
  const { languageFiles } = await languages.for('This test')
  const { value } = await cells.run('typeof require', () => languageFiles('javascript'), 'javascript')
  expect(value).toBe("'function'")
})

it('a build of an image that cannot work says why', async () => {
  await providerOrSkip('docker')
  const building = buildImage('slim', { engine: 'docker', base: 'localhost:1/none:1' })
  await expect(building).rejects.toMatchObject({
    code: 'SANDBOX_IMAGE_MISSING',
    hint: expect.stringContaining('from-debian.sh'),
  })
})
