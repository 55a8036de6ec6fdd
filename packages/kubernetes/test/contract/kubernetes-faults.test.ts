// @module-tag whole: it starts sandboxes in a made-up cluster
// This file verifies faults in a cluster, provoked in a fake one: each is a clear error or has no effect, and nothing
// is lost needlessly.
import { afterAll, afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { describeExit } from '../../../core/src/cell/kernel/channel.ts'
import { Kernel } from '../../../core/src/cell/kernel/kernel.ts'
import { removeLeftovers } from '../../src/leftovers.ts'
import { describeCluster, USED_VERBS } from '../../src/describe-cluster.ts'
import { openCluster } from '../../src/open-cluster.ts'
import { loadNativeKernel } from '@sandbridge/native/native-kernel.ts'
import { podManifest } from '../../src/pod/pod-manifest.ts'
import { PodSandbox } from '../../src/pod-sandbox.ts'
import { KubernetesProvider, type PodProviderOptions } from '../../src/provider.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { KUBERNETES } from '../support/tested-providers.ts'
import {
  attachCells,
  MEMORY_BYTES,
  startCells,
  type CellRunner,
} from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { collectGarbage } from '@sandbridge/core/test/support/suite/collect-garbage.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'

const cluster = await FakeCluster.start()
process.env['KUBECONFIG'] = cluster.kubeconfig
afterAll(() => void delete process.env['KUBECONFIG'])
afterAll(() => cluster.stop())
afterEach(() => cluster.heal())
// The fake cluster's pods run in bubblewrap.
beforeEach(async () => {
  await providerOrSkip('bubblewrap')
})

const provider = (more: Partial<PodProviderOptions> = {}) =>
  new KubernetesProvider({ ...KUBERNETES, image: 'python:test', ...more })

const start = async (more: Partial<PodProviderOptions> = {}) =>
  Kernel.attach(await provider(more).start({ memoryBytes: MEMORY_BYTES }))

const ownCluster = async () => (await openCluster({})).cluster

const WORDS = { id: 'x', memoryBytes: MEMORY_BYTES, pidsCount: 128, compiled: undefined }
const POD = {
  startedBy: 'a test',
  image: 'python:test',
  user: 10_000,
  group: 65_534,
  memoryBytes: MEMORY_BYTES,
  cpus: undefined,
  projects: false,
  runtimeClass: undefined,
  environment: {},
}

/** A pod that runs another program instead of the usual kernel. */
async function ownPod(
  name: string,
  pythonArgs: readonly string[],
  preamble: Buffer = Buffer.alloc(0),
): Promise<PodSandbox> {
  const here = await ownCluster()
  const manifest = podManifest({ ...POD, name, bridge: here.bridge, pythonArgs })
  return PodSandbox.create({ cluster: here, name, image: POD.image, manifest, preamble, startTimeoutMs: 60_000 })
}

/** Nodes report no end of a container until the test ends or the returned function is called. */
function holdReports(): () => void {
  let report!: () => void
  cluster.reports = new Promise((resolve) => (report = resolve))
  onTestFinished(report)
  return report
}

/** A pod whose program has ended, and whose bridge asks the cluster why. */
async function endedPod(name: string) {
  const sandbox = await ownPod(name, ['-c', "print('here'); exit(7)"])
  sandbox.stdout.resume()
  let hasExited = false
  void sandbox.exited.then(() => (hasExited = true))
  const asked = () =>
    cluster.requests.filter((request) => request === `GET /api/v1/namespaces/${cluster.namespace}/pods/${name}`).length
  /** Resolves when the cluster is asked about the pod, or the sandbox no longer waits. */
  const askedAgain = async () => {
    const before = asked()
    await until(() => hasExited || asked() > before)
  }
  expect(await sandbox.attached).toBe(true)
  await askedAgain()
  return { sandbox, askedAgain }
}

/** Memory of buffers, which is not part of the heap size. */
async function heldBytes(): Promise<number> {
  await collectGarbage()
  return process.memoryUsage().arrayBuffers
}

/** A cell that runs until something ends it. */
async function runningCell(
  more: Partial<PodProviderOptions> = {},
): Promise<{ cells: CellRunner; id: string; running: ReturnType<CellRunner['run']> }> {
  const cells = await startCells(provider(more))
  const running = cells.run("print('here', flush=True)\nimport time\ntime.sleep(600)")
  await cells.printed('here')
  return { cells, id: cells.kernel.sandbox.id, running }
}

it('the provider waits and retries when the API server says so (429), and after a 500', async () => {
  cluster.fail({ method: 'POST', path: /pods$/, status: 429, retryAfter: 0, times: 2 })
  cluster.fail({ method: 'POST', path: /pods$/, status: 500, times: 1 })
  const cells = await startCells(provider())
  expect((await cells.run('1 + 1')).value).toBe('2')
})

it('the provider makes no second pod when the answer to its creation is lost', async () => {
  await until(() => cluster.pods.list().length === 0)
  cluster.loseNextCreation()
  const cells = await startCells(provider())
  expect((await cells.run('1 + 1')).value).toBe('2')
  expect(cluster.pods.list().length).toBe(1)
})

it('a full quota of the namespace is SANDBOX_BUSY', async () => {
  cluster.quota = 0
  await expect(start()).rejects.toMatchObject({
    code: 'SANDBOX_BUSY',
    message: expect.stringContaining('no quota left'),
  })
})

it('a cluster without room is SANDBOX_BUSY, after the time that a pod may take', async () => {
  cluster.hold = () => 'unschedulable'
  await expect(start({ startTimeoutMs: 500 })).rejects.toMatchObject({
    code: 'SANDBOX_BUSY',
    message: expect.stringContaining('0/2 nodes are available: 2 Insufficient memory'),
  })
  await until(() => cluster.pods.list().every(({ status }) => status?.phase !== 'Pending'))
})

it('an image that the cluster cannot pull is named at once', async () => {
  cluster.hold = () => ({ reason: 'ErrImagePull', message: 'manifest for python:test not found' })
  await expect(start()).rejects.toMatchObject({
    code: 'SANDBOX_START_FAILED',
    message: expect.stringMatching(/image python:test does not start: its image cannot be pulled.*manifest/),
  })
})

it.each([
  ['create', 'pods'],
  ['create', 'networkpolicies'],
  ['get', 'pods/attach'],
  ['create', 'pods/attach'],
])('a missing right to %s %s is named', async (verb, resource) => {
  cluster.denied.add(`${verb} ${resource}`)
  const error: unknown = await start().catch((thrown: unknown) => thrown)
  expect((error as Error).message).toMatch(new RegExp(`does not let the bridge \\w+ ${resource}`))
})

it('refused credentials and a missing namespace are reported', async () => {
  cluster.token = 'rotated'
  await expect(start()).rejects.toMatchObject({
    code: 'SANDBOX_ENGINE_MISSING',
    message: expect.stringContaining('(401)'),
  })
  cluster.token = 'fake-cluster-token'
  await expect(start({ namespace: 'elsewhere' })).rejects.toMatchObject({
    code: 'SANDBOX_ENGINE_MISSING',
    message: 'fake has no namespace elsewhere.',
  })
})

it('a network policy of the same name that allows traffic is refused', async () => {
  cluster.policies.set('sandbridge-no-network', { spec: { podSelector: {}, policyTypes: ['Ingress'] } })
  await expect(start()).rejects.toThrow(/does not cut pods off from the network/)
  cluster.policies.clear()
})

it('settings that pods cannot have are refused', () => {
  for (const user of ['0', 'root', 'nobody']) expect(() => provider({ user })).toThrow(/cannot run as/)
})

it('a pod that runs out of memory is reported', async () => {
  const { id, running } = await runningCell()
  cluster.oomKill(id)
  expect(await running).toMatchObject({ status: 'died', exit: { reason: 'out-of-memory' } })
})

it('a pod that is evicted is reported', async () => {
  const { id, running } = await runningCell()
  cluster.evict(id)
  const { exit } = await running
  expect(exit).toMatchObject({ reason: 'evicted', detail: expect.stringContaining('low on resource: memory') })
  expect(describeExit(exit!)).toBe('its cluster evicted it from its node')
})

it('a pod that someone deletes is reported', async () => {
  const { id, running } = await runningCell()
  cluster.delete(id, 1)
  expect(await running).toMatchObject({ status: 'died', exit: { reason: 'killed' } })
})

it('a pod that is disposed of does not wait for its node to report the end', async () => {
  holdReports()
  const { sandbox } = await endedPod('never-reported')
  void sandbox.dispose()
  expect(await sandbox.exited).toMatchObject({ reason: 'disposed' })
})

it('a pod on a lost node is reported by the cluster, though its channel is silent', async () => {
  const { id, running, cells } = await runningCell({ pace: 0.2 })
  cluster.loseNode(id)
  expect(await running).toMatchObject({ status: 'died', exit: { reason: 'killed' } })
  await cells.kernel.dispose()
  // Deleted by force, because the node never confirms the end.
  expect(cluster.pods.get(id)).toBeUndefined()
})

it('a pod that answers no ping any more is reported', async () => {
  const cells = await startCells(provider({ pace: 0.1 }))
  const running = cells.run("print('here', flush=True)\nimport time\ntime.sleep(600)")
  await cells.printed('here')
  cluster.freeze(cells.kernel.sandbox.id)
  const { exit } = await running
  expect(exit).toMatchObject({ reason: 'engine-gone', detail: expect.stringContaining('has not answered') })
})

it('a pod whose connection breaks is lost, reported, and removed', async () => {
  const { id, running } = await runningCell()
  cluster.dropAttachments(id)
  expect(await running).toMatchObject({ status: 'died', exit: { reason: 'engine-gone' } })
  await until(() => !cluster.isRunning(id) && cluster.pods.get(id) === undefined)
})

it('sandboxes end when the API server is gone, and new ones start when it is back', async () => {
  const one = provider({ pace: 0.2 })
  const cells = await startCells(one)
  const id = cells.kernel.sandbox.id
  const running = cells.run("print('here', flush=True)\nimport time\ntime.sleep(600)")
  await cells.printed('here')
  await cluster.goAway()
  expect(await running).toMatchObject({ status: 'died', exit: { reason: 'engine-gone' } })
  await until(() => !cluster.isRunning(id))
  await expect(one.start({ memoryBytes: MEMORY_BYTES })).rejects.toMatchObject({
    code: 'SANDBOX_ENGINE_MISSING',
    message: expect.stringContaining('cannot be reached'),
  })
  await cluster.listen()
  const again = await startCells(one)
  expect((await again.run('1 + 1')).value).toBe('2')
})

it('disposing of a pod waits for the end of its container, not for its node to remove it', async () => {
  cluster.keptMs = 60_000
  const kernel = await start()
  await kernel.dispose()
  const pod = cluster.pods.get(kernel.sandbox.id)
  expect(pod?.status?.containerStatuses?.[0]?.state.terminated).toBeDefined()
  expect(cluster.isRunning(kernel.sandbox.id)).toBe(false)
})

it('the bridge uses every verb that its role grants, and no other', async () => {
  // Both rounds do the same, but in the second one the policy exists already.
  for (const silent of [false, true]) {
    cluster.silentWatches = silent
    await (await start({ pace: 0.2 })).dispose()
  }
  // Only a pod that outlives its bridge is patched after creation.
  const kept = await provider({ keepSeconds: 60 }).start({ memoryBytes: 256 << 20 })
  await kept.durable!.keep({ owner: 'a'.repeat(64) })
  await kept.dispose()
  const granted = USED_VERBS.flatMap(({ group, resource, verbs }) =>
    verbs.map((verb) => `${verb} ${group}/${resource}`),
  )
  expect([...cluster.verbs].toSorted()).toEqual(granted.toSorted())
})

it('the watch continues after the server has forgotten its position (410)', async () => {
  const { cells, id } = await runningCell()
  cluster.expireWatches()
  cluster.evict(id)
  expect((await cells.kernel.closed).reason).toBe('evicted')
})

it('a silent watch delays a start by seconds, and does not make it fail', async () => {
  cluster.silentWatches = true
  const cells = await startCells(provider({ pace: 0.2 }))
  expect((await cells.run('1 + 1')).value).toBe('2')
})

it('a slow API server delays a start, and does not make it fail', async () => {
  cluster.delayMs = 400
  const cells = await startCells(provider())
  expect((await cells.run('1 + 1')).value).toBe('2')
})

it('an older cluster with only v4 of the channel works', async () => {
  cluster.protocols = ['v4.channel.k8s.io']
  const cells = await startCells(provider())
  expect((await cells.run('1 + 1')).value).toBe('2')
  await cells.kernel.dispose()
  await until(() => cluster.pods.get(cells.kernel.sandbox.id) === undefined)
})

it('pods have users of their own, are cut off by a policy, and carry no secret', async () => {
  const cells = await startCells(provider())
  const pod = cluster.pods.get(cells.kernel.sandbox.id)!
  const { spec, metadata } = pod
  expect(spec.securityContext?.runAsUser).toBeGreaterThanOrEqual(10_000)
  expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false, dnsPolicy: 'None' })
  const { resources } = spec.containers[0]!
  expect(resources?.limits?.['memory']).toBe(resources?.requests?.['memory'])
  const policy = cluster.policies.get('sandbridge-no-network')?.spec as { podSelector: { matchLabels: object } }
  expect(metadata.labels).toMatchObject(policy.podSelector.matchLabels)
  expect(JSON.stringify(pod)).not.toContain(cluster.token)
})

