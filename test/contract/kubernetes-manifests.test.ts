// This file verifies that the manifests for a cluster grant exactly what the bridge uses.
import { readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import path from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { addSettings, readSettings } from '../../packages/core/src/config/settings/settings.ts'
import { HTTP_SETTINGS, httpSettings } from '@sandbridge/http/settings.ts'
import { HEALTH_PATHS } from '@sandbridge/http/health.ts'
import { networkPolicyManifest, podManifest } from '../../packages/kubernetes/src/pod/pod-manifest.ts'
import { programManifest, programPolicyManifest } from '../../packages/kubernetes/src/pod/program-manifest.ts'
import type { Program } from '../../packages/core/src/isolation/provider.ts'
import { seccompProfile } from '@sandbridge/containers/seccomp-profile.ts'
import { USED_VERBS } from '../../packages/kubernetes/src/describe-cluster.ts'
import { toolOrSkip } from '../../packages/kubernetes/test/support/cluster-tools.ts'
import {
  expand,
  type Manifest,
  restrictedViolations,
} from '../../packages/kubernetes/test/support/fake-cluster/manifest.ts'
import {
  BRIDGE_BASE,
  baseObjects,
  grants,
  parseObjects,
  type Resource,
  SANDBOXES_BASE,
} from '../../packages/kubernetes/test/support/manifests.ts'

addSettings('HTTP', HTTP_SETTINGS)

it('the role in the manifests has exactly the verbs that the bridge uses', () => {
  const used = USED_VERBS.map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs }))
  const roles = baseObjects(SANDBOXES_BASE).filter(({ kind }) => kind === 'Role')
  expect(roles.map(({ rules = [] }) => grants(rules))).toEqual([grants(used)])
})

it('the documentation has the same role as the manifests', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/kubernetes.md'), 'utf8')
  const [, rules = ''] = /```yaml\n(rules:\n[^`]+)```/.exec(page) ?? []
  const role = baseObjects(SANDBOXES_BASE).find(({ kind }) => kind === 'Role')
  expect((parse(rules) as { rules: Resource['rules'] }).rules).toEqual(role?.rules)
})

it('the network policy in the manifests is the one that the bridge makes', () => {
  const policy = baseObjects(SANDBOXES_BASE).find(({ kind }) => kind === 'NetworkPolicy')
  const made = networkPolicyManifest()
  expect(policy?.spec).toEqual(made.spec)
  expect(policy?.metadata).toMatchObject(made.metadata)
})

it.for([
  ['sandboxes', SANDBOXES_BASE],
  ['a bridge', BRIDGE_BASE],
] as const)('kubectl renders the manifests of %s', ([, folder]) => {
  const { stdout, stderr } = toolOrSkip('kubectl')('kustomize', folder)
  const inOrder = (all: Resource[]) =>
    all.toSorted((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`))
  expect(inOrder(parseObjects(stdout)), stderr).toEqual(inOrder(baseObjects(folder)))
})

it('a bridge in the cluster meets the level of its namespace, and has the role of the namespace of sandboxes', () => {
  const all = baseObjects(BRIDGE_BASE)
  const { spec } = all.find(({ kind }) => kind === 'Deployment') as unknown as { spec: { template: Manifest } }
  const pod = spec.template
  // Its folders are on the node's disk; otherwise it does not differ.
  expect(restrictedViolations(pod)).toEqual([])
  const binding = all.find(({ kind, metadata }) => kind === 'RoleBinding' && metadata.name === 'bridge')
  expect(binding).toMatchObject({
    metadata: { namespace: 'sandbridge-sandboxes' },
    roleRef: { kind: 'Role', name: 'sandbridge' },
    subjects: [{ kind: 'ServiceAccount', name: 'bridge', namespace: 'sandbridge' }],
  })
  expect(pod.spec).toMatchObject({ serviceAccountName: 'bridge' })
})

it('a bridge in the cluster has settings that are, probes that are answered, and time to drain', () => {
  const { spec } = baseObjects(BRIDGE_BASE).find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: Manifest }
  }
  const { containers, terminationGracePeriodSeconds: graceSeconds } = spec.template.spec
  const [container] = containers as unknown as [{ env: { name: string; value?: string }[]; [probe: string]: unknown }]
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value ?? 'x'.repeat(32)]))
  const settings = readSettings(env)
  expect(settings.warnings).toEqual([])
  expect(graceSeconds! * 1000).toBeGreaterThan(httpSettings(settings).drainMs)
  for (const [probe, where] of [
    ['readinessProbe', '/readyz'],
    ['livenessProbe', '/healthz'],
  ] as const) {
    expect(container[probe]).toMatchObject({ httpGet: { path: where } })
    expect(HEALTH_PATHS).toContain(where)
  }
})

