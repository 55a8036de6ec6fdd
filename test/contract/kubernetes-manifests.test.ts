// What is applied to a cluster by hand grants what the bridge uses, and nothing else.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { networkPolicyManifest, podManifest } from '../../src/sandbox/kubernetes/pod-manifest.ts'
import { USED_VERBS } from '../../src/sandbox/kubernetes/describe-cluster.ts'
import { expand, type Manifest, restrictedViolations } from '../support/fake-cluster/manifest.ts'

const FOLDER = path.join(import.meta.dirname, '../../deploy/kubernetes')

interface Rule {
  apiGroups: string[]
  resources: string[]
  verbs: string[]
}

type Resource = { kind: string; metadata: { name: string; namespace?: string }; rules?: Rule[]; spec?: object }

/** Every object of the base, as its files have them. */
function objects(): Resource[] {
  const { resources } = parse(readFileSync(path.join(FOLDER, 'kustomization.yaml'), 'utf8')) as { resources: string[] }
  return resources.flatMap((file) =>
    parseAllDocuments(readFileSync(path.join(FOLDER, file), 'utf8')).map((document) => document.toJS() as Resource),
  )
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

it('kubectl renders the base manifests', (ctx) => {
  const { stdout, error, stderr } = spawnSync('kubectl', ['kustomize', FOLDER], { encoding: 'utf8' })
  if (error) ctx.skip('kubectl is not installed')
  const rendered = parseAllDocuments(stdout).map((document) => document.toJS() as Resource)
  expect(rendered.map(({ kind }) => kind).toSorted(), stderr).toEqual(
    objects()
      .map(({ kind }) => kind)
      .toSorted(),
  )
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

it('arguments of a pod arrive unchanged, since the kubelet would replace $(NAME)', () => {
  const { args } = podManifest(POD).spec.containers[0]!
  const variables = new Map([['HOME', '/workspace']])
  expect(args.map((arg) => expand(arg, variables))).toEqual(POD.pythonArgs)
  // The control: that is what would happen.
  expect(expand(POD.pythonArgs[1]!, variables)).not.toBe(POD.pythonArgs[1])
})
