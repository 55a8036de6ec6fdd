// What is applied to a cluster by hand grants what the bridge uses, and nothing else.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readSettings } from '../../src/config/settings.ts'
import { HEALTH_PATHS } from '../../src/server/http/health.ts'
import { networkPolicyManifest, podManifest } from '../../src/sandbox/kubernetes/pod-manifest.ts'
import { seccompProfile } from '../../src/sandbox/container/seccomp-profile.ts'
import { USED_VERBS } from '../../src/sandbox/kubernetes/describe-cluster.ts'
import { expand, type Manifest, restrictedViolations } from '../support/fake-cluster/manifest.ts'

const FOLDER = path.join(import.meta.dirname, '../../deploy/kubernetes')
/** A bridge in the cluster. */
const BRIDGE = path.join(import.meta.dirname, '../../deploy/kubernetes-bridge')

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

type Resource = { kind: string; metadata: { name: string; namespace?: string }; rules?: Rule[]; spec?: object }

/** Every object of a base, as its files have them. */
function objects(folder = FOLDER): Resource[] {
  const { resources } = parse(readFileSync(path.join(folder, 'kustomization.yaml'), 'utf8')) as { resources: string[] }
  return resources.flatMap((file) => {
    if (file === '../kubernetes') return objects(FOLDER)
    return parseAllDocuments(readFileSync(path.join(folder, file), 'utf8')).map(
      (document) => document.toJS() as Resource,
    )
  })
}

const grants = (rules: readonly Rule[]) =>
  rules
    .flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((one) => verbs.map((verb) => `${group}/${one}: ${verb}`))),
    )
    .toSorted((a, b) => a.localeCompare(b))

it('the role in the manifests has exactly the verbs that the bridge uses', () => {
  const used = USED_VERBS.map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs }))
  const roles = objects().filter(({ kind }) => kind === 'Role')
  expect(roles.map(({ rules = [] }) => grants(rules))).toEqual([grants(used)])
})

it('the documentation has the same role as the manifests', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/kubernetes.md'), 'utf8')
  const [, rules = ''] = /```yaml\n(rules:\n[^`]+)```/.exec(page) ?? []
  const role = objects().find(({ kind }) => kind === 'Role')
  expect((parse(rules) as { rules: Rule[] }).rules).toEqual(role?.rules)
})

it('the network policy in the manifests is the one that the bridge makes', () => {
  const policy = objects().find(({ kind }) => kind === 'NetworkPolicy')
  const made = networkPolicyManifest()
  expect(policy?.spec).toEqual(made.spec)
  expect(policy?.metadata).toMatchObject(made.metadata)
})

it.for([FOLDER, BRIDGE])('kubectl renders the manifests of %s', (folder, ctx) => {
  const { stdout, error, stderr } = spawnSync('kubectl', ['kustomize', folder], { encoding: 'utf8' })
  if (error) ctx.skip('kubectl is not installed')
  const rendered = parseAllDocuments(stdout).map((document) => document.toJS() as Resource)
  expect(rendered.map(({ kind }) => kind).toSorted(), stderr).toEqual(
    objects(folder)
      .map(({ kind }) => kind)
      .toSorted(),
  )
})

it('a bridge in the cluster meets the level of its namespace, and has the role of the namespace of sandboxes', () => {
  const all = objects(BRIDGE)
  const { spec } = all.find(({ kind }) => kind === 'Deployment') as unknown as { spec: { template: Manifest } }
  const pod = spec.template
  // Its folders are on a disk of the node; nothing else of it differs.
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
  const { spec } = objects(BRIDGE).find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: Manifest }
  }
  const { containers, terminationGracePeriodSeconds: graceSeconds } = spec.template.spec
  const [container] = containers as unknown as [{ env: { name: string; value?: string }[]; [probe: string]: unknown }]
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value ?? 'x'.repeat(32)]))
  const settings = readSettings(env)
  expect(settings.warnings).toEqual([])
  expect(graceSeconds! * 1000).toBeGreaterThan(settings.drainMs)
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
  expect(JSON.parse(readFileSync(path.join(FOLDER, 'seccomp.json'), 'utf8'))).toEqual(JSON.parse(seccompProfile(false)))
})

it('arguments of a pod arrive unchanged, since the kubelet would replace $(NAME)', () => {
  const { args } = podManifest(POD).spec.containers[0]!
  const variables = new Map([['HOME', '/workspace']])
  expect(args.map((arg) => expand(arg, variables))).toEqual(POD.pythonArgs)
  // The control: that is what would happen.
  expect(expand(POD.pythonArgs[1]!, variables)).not.toBe(POD.pythonArgs[1])
})
