// @module-tag whole: it starts sandboxes in a made-up cluster
// This file verifies pods of a warm pool in a fake cluster, made from the template of
// packages/kubernetes/deploy/agent-sandbox: how the bridge uses them, and which it refuses.
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { describeCluster, USED_FOR_WARM_POOL } from '../../src/describe-cluster.ts'
import { removeLeftovers } from '../../src/leftovers.ts'
import { openCluster } from '../../src/open-cluster.ts'
import { podManifest } from '../../src/pod/pod-manifest.ts'
import { poolPodProblems } from '../../src/warm-pool/pool-pod.ts'
import { type PodProviderOptions, KubernetesProvider } from '../../src/provider.ts'
import { AgentSandbox, POOL, templatePod } from '../support/agent-sandbox.ts'
import { published } from '@sandbridge/core/test/support/bridge-process.ts'
import { MEMORY_BYTES, startCells } from '@sandbridge/core/test/support/cell-runner.ts'
import { KUBERNETES, providerOrSkip } from '@sandbridge/core/test/support/engines.ts'
import { ClaimStore } from '../support/fake-cluster/claims.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { type Manifest, restrictedViolations } from '../support/fake-cluster/manifest.ts'
import { baseObjects, grants, WARM_POOL_BASE } from '../support/manifests.ts'
import { until } from '@sandbridge/core/test/support/processes.ts'
import { startBridge } from '@sandbridge/core/test/support/start-bridge.ts'

const cluster = await FakeCluster.start()
process.env['KUBECONFIG'] = cluster.kubeconfig
afterAll(() => void delete process.env['KUBECONFIG'])
afterAll(() => cluster.stop())
afterEach(() => cluster.heal())
// The fake cluster's pods run in bubblewrap.
beforeEach(async () => {
  await providerOrSkip('bubblewrap')
})

type Change = Parameters<typeof templatePod>[0]

/** A warm pool in the cluster, with its controller, until the test ends. */
async function openPool(change: Change = () => {}): Promise<AgentSandbox> {
  cluster.claims = new ClaimStore()
  const pool = new AgentSandbox((await openCluster({})).cluster, { pod: templatePod(change) })
  onTestFinished(async () => {
    await pool.stop()
    cluster.claims = undefined
  })
  return pool
}

const provider = (more: Partial<PodProviderOptions> = {}) =>
  new KubernetesProvider({ ...KUBERNETES, image: 'python:unused', warmPool: POOL, ...more })

const start = (more?: Partial<PodProviderOptions>) => provider(more).start({ memoryBytes: MEMORY_BYTES })

const ENV = {
  MCP_BRIDGE_RUNTIME: 'kubernetes',
  MCP_BRIDGE_KUBERNETES: `warmPool=${POOL}`,
  KUBECONFIG: cluster.kubeconfig,
}

describe('cells', () => {
  it('run in a pod that waited, call tools, and leave neither claim nor pod', { timeout: 120_000 }, async () => {
    const pool = await openPool()
    await until(() => pool.waiting.length === 1)
    const [waited = ''] = pool.waiting
    const env = { ...ENV, MCP_BRIDGE_POOL: '0', MCP_BRIDGE_KUBERNETES: `warmPool=${POOL} network=unchecked` }
    const bridge = await startBridge({ servers: { everything: published.everything() }, env })
    expect(await bridge.run('x = 20\nx + 1')).toBe('21')
    expect([...pool.bound.values()]).toEqual([waited])
    expect(await bridge.run("(await mcp_everything.echo(message='from a pool'))")).toContain('Echo: from a pool')
    const endless = await bridge.call({ code: 'while True: pass', timeout: 1 })
    expect([endless.structured['status'], await bridge.run('x')]).toEqual(['timeout', '20'])
    await bridge.client.close()
    await until(() => cluster.claims?.list().length === 0 && cluster.pods.get(waited) === undefined)
    // The bridge itself has created no pod.
    expect(
      cluster.requests.filter((request) => request === `POST /api/v1/namespaces/${cluster.namespace}/pods`),
    ).toHaveLength(pool.created)
  })

  it('are given a pod that is made for them where none waits', async () => {
    const pool = await openPool()
    const [one, two] = await Promise.all([startCells(provider()), startCells(provider())])
    expect(one.kernel.sandbox.id).not.toBe(two.kernel.sandbox.id)
    expect((await one.run('6 * 7')).value).toBe('42')
    expect((await two.run("import os\nos.environ['HOME']")).value).toBe("'/workspace'")
    expect(pool.bound.size).toBe(2)
  })

  it('hear that the node of their pod is gone', async () => {
    await openPool()
    const cells = await startCells(provider({ pace: 0.2 }))
    const running = cells.run("print('here', flush=True)\nimport time\ntime.sleep(600)")
    await cells.printed('here')
    cluster.loseNode(cells.kernel.sandbox.id)
    expect((await running).exit?.reason).toBe('killed')
  })

  it('are not in pods that are removed as leftovers of other bridges', async () => {
    const pool = await openPool()
    await until(() => pool.waiting.length === 1)
    const inAYear = Date.now() + 365 * 86_400_000
    expect(await removeLeftovers((await openCluster({})).cluster, inAYear)).toEqual([])
  })
})

