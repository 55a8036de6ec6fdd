// This file verifies the Helm chart, rendered by helm: it installs what the kustomize base installs, and more when
// configured.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { addSettings, readSettings } from '../../packages/core/src/config/settings/settings.ts'
import { HTTP_SETTINGS, httpSettings } from '@sandbridge/http/settings.ts'
import { USED_FOR_SERVERS, USED_VERBS } from '../../packages/kubernetes/src/describe-cluster.ts'
import { programPolicyManifest } from '../../packages/kubernetes/src/pod/program-manifest.ts'
import { Metrics } from '@sandbridge/telemetry/metrics.ts'
import { prometheusText } from '@sandbridge/telemetry/prometheus.ts'
import { toolOrSkip } from '../../packages/kubernetes/test/support/cluster-tools.ts'
import { type Manifest, restrictedViolations } from '../../packages/kubernetes/test/support/fake-cluster/manifest.ts'
import {
  BRIDGE_BASE,
  baseObjects,
  CHART,
  grants,
  parseObjects,
  type Resource,
} from '../../packages/kubernetes/test/support/manifests.ts'

addSettings('HTTP', HTTP_SETTINGS)

/** With every option switched on. */
const EVERYTHING = {
  metrics: { enabled: true, serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
  autoscaling: { enabled: true },
  sandboxes: { namespace: 'sandbridge-sandboxes' },
  serversInPods: { enabled: true, image: 'registry.example.com/node-uv:1' },
  servers: { time: { command: 'uvx', args: ['mcp-server-time', '--local-timezone="UTC"'] } },
  settings: { MCP_BRIDGE_MEMORY: '256m' },
  settingsSecrets: ['servers-secrets'],
  stateClaim: 'bridge-state',
  image: { tag: '9', pullSecrets: ['registry'] },
  nodeSelector: { pool: 'bridges' },
  tolerations: [{ key: 'bridges', operator: 'Exists' }],
}

function render(values: object = {}) {
  const sets = Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
  return toolOrSkip('helm')('template', 'sandbridge', CHART, '--namespace', 'sandbridge', ...sets)
}

function rendered(values: object = {}): Resource[] {
  const { status, stdout, stderr } = render(values)
  expect(status, stderr).toBe(0)
  return parseObjects(stdout)
}

const find = (all: readonly Resource[], kind: string, name?: string) =>
  all.find((one) => one.kind === kind && (name === undefined || one.metadata.name === name))

/** Without the names and labels that a chart adds to all objects, and without the image's version. */
function essentials(all: readonly Resource[]): Record<string, unknown> {
  return Object.fromEntries(
    all.map(({ metadata: { labels = {}, ...metadata }, ...object }) => {
      const level = labels['pod-security.kubernetes.io/enforce']
      const text = JSON.stringify({ ...object, metadata, level }).replace(
        /"image":"sandbridge:[^"]*"/,
        '"image":"sandbridge"',
      )
      const essential = JSON.parse(text, (key, value: unknown) =>
        key === 'env' ? byName(value as Env) : value,
      ) as object
      return [`${object.kind} ${metadata.namespace ?? ''} ${metadata.name}`, essential]
    }),
  )
}

type Env = { name: string; value?: string }[]

const byName = (env: Env) => env.toSorted((a, b) => a.name.localeCompare(b.name))

it('the Helm chart passes the strict lint of helm, by default and with everything switched on', () => {
  const helm = toolOrSkip('helm')
  for (const values of [{}, EVERYTHING]) {
    const sets = Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])
    const { status, stdout, stderr } = helm('lint', '--strict', CHART, ...sets)
    expect(status, stdout + stderr).toBe(0)
  }
})

it('the Helm chart installs the same objects as the kustomize base of the bridge', () => {
  const base = essentials(baseObjects(BRIDGE_BASE))
  // Helm creates the namespace of a release. The other two are for a bridge outside the cluster.
  delete base['Namespace  sandbridge']
  delete base['ServiceAccount sandbridge-sandboxes sandbridge']
  delete base['RoleBinding sandbridge-sandboxes sandbridge']
  expect(essentials(rendered())).toEqual(base)
})

it('the role in the Helm chart has exactly the verbs that the bridge uses, with servers in pods or without', () => {
  const used = (verbs: typeof USED_VERBS) =>
    grants(verbs.map(({ group, resource, verbs: all }) => ({ apiGroups: [group], resources: [resource], verbs: all })))
  for (const [values, verbs] of [
    [{}, USED_VERBS],
    [EVERYTHING, [...USED_VERBS, ...USED_FOR_SERVERS]],
  ] as const) {
    const roles = rendered(values).filter(({ kind }) => kind.endsWith('Role'))
    expect(roles.map(({ rules = [] }) => grants(rules))).toEqual([used(verbs)])
  }
})