it('pods may have a user number that is set, since some clusters prescribe one', async () => {
  const cells = await startCells(provider({ user: '1000660000:1000660000', cpus: 0.25, runtimeClass: 'gvisor' }))
  const { spec } = cluster.pods.get(cells.kernel.sandbox.id)!
  expect(spec).toMatchObject({
    runtimeClassName: 'gvisor',
    securityContext: { runAsUser: 1_000_660_000, runAsGroup: 1_000_660_000 },
    containers: [{ resources: { limits: { cpu: '250m' }, requests: { cpu: '250m' } } }],
  })
})

it('a pod ends by itself when its bridge never connects', async () => {
  const { args } = loadNativeKernel().start({ ...WORDS, inputSeconds: 1 })
  const name = 'sandbridge-forgotten'
  const here = await ownCluster()
  await here.create('pods', podManifest({ ...POD, name, bridge: 'dead', pythonArgs: args }))
  await until(() => cluster.pods.get(name)?.status?.phase === 'Failed')
  // Old enough that a living bridge would have removed it.
  expect(await removeLeftovers(here)).toEqual([])
  const removed = await removeLeftovers(here, Date.now() + 20 * 60_000)
  expect(removed).toContain(name)
  expect(cluster.pods.get(name)).toBeUndefined()
})