it('a claim that nobody lets go of ends by itself, with its pod', async () => {
  await openPool()
  const before = Date.now()
  await startCells(provider())
  const { shutdownTime, ...rest } = cluster.claims!.list()[0]!.spec.lifecycle as { shutdownTime: string }
  expect(rest).toEqual({ ttlSecondsAfterFinished: 900, shutdownPolicy: 'Delete' })
  expect(Date.parse(shutdownTime) - before).toBeLessThan(24.1 * 3_600_000)
  expect(shutdownTime).toMatch(/^[\d-]+T[\d:]+Z$/)
})

it('whether pods have a network is tried in a pod of the pool', async () => {
  const pool = await openPool()
  await provider({
    checksNetwork: true,
    targets: [{ what: 'this cluster', host: '127.0.0.1', port: portOf() }],
  }).prepare()
  expect(pool.created).toBeGreaterThan(0)
  // The control: plain processes reach it.
  const open = await FakeCluster.start({ walls: false })
  onTestFinished(() => open.stop())
  open.claims = new ClaimStore()
  process.env['KUBECONFIG'] = open.kubeconfig
  onTestFinished(() => void (process.env['KUBECONFIG'] = cluster.kubeconfig))
  const opened = new AgentSandbox((await openCluster({})).cluster, { pod: templatePod(() => {}) })
  onTestFinished(() => opened.stop())
  const targets = [{ what: 'this cluster', host: '127.0.0.1', port: Number(new URL(open.address).port) }]
  await expect(provider({ checksNetwork: true, targets }).prepare()).rejects.toThrow('it reached this cluster')
})

const portOf = () => Number(new URL(cluster.address).port)

describe('what is missing', () => {
  it('a cluster without agent-sandbox is told', async () => {
    await expect(start()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('The cluster knows no SandboxClaims') as string,
      hint: expect.stringContaining('Install agent-sandbox') as string,
    })
  })

  it('a pool that is not there is told at once, and no claim is left', async () => {
    await openPool()
    await expect(start({ warmPool: 'other' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `MCP_BRIDGE_KUBERNETES=warmPool: SandboxWarmPool "other" not found in namespace ${cluster.namespace}`,
    })
    await until(() => cluster.claims?.list().length === 0)
  })

  it('a controller that is away is told after the time for a start, and no claim is left', async () => {
    cluster.claims = new ClaimStore()
    onTestFinished(() => void (cluster.claims = undefined))
    await expect(start({ startTimeoutMs: 300 })).rejects.toMatchObject({
      code: 'SANDBOX_BUSY',
      message: `The warm pool 'sandbridge' had no pod within 0 s (its controller said nothing)`,
    })
    await until(() => cluster.claims?.list().length === 0)
  })

  it('a missing right is told, and so it is by the doctor', async () => {
    await openPool()
    cluster.denied.add('create sandboxclaims')
    await expect(start()).rejects.toThrow('does not let the bridge create sandboxclaims in namespace')
    const choice = { context: undefined, namespace: undefined, hasServers: false }
    const { usable, verdict } = await describeCluster({ ...choice, warmPool: POOL })
    expect([usable, verdict]).toEqual([false, expect.stringContaining('this user may not create sandboxclaims')])
    // Without a warm pool, the right is not needed.
    expect((await describeCluster(choice)).usable).toBe(true)
  })
})