const POD = {
  name: 'sandbridge-x',
  bridge: 'b',
  startedBy: 'a test',
  image: 'python:3.14-slim',
  user: 10_000,
  group: 65_534,
  memoryBytes: 512 << 20,
  cpus: undefined,
  projects: true,
  runtimeClass: undefined,
  environment: { HOME: '/workspace' },
  pythonArgs: ['-c', "print('$(HOME) $HOME $$')"],
}

it('pods meet the security level that the namespace enforces', () => {
  expect(restrictedViolations(podManifest(POD) as unknown as Manifest)).toEqual([])
})

it('a pod that outlives bridges outlives a node that is away for five minutes, and others are given up at once', () => {
  const secondsOf = (more: object) =>
    podManifest({ ...POD, ...more }).spec.tolerations.map((one) => one.tolerationSeconds)
  expect(secondsOf({})).toEqual([20, 20])
  expect(secondsOf({ durable: { labels: {}, annotations: {} } })).toEqual([300, 300])
})

const PROGRAM: Program = {
  name: 'one',
  image: 'node:24-slim',
  command: 'npx',
  args: ['-y', 'secret-argument'],
  environment: { TOKEN: 'secret-variable' },
  hasNetwork: true,
  onStderr: () => {},
}

it('pods of servers meet the security level that the namespace enforces, and hold no argument and no variable', () => {
  const manifest = programManifest(podManifest(POD), PROGRAM)
  expect(restrictedViolations(manifest as Manifest)).toEqual([])
  expect(JSON.stringify(manifest)).not.toMatch(/secret-/)
  const { spec } = podManifest(POD)
  const [container] = (manifest as Manifest).spec.containers
  expect(container?.securityContext).toEqual(spec.containers[0]!.securityContext)
  expect(container?.resources).toEqual(spec.containers[0]!.resources)
})

it('the policy for servers that reach the internet leaves out private addresses and the metadata service', () => {
  const [, { to = [] } = {}] = programPolicyManifest().spec.egress as { to?: { ipBlock: { except: string[] } }[] }[]
  const left = new BlockList()
  for (const { ipBlock } of to) {
    for (const range of ipBlock.except) {
      const [address = '', bits] = range.split('/')
      left.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4')
    }
  }
  for (const address of ['10.96.0.1', '172.17.0.2', '192.168.1.1', '169.254.169.254', '100.64.0.1', '127.0.0.1'])
    expect([address, left.check(address)]).toEqual([address, true])
  for (const address of ['fd00:ec2::254', 'fe80::1']) expect(left.check(address, 'ipv6')).toBe(true)
  expect([left.check('1.1.1.1'), left.check('2606:4700::1111', 'ipv6')]).toEqual([false, false])
})

it('pods have the seccomp profile of the runtime, or one of the nodes', () => {
  const profileOf = (more: object) => podManifest({ ...POD, ...more }).spec.securityContext.seccompProfile
  expect(profileOf({})).toEqual({ type: 'RuntimeDefault' })
  const manifest = podManifest({ ...POD, seccompProfile: 'sandbridge.json' })
  expect(manifest.spec.securityContext.seccompProfile).toEqual({
    type: 'Localhost',
    localhostProfile: 'sandbridge.json',
  })
  expect(restrictedViolations(manifest as unknown as Manifest)).toEqual([])
})

it('the profile for nodes is the one of containers', () => {
  expect(JSON.parse(readFileSync(path.join(SANDBOXES_BASE, 'seccomp.json'), 'utf8'))).toEqual(
    JSON.parse(seccompProfile(false)),
  )
})

it('arguments of a pod arrive unchanged, since the kubelet would replace $(NAME)', () => {
  const { args } = podManifest(POD).spec.containers[0]!
  const variables = new Map([['HOME', '/workspace']])
  expect(args.map((arg) => expand(arg, variables))).toEqual(POD.pythonArgs)
  // The control: without the escape, it would be expanded.
  expect(expand(POD.pythonArgs[1]!, variables)).not.toBe(POD.pythonArgs[1])
})

it('what a node carries is in the documentation as its arithmetic gives it', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/kubernetes.md'), 'utf8')
  const [, sessions = 0, waiting = 0, memory, cpus] =
    /carries a bridge, (\d+) sessions and (\d+) waiting pods: ([\d.]+) GiB and ([\d.]+) CPUs/.exec(page)!.map(Number)
  const sandboxes = sessions + waiting
  expect([memory, cpus]).toEqual([sandboxes * 0.5 + 0.25, Math.round((sandboxes * 0.1 + 0.25) * 100) / 100])
  const requests = podManifest({ ...POD, memoryBytes: readSettings({}).memoryBytes }).spec.containers[0]!.resources
    .requests
  expect(requests).toMatchObject({ memory: String(512 << 20), cpu: '100m' })
})