it('a file in a pod has a maximum size, since the termination log is on the disk of its node', async () => {
  const { args, preamble } = loadNativeKernel().start({ ...WORDS, fileBytes: 1 << 20 })
  const cells = await attachCells(await ownPod('sandbridge-files', args, preamble))
  const { error } = await cells.run("open('/tmp/large', 'wb').write(bytes(2 << 20))")
  expect(error?.message).toContain('File too large')
  expect((await cells.run("open('/tmp/small', 'wb').write(bytes(1 << 20))")).value).toBe(String(1 << 20))
})

it('64 MiB of output that nothing reads stay in the pod', async () => {
  // Output of a pod is lost while nothing is attached, so the program waits for a line.
  const code = 'import sys\ninput()\nfor _ in range(1024):\n    sys.stdout.write("x" * 65536)\nsys.stdout.flush()'
  const before = await heldBytes()
  const sandbox = await ownPod('sandbridge-flood', ['-I', '-c', code])
  onTestFinished(() => sandbox.dispose())
  sandbox.stdin.write('begin\n')
  const { stdout } = sandbox
  // Wait until the buffer is full and stays so.
  for (let held = -1; stdout.readableLength === 0 || stdout.readableLength !== held;) {
    held = stdout.readableLength
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  // The fake cluster runs in this process as well.
  expect((await heldBytes()) - before).toBeLessThan(16 << 20)
  let length = 0
  for await (const chunk of stdout as AsyncIterable<Buffer>) length += chunk.byteLength
  expect(length).toBe(64 << 20)
  expect((await sandbox.exited).code).toBe(0)
})

const checked = { checksNetwork: true, targets: [] }

it('the network check accepts a cluster whose pods have no network', async () => {
  const before = cluster.requests.length
  const cells = await startCells(provider(checked))
  expect((await cells.run('1 + 1')).value).toBe('2')
  const created = cluster.requests.slice(before).filter((request) => /^POST .*pods$/.test(request))
  // The probe pod and the sandbox.
  expect(created).toHaveLength(2)
})

it('the network check refuses a cluster whose pods reach the API server', async () => {
  const leaky = await FakeCluster.start({ walls: false })
  process.env['KUBECONFIG'] = leaky.kubeconfig
  try {
    const targets = [{ what: 'the API server', host: '127.0.0.1', port: Number(new URL(leaky.address).port) }]
    await expect(provider({ checksNetwork: true, targets }).prepare()).rejects.toMatchObject({
      code: 'SANDBOX_ENGINE_MISSING',
      message: `A pod of this cluster has a network: it reached the API server (127.0.0.1:${targets[0]!.port}).`,
      hint: expect.stringContaining('MCP_BRIDGE_KUBERNETES=network=unchecked'),
    })
    await until(() => leaky.pods.list().length === 0)
  } finally {
    process.env['KUBECONFIG'] = cluster.kubeconfig
    await leaky.stop()
  }
})

it('the network check does not take silence for success', async () => {
  cluster.hold = () => ({ reason: 'ErrImagePull', message: 'no such image' })
  await expect(provider(checked).prepare()).rejects.toThrow(/did not finish: .*no such image/)
})

const ask = (hasServers = false) => describeCluster({ context: undefined, namespace: undefined, hasServers })

it('doctor names the cluster, and creates nothing in it', async () => {
  const before = cluster.requests.length
  const { usable, verdict } = await ask()
  expect([usable, verdict]).toEqual([true, expect.stringContaining('Kubernetes v1.99.0-fake, namespace sandboxes')])
  expect(cluster.requests.slice(before).filter((request) => request.startsWith('POST'))).toEqual(
    USED_VERBS.flatMap(({ verbs }) => verbs.filter((verb) => verb !== 'patch')).map(() =>
      expect.stringMatching(/selfsubjectaccessreviews$/),
    ),
  )
})

it('doctor names the rights that are missing in the cluster', async () => {
  cluster.denied.add('create pods/attach').add('watch pods')
  expect(await ask()).toMatchObject({
    usable: false,
    verdict: expect.stringContaining('this user may not watch pods, create pods/attach'),
  })
  cluster.heal()
  cluster.denied.add('create secrets')
  expect(await ask()).toMatchObject({ usable: true })
  expect(await ask(true)).toMatchObject({ verdict: expect.stringContaining('this user may not create secrets') })
  cluster.heal()
})

// Last: the others would see the clock go back.
it('the exit code of a pod is known when its busy node reports the end late', async () => {
  const report = holdReports()
  const { sandbox, askedAgain } = await endedPod('reported-late')
  // It stands still from now on.
  const late = performance.now() + 20_000
  vi.spyOn(performance, 'now').mockReturnValue(late)
  onTestFinished(() => void vi.restoreAllMocks())
  await askedAgain()
  await askedAgain()
  report()
  expect(await sandbox.exited).toMatchObject({ code: 7 })
})