it('the policy for servers in the Helm chart is the one that the bridge makes', () => {
  const policy = find(rendered(EVERYTHING), 'NetworkPolicy', 'sandbridge-server-network')
  expect(policy?.spec).toEqual(programPolicyManifest().spec)
})

it('a bridge of the Helm chart with everything switched on has settings that are, and meets its security level', () => {
  const { spec } = find(rendered(EVERYTHING), 'Deployment') as unknown as {
    spec: { replicas?: number; strategy: object; template: Manifest }
  }
  const pod = spec.template
  const [container] = pod.spec.containers as unknown as [{ env: Env; ports: object[] }]
  const settings = readSettings({
    // As in the image.
    MCP_BRIDGE_RUNTIME: 'kubernetes',
    ...Object.fromEntries(container.env.map(({ name, value }) => [name, value ?? 'x'.repeat(32)])),
  })
  expect(settings.warnings).toEqual([])
  expect(settings).toMatchObject({
    memoryBytes: 256 << 20,
    metrics: { host: '0.0.0.0', port: 9464 },
    upstreams: 'pods',
    jailImage: 'registry.example.com/node-uv:1',
    serversConfig: ['/etc/sandbridge/mcp-servers.json'],
  })
  expect(pod.spec.terminationGracePeriodSeconds! * 1000).toBeGreaterThan(httpSettings(settings).drainMs + 5_000)
  // The autoscaler sets the number of replicas.
  expect([spec.replicas, spec.strategy]).toEqual([undefined, { type: 'Recreate' }])
  const volumes = pod.spec.volumes?.map((volume) => (volume.name === 'tmp' ? volume : { ...volume, emptyDir: {} }))
  expect(restrictedViolations({ ...pod, spec: { ...pod.spec, volumes: volumes ?? [] } })).toEqual([])
})

it('the Helm chart hands servers to the bridge as a client has them', () => {
  const map = find(rendered(EVERYTHING), 'ConfigMap')
  expect(JSON.parse(map?.data?.['mcp-servers.json'] ?? '')).toEqual({ mcpServers: EVERYTHING.servers })
})

it('the Helm chart has Prometheus read metrics with the token that the bridge asks for', () => {
  const all = rendered(EVERYTHING)
  expect(find(all, 'ServiceMonitor')).toMatchObject({
    metadata: { labels: { release: 'prometheus' } },
    spec: {
      endpoints: [{ port: 'metrics', authorization: { credentials: { name: 'sandbridge-metrics', key: 'token' } } }],
    },
  })
  expect(find(all, 'Service')).toMatchObject({ spec: { ports: [{ name: 'http' }, { name: 'metrics', port: 9464 }] } })
  const { spec } = find(all, 'NetworkPolicy', 'bridge') as { spec: { ingress: { ports: object[] }[] } }
  expect(spec.ingress.map(({ ports }) => ports)).toEqual([[{ port: 8080 }], [{ port: 9464 }]])
})

it('the autoscaler of the Helm chart counts by a metric that the bridge has', () => {
  const scaler = find(rendered(EVERYTHING), 'HorizontalPodAutoscaler')
  expect(scaler).toMatchObject({
    spec: { metrics: [{ type: 'Pods', pods: { metric: { name: 'sandbridge_open_sessions' } } }] },
  })
  expect(prometheusText(new Metrics().read())).toContain('\nsandbridge_open_sessions 0\n')
})

it.for([
  ['a misspelt value', { replica: 2 }, 'replica'],
  ['a setting that the chart sets itself', { settings: { MCP_BRIDGE_DRAIN: '1' } }, 'MCP_BRIDGE_DRAIN'],
  ['autoscaling without metrics', { autoscaling: { enabled: true } }, '/metrics/enabled'],
  ['a ServiceMonitor without metrics', { metrics: { serviceMonitor: { enabled: true } } }, '/metrics/enabled'],
] as const)('the Helm chart refuses %s', ([, values, where]) => {
  const { status, stderr } = render(values)
  expect([status, stderr]).toEqual([1, expect.stringContaining(where)])
})

it('the Helm chart has the defaults that its values name, and no others', () => {
  const values = parse(readFileSync(path.join(CHART, 'values.yaml'), 'utf8')) as object
  const schema = JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8')) as { properties: object }
  expect(['global', ...Object.keys(values)].toSorted()).toEqual(Object.keys(schema.properties).toSorted())
})