describe('a pod that is less isolated than the template', () => {
  const container = (pod: Parameters<Change>[0]) => pod.spec.containers[0]!
  const changes: [string, Change][] = [
    ['the label app.kubernetes.io/managed-by=sandbridge', ({ metadata }) => (metadata.labels = {})],
    ['one container, with the name kernel', ({ spec }) => spec.containers.push({ name: 'more', image: 'x' })],
    ['stdin and stdinOnce, without a tty', (pod) => (container(pod).stdinOnce = false)],
    ['automountServiceAccountToken: false', ({ spec }) => delete spec.automountServiceAccountToken],
    ['no namespace of its node', ({ spec }) => (spec.hostNetwork = true)],
    ['no namespace of its node', ({ spec }) => (spec.hostPID = true)],
    ['restartPolicy: Never', ({ spec }) => Object.assign(spec, { restartPolicy: 'Always' })],
    ['runAsNonRoot: true', ({ spec }) => delete spec.securityContext!.runAsNonRoot],
    ['runAsNonRoot: true', (pod) => Object.assign(container(pod).securityContext!, { runAsUser: 0 })],
    ['seccompProfile RuntimeDefault or Localhost', ({ spec }) => delete spec.securityContext!.seccompProfile],
    [
      'seccompProfile RuntimeDefault or Localhost',
      (pod) => Object.assign(container(pod).securityContext!, { seccompProfile: { type: 'Unconfined' } }),
    ],
    ['allowPrivilegeEscalation: false', (pod) => delete container(pod).securityContext!.allowPrivilegeEscalation],
    ['allowPrivilegeEscalation: false', (pod) => (container(pod).securityContext!.privileged = true)],
    [
      'no capabilities',
      (pod) => (container(pod).securityContext!.capabilities = { drop: ['ALL'], add: ['SYS_PTRACE'] }),
    ],
    [
      'no AppArmor profile Unconfined',
      (pod) => Object.assign(container(pod).securityContext!, { appArmorProfile: { type: 'Unconfined' } }),
    ],
    [
      'procMount Default and no sysctls',
      (pod) => Object.assign(container(pod).securityContext!, { procMount: 'Unmasked' }),
    ],
    [
      'procMount Default and no sysctls',
      ({ spec }) => Object.assign(spec.securityContext!, { sysctls: [{ name: 'kernel.msgmax', value: '1' }] }),
    ],
    ['no capabilities', (pod) => delete container(pod).securityContext!.capabilities],
    ['readOnlyRootFilesystem: true', (pod) => (container(pod).securityContext!.readOnlyRootFilesystem = false)],
    [
      'volumes that are emptyDirs',
      ({ spec }) => spec.volumes!.push({ name: 'node', hostPath: { path: '/' } } as never),
    ],
    ['no variables from elsewhere', (pod) => (container(pod).envFrom = [{ secretRef: { name: 'database' } }])],
    [
      'no variables from elsewhere',
      (pod) => Object.assign(container(pod), { env: [{ name: 'A', valueFrom: { secretKeyRef: {} } }] }),
    ],
    ['a limit on memory', (pod) => delete container(pod).resources!.limits!['memory']],
    ['no initContainers and no ephemeralContainers', ({ spec }) => Object.assign(spec, { initContainers: [{}] })],
  ]

  it.each(changes)('is not used: it lacks %s', (what, change) => {
    expect(poolPodProblems(templatePod(change))).toEqual([what])
  })

  it('the template itself lacks nothing, and so do the pods that the bridge creates', () => {
    expect(poolPodProblems(templatePod(() => {}))).toEqual([])
    expect(poolPodProblems(podManifest(OWN_POD))).toEqual([])
  })

  it('is refused with what it lacks, and its claim is given back', async () => {
    await openPool(({ spec }) => delete spec.automountServiceAccountToken)
    await expect(start()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `The pods of the warm pool 'sandbridge' need automountServiceAccountToken: false.`,
      hint: expect.stringContaining('packages/kubernetes/deploy/agent-sandbox') as string,
    })
    await until(() => cluster.claims?.list().length === 0)
  })
})

const OWN_POD = {
  name: 'sandbridge-x',
  bridge: 'b',
  startedBy: 'a test',
  image: 'python:3.14-slim',
  user: 65_534,
  group: 65_534,
  memoryBytes: 512 << 20,
  cpus: undefined,
  projects: true,
  runtimeClass: undefined,
  environment: {},
  pythonArgs: [],
}

describe('the manifests', () => {
  it('make pods as the bridge creates them, but for what is the bridge’s own', () => {
    const { metadata, spec } = templatePod(() => {})
    const made = podManifest(OWN_POD)
    // It may wait for longer than a day, its name is the host name, and the controller handles lost nodes.
    const { activeDeadlineSeconds: _, hostname: __, tolerations: ___, containers, ...ofPod } = made.spec
    const [{ args, command, ...waiting }] = spec.containers as [Manifest['spec']['containers'][0]]
    expect(restrictedViolations({ metadata: { name: 'x' }, spec })).toEqual([])
    expect({ ...spec, containers: undefined }).toEqual({ ...ofPod, containers: undefined })
    expect([command, args?.slice(0, 3)]).toEqual([['python3'], ['-I', '-B', '-c']])
    const { env: _env, args: _args, command: _command, resources, ...own } = containers[0]!
    expect({ ...waiting, resources: undefined }).toEqual({ ...own, resources: undefined })
    expect({ ...waiting.resources?.limits, memory: String(512 << 20) }).toEqual(resources.limits)
    expect(waiting.resources?.limits?.['memory']).toBe('512Mi')
    expect(made.metadata.labels).toMatchObject(metadata.labels ?? {})
  })

  it('cut the pods off, where agent-sandbox would let them reach the internet', () => {
    const template = baseObjects(WARM_POOL_BASE).find(({ kind }) => kind === 'SandboxTemplate')
    expect(template?.spec).toMatchObject({ networkPolicy: { ingress: [], egress: [] } })
  })

  it('grant what is used, and nothing else', () => {
    const used = USED_FOR_WARM_POOL.map(({ group, resource, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs,
    }))
    const roles = baseObjects(WARM_POOL_BASE).filter(({ kind }) => kind === 'Role')
    expect(roles.map(({ rules = [] }) => grants(rules))).toEqual([grants(used)])
  })
})
