// @module-tag whole: it starts sandboxes in a made-up cluster
// Servers in pods of a fake cluster, and faults that only a fake cluster can be made to have.
import { afterAll, expect, it } from 'vitest'
import { USED_FOR_SERVERS, USED_VERBS } from '../../src/describe-cluster.ts'
import type { ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { FakeCluster } from '../support/fake-cluster/fake-cluster.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'
import { server, serversEnv, testServersInPods, WHO } from './servers-in-pods.ts'

const cluster = await FakeCluster.start()
afterAll(() => cluster.stop())

const here = {
  env: { MCP_BRIDGE_RUNTIME: 'kubernetes', MCP_BRIDGE_KUBERNETES: 'network=unchecked', KUBECONFIG: cluster.kubeconfig },
  image: 'registry.example.com/python:3',
}
const env = serversEnv(here)
const jailed = (entry: ServerEntry, sandbox: object): ServerEntry => Object.assign({}, entry, { sandbox })
const serverPods = () =>
  cluster.pods.list().filter(({ metadata: { labels, deletionTimestamp } }) => {
    // Those of a test before are still being ended.
    return labels?.['sandbridge/role'] === 'server' && deletionTimestamp === undefined
  })

it('a bridge with servers in pods uses no verb that its role does not grant', async () => {
  await providerOrSkip('bubblewrap')
  cluster.verbs.clear()
  const bridge = await startBridge({ servers: { local: server }, env })
  expect(await bridge.run(WHO)).toMatch(/^[0-9a-f]{16}$/)
  await bridge.client.close()
  await until(() => cluster.pods.list().length === 0)
  const granted = [...USED_VERBS, ...USED_FOR_SERVERS].flatMap(({ group, resource, verbs }) =>
    verbs.map((verb) => `${verb} ${group}/${resource}`),
  )
  expect(granted).toEqual(expect.arrayContaining([...cluster.verbs]))
  expect([...cluster.verbs]).toContain('create /secrets')
})

testServersInPods({
  ...here,
  skipWithout: async () => void (await providerOrSkip('bubblewrap')),
  serverPods: async () => serverPods(),
  secrets: async () => cluster.secrets.list(),
  end: async (name) => cluster.evict(name),
  ended: 'was evicted from its node',
  isRunning: async (name) => cluster.isRunning(name),
  remove: async (name) => cluster.delete(name, 0),
})

it('a server in a pod that may reach the internet has the label and the policy for it, and one that names domains does not start', async () => {
  await providerOrSkip('bubblewrap')
  const image = 'registry.example.com/a:1'
  const open = { command: 'docker', args: ['run', '-i', '--rm', '-e', 'TOKEN', image, ...server.args.slice(0, 2)] }
  const bridge = await startBridge({
    servers: {
      local: jailed({ ...open, env: server.env }, { network: true }),
      limited: jailed(server, { network: { allowedDomains: ['api.example.com'] } }),
    },
    env,
  })
  expect(await bridge.run(WHO)).toMatch(/^[0-9a-f]{16}$/)
  const { metadata, spec } = serverPods().find((pod) => cluster.isRunning(pod.metadata.name))!
  expect(metadata.labels).toMatchObject({ 'sandbridge/network': 'internet' })
  // What the definition's image runs.
  expect(spec).toMatchObject({ dnsPolicy: 'ClusterFirst', containers: [{ image }] })
  expect(spec.containers[0]).not.toHaveProperty('command')
  expect(cluster.policies.get('sandbridge-server-network')?.spec).toMatchObject({
    podSelector: { matchLabels: { 'sandbridge/network': 'internet' } },
    policyTypes: ['Egress'],
  })
  const refused = await bridge.call({ code: 'await mcp_limited.who()' })
  expect(refused.text).toMatch(/Server 'limited' cannot run in a pod: its sandbox names domains/)
  expect(serverPods()).toHaveLength(1)
})

it('a server in a pod that does not run says why, and one whose pod takes long has its own time from then on', async () => {
  await providerOrSkip('bubblewrap')
  const slow = Object.assign({}, server, { startTimeoutMs: 3_000 })
  const bridge = await startBridge({ servers: { broken: server, slow }, env })
  expect(await bridge.run('1 + 1')).toBe('2')
  cluster.hold = () => ({ reason: 'ErrImagePull', message: 'no such image' })
  const notPulled = await bridge.call({ code: 'await mcp_broken.who()' })
  cluster.heal()
  expect(notPulled.text).toMatch(
    /'broken' could not be started: The pod of image .* does not start: its image cannot be/,
  )
  expect(notPulled.text).toContain('no such image')
  await until(() => serverPods().length === 0)

  cluster.fail({ path: /\/attach$/, status: 404, times: 13 })
  expect((await bridge.call({ code: 'print(await mcp_slow.who())' })).text).toMatch(/^[0-9a-f]{16}/)
  cluster.heal()
})
